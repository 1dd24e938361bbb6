"""Rewrite the source of a kernel, a rule or a helper for use in a generated module."""

import ast
import builtins
import inspect
import textwrap
import typing
from typing import TYPE_CHECKING, Any

from zermelo.core import bitboard
from zermelo.core.errors import KernelError
from zermelo.kernels.registry import qualified_name
from zermelo.kernels.source.line_numbers import line_of

if TYPE_CHECKING:
    from zermelo.kernels.source.generator import ModuleGenerator

_GAME_NAMES = ("game", "_game", "self")


def rewrite_function(generator: "ModuleGenerator", function: Any, name: str) -> ast.FunctionDef:
    """Return the syntax tree of a function, renamed and rewritten for the generated module.

    Raise KernelError, with the line in the function's file, if something in it cannot be compiled.
    """
    tree = _parse(function)
    tree.name = name
    rewriter = _Rewriter(generator, function)
    try:
        rewritten: ast.FunctionDef = rewriter.visit(tree)
    except KernelError as error:
        if isinstance(error, _LocatedError):
            raise
        msg = f"{line_of(function, rewriter.statement)}: {error}"
        raise _LocatedError(msg) from None
    return ast.fix_missing_locations(rewritten)


class _LocatedError(KernelError):
    """An error whose message begins with a file and a line."""


class _Rewriter(ast.NodeTransformer):
    """Rewrites one function: calls of game methods become calls of functions of the module.

    Annotations, docstrings and assertions are removed. Frozen constants are globals of the module,
    and the game is no longer a parameter.
    """

    def __init__(self, generator: "ModuleGenerator", function: Any) -> None:
        self._generator, self._function = generator, function
        code = function.__code__
        self._locals = set(code.co_varnames) | set(code.co_cellvars)
        self.statement: ast.AST | None = None  #: the statement that is being rewritten

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.stmt | ast.Attribute | ast.Name):
            self.statement = node
        return super().visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.decorator_list, node.returns = [], None
        if ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
        for argument in node.args.args:
            argument.annotation = None
        if node.args.args and node.args.args[0].arg in _GAME_NAMES:
            node.args.args[0].arg = "game"
            if self._generator.is_frozen:
                node.args.args = node.args.args[1:]
        self.generic_visit(node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if node.value is None:
            return None
        value = self.visit(node.value)
        return ast.copy_location(ast.Assign([self.visit(node.target)], value), node)

    def visit_Assert(self, _node: ast.Assert) -> None:
        return None

    def visit_Call(self, node: ast.Call) -> ast.AST:
        target = node.func
        if self._is_can_stop(target):  # compiled rules handle one state at a time
            return typing.cast("ast.AST", self.visit(node.args[0]))
        if isinstance(target, ast.Attribute) and _is_game(target.value):
            if target.attr == "initial":  # the initial state is a constant like any other
                return typing.cast("ast.AST", self.visit(target))
            node.func = ast.Name(self._generator.add_rule(target.attr), ast.Load())
            if not self._generator.is_frozen:
                node.args.insert(0, ast.Name("game", ast.Load()))
        elif self._generator.is_frozen and node.args and _is_game(node.args[0]):
            node.args = node.args[1:]
        self.generic_visit(node)
        return node

    def _is_can_stop(self, target: ast.AST) -> bool:
        name = target.id if isinstance(target, ast.Name) else ""
        return self._function.__globals__.get(name) is bitboard.can_stop

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if _is_game(node.value) and self._generator.add_constant(node.attr):
            return ast.copy_location(ast.Name(f"game_{node.attr}", node.ctx), node)
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in _GAME_NAMES:
            return ast.copy_location(ast.Name("game", node.ctx), node)
        if node.id not in self._locals and not hasattr(builtins, node.id):
            new_name = self._generator.add_global(node.id, self._function)
            if new_name:
                return ast.copy_location(ast.Name(new_name, node.ctx), node)
        return node


def _is_game(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in _GAME_NAMES


def _parse(function: Any) -> ast.FunctionDef:
    try:
        text = textwrap.dedent(inspect.getsource(function))
    except OSError:
        msg = f"the source of {qualified_name(function)} cannot be read, so it cannot be compiled"
        raise KernelError(msg) from None
    tree = ast.parse(text).body[0]
    if not isinstance(tree, ast.FunctionDef):
        msg = f"{qualified_name(function)} is not a plain function, so it cannot be compiled"
        raise KernelError(msg)
    return tree
