"""The compiler: a kernel and a game's rules become one generated module that numba compiles.

How it works, and why (measurements in docs/design.md):

1. A kernel is a plain function `def playouts(game, …)`; uncompiled it runs with the game
   object itself. The rules are plain methods of the game's class.
2. For compilation the sources of the kernel, of the rules it reaches and of the functions
   those call are written into one module. `game.play(…)` becomes a call of the rule,
   `game.full` a field of a named tuple of typed constants.
3. For a specialised game that tuple is a global, which numba freezes into the code. Other
   sizes of a class pass it at run time and share one compilation.
4. The module's name is the digest of its text, so the on-disk cache can never be stale: an
   edit anywhere in what is compiled makes another module.
"""

import ast
import builtins
import functools
import hashlib
import inspect
import itertools
import textwrap
import threading
import types
import typing
from collections.abc import Callable
from typing import Any

from zermelo.core import bitboard
from zermelo.core.errors import ZermeloError
from zermelo.core.game import Game, SolverHooks
from zermelo.core.symmetry import transform_word
from zermelo.kernels import cache

Kernel = Callable[..., Any]
#: what a kernel is compiled for: a game, or its hooks, which know the rules, too
Rules = Game | SolverHooks

_SIGNATURES: dict[str, str] = {}
_OWNERS: dict[str, str] = {}  # the module of each kernel, by its plain name
_KERNELS: list[Kernel] = []
_BARE: set[str] = set()
_LOCK = threading.RLock()
_INTRINSICS = (
    "word",
    "popcount",
    "lowest",
    "highest",
    "select",
    "scale",
    "mix",
    "pick",
    "prefetch",
)
_SHAPES = ("load", "store", "transform_by_table", "as_words", "key", "load_key", "store_key")
_STATE = tuple[bitboard.Word, ...]
_GAME_NAMES = ("game", "_game", "self")


class KernelError(ZermeloError):
    """Rules or a kernel that cannot be compiled, with the name of what stands in the way."""


def kernel(
    signature: str, *, common: bool = True, bare: bool = False
) -> Callable[[Kernel], Kernel]:
    """Mark a function as a kernel; `signature` gives numba types of all but the game.

    One that is not `common` is compiled when it is asked for, never ahead. One that is `bare`
    makes no arrays, nor copies whole rows, and is faster for it.
    """

    def mark(function: Kernel) -> Kernel:
        # See `tuple_name`: with one name in two modules, numba would take one for the other.
        owner = _OWNERS.setdefault(function.__name__, function.__module__)
        assert owner == function.__module__, f"{owner} has a kernel {function.__name__}, too"
        _SIGNATURES[_name(function)] = signature
        if bare:
            _BARE.add(_name(function))
        if common:
            _KERNELS.append(function)
        return function

    return mark


def registered(rules: Rules) -> list[Kernel]:
    """The common kernels for a game or for its hooks, of the modules imported so far."""
    return [
        k for k in _KERNELS if isinstance(rules, next(iter(inspect.get_annotations(k).values())))
    ]


def compiled(function: Kernel, rules: Rules) -> Kernel:
    """The native form of a kernel for a game or its hooks: call it without its first argument.

    Uncompiled, with the environment variable ZERMELO_JIT=0, it is the Python function itself.
    """
    if not cache.is_enabled():
        return functools.partial(function, rules)
    with _LOCK:
        return _compiled(function, rules)


@functools.lru_cache(maxsize=256)
def _compiled(function: Kernel, rules: Rules) -> Kernel:
    text, constants = written(function, rules)
    module = cache.load(text)
    try:
        return typing.cast("Kernel", module.bind(constants))
    except Exception as error:
        if not type(error).__module__.startswith("numba."):
            raise
        raise KernelError(_advice(function, rules, str(error))) from error


def _advice(function: Kernel, rules: Rules, error: str) -> str:
    """What a game's author can use of a page of numba's words."""
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    told = [
        line for line in lines if not line.startswith(("Failed in", "During", "-", "There are"))
    ]
    return (
        f"{rules.spec}: the rules do not compile for {function.__name__}: {' '.join(told[:2])} "
        "(a word and a plain number make no word: write self.one or word(1))"
    )


def _name(function: Kernel) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def source(function: Kernel, rules: Rules) -> str:
    """The generated module of a kernel for a game or its hooks, to read."""
    return written(function, rules)[0]


def written(function: Kernel, rules: Rules) -> tuple[str, tuple[Any, ...]]:
    """The generated module of a kernel, and the constants of the rules that it is bound to."""
    return _Writer(function, rules).module()


class _Writer:
    """Writes one module: gathers what the kernel reaches, then puts it into text."""

    def __init__(self, function: Kernel, rules: Rules) -> None:
        self.function, self.rules = function, rules
        self.frozen = bool(getattr(rules, "is_specialised", False))
        # Where methods and constants are looked for: hooks come before the game.
        self.classes: list[type] = [type(rules)]
        if isinstance(rules, SolverHooks):
            self.classes.append(type(rules.game))
        # numba tells named tuples apart by their class's name: each module needs its own.
        names = [cls.__name__ for cls in reversed(self.classes)]
        self.tuple_name = "_".join([*names, function.__name__])
        self.functions: dict[str, str] = {}  # name in the module → its source
        self.constants: dict[str, Any] = {}  # game constants, by name → type hint
        self.globals: dict[str, Any] = {}  # plain constants of the sources' modules
        self.tuples: dict[str, tuple[str, ...]] = {}  # named tuples that kernels build → fields
        self.owner: dict[str, Any] = {}  # name in the module → what it came from

    def module(self) -> tuple[str, tuple[Any, ...]]:
        """The text, and the values of the game's constants."""
        if not self.frozen:
            self.constant("num_actions")  # a tuple without fields is none to numba
        self._add("kernel", self.function)
        fields = sorted(self.constants)
        # A frozen array stands by itself: numba copies the whole tuple into whatever reads it.
        arrays = [n for n in fields if self.frozen and self.constants[n] is bitboard.Numbers]
        fields = [name for name in fields if name not in arrays]
        values = tuple(self._value(name) for name in fields)
        is_bare = _name(self.function) in _BARE
        flags = "bare_entry as entry, bare_helper as helper" if is_bare else "entry, helper"
        lines = [
            f'"""Generated from {_name(self.function)} and {self.classes[-1].__name__}."""',
            "import base64, zlib",
            "import numpy as np",
            f"from zermelo.kernels.intrinsics import {', '.join(_INTRINSICS)}",
            f"from zermelo.kernels.flags import {flags}",
            f"INTRINSICS = {_intrinsics_digest()!r}",
            "from typing import Any, NamedTuple",
            f"class {self.tuple_name}(NamedTuple):",
            *([f"    {name}: Any" for name in fields] or ["    pass"]),
            *[f"{name} = {value!r}" for name, value in sorted(self.globals.items())],
        ]
        for name, tuple_fields in self.tuples.items():
            own_name = f"{name}_{self.function.__name__}"
            lines += [f"class {own_name}(NamedTuple):", *[f"    {f}: Any" for f in tuple_fields]]
            lines.append(f"{name} = {own_name}")
        lines += [f"game_{name} = {_array(self._value(name))}" for name in arrays]
        if self.frozen:
            lines.append(f"game = {self.tuple_name}(*{_literal(values)})")
        for text in self.functions.values():
            lines += ["@helper", text]
        signature = _SIGNATURES[_name(self.function)]
        lines.append(
            f"bind = entry(kernel, {self.tuple_name}, {signature!r}, frozen={self.frozen})"
        )
        return "\n".join(lines) + "\n", values

    def _add(self, name: str, function: Any) -> None:
        """A function and, first, everything it calls."""
        if name in self.owner:
            if self.owner[name] is not function:
                msg = f"two functions called {name} in one kernel: rename one"
                raise KernelError(msg)
            return
        self.owner[name] = function
        tree = _parse(function)
        tree.name = name
        tree = _Rewriter(self, function).visit(tree)
        self.functions[name] = ast.unparse(ast.fix_missing_locations(tree))

    def method(self, name: str) -> str:
        """A rule of the game, under the name it has in the module."""
        if name in _SHAPES:
            return self._shape(name)
        function = next((getattr(cls, name) for cls in self.classes if hasattr(cls, name)), None)
        if not isinstance(function, types.FunctionType):
            msg = f"{self.rules.spec}: {name} is not a plain method, so it cannot be compiled"
            raise KernelError(msg)
        self._add(f"rule_{name}", function)
        return f"rule_{name}"

    def _shape(self, name: str) -> str:
        """`load`, `store`, `transform_by_table` and so on for as many words as states and keys have."""
        num_words, num_boards = (
            getattr(self.rules, "num_words", 0),
            getattr(self.rules, "num_boards", 0),
        )
        head = "" if self.frozen else "game, "
        one_word = getattr(self.rules, "has_one_word_key", False)
        if name.endswith("_key") and one_word:
            num_words = 1
        if name == "key":
            parameters = "state"
            body = "return state"
            if one_word:
                body = f"return ({self.method('pack')}({head}state),)"
        elif name == "as_words":
            parameters = "state"
            parts = [f"word(state[{i}])" for i in range(num_words)]
            body = f"return ({', '.join(parts)},)"
        elif name.startswith("load"):
            parameters = "states, row"
            parts = [f"states[row, {i}]" for i in range(num_words)]
            body = f"return ({', '.join(parts)},)"
        elif name.startswith("store"):
            parameters = "states, row, state"
            body = "; ".join(f"states[row, {i}] = state[{i}]" for i in range(num_words))
        else:
            self._add("call_transform_word", transform_word)
            parameters = "state, table"
            parts = [
                f"call_transform_word(state[{i}], table)" if i < num_boards else f"state[{i}]"
                for i in range(num_words)
            ]
            body = f"return ({', '.join(parts)},)"
        self.functions[f"rule_{name}"] = f"def rule_{name}({head}{parameters}):\n    {body}"
        self.owner[f"rule_{name}"] = name
        return f"rule_{name}"

    def constant(self, name: str) -> None:
        """A constant of the game: its annotation says how it is typed."""
        if name not in self.constants:
            is_state = name == "initial"
            self.constants[name] = _STATE if is_state else _hint(self.classes, name)

    def _value(self, name: str) -> Any:
        value = self.rules.initial() if name == "initial" else getattr(self.rules, name)
        return _typed(value, self.constants[name], f"{self.rules.spec}.{name}")

    def free_name(self, name: str, function: Any) -> str | None:
        """A global of a source: another function to bring along, a constant, or numba's own."""
        if name not in function.__globals__:
            return None  # a builtin or a local
        value = function.__globals__[name]
        if name in _INTRINSICS and value is getattr(bitboard, name):
            return None
        if isinstance(value, types.FunctionType):
            self._add(f"call_{name}", value)
            return f"call_{name}"
        if isinstance(value, bool | int | float):
            self.globals[name] = value
        elif isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
            self.tuples[name] = value._fields
        elif name != "np":
            msg = f"{_name(function)} uses {name}, which cannot be compiled"
            raise KernelError(msg)
        return None


class _Rewriter(ast.NodeTransformer):
    """One function's tree: calls on the game become calls of rules, hints and notes go."""

    def __init__(self, writer: _Writer, function: Any) -> None:
        self.writer, self.function = writer, function
        code = function.__code__
        self.locals = set(code.co_varnames) | set(code.co_cellvars)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.decorator_list, node.returns = [], None
        if ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
        for argument in node.args.args:
            argument.annotation = None
        if node.args.args and node.args.args[0].arg in _GAME_NAMES:
            node.args.args[0].arg = "game"
            if self.writer.frozen:
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
        on_game = isinstance(target, ast.Attribute) and _is_game(target.value)
        if isinstance(target, ast.Attribute) and on_game:
            if target.attr == "initial":  # a value like any other constant
                return typing.cast("ast.AST", self.visit(target))
            node.func = ast.Name(self.writer.method(target.attr), ast.Load())
            if not self.writer.frozen:
                node.args.insert(0, ast.Name("game", ast.Load()))
        elif self.writer.frozen and node.args and _is_game(node.args[0]):
            node.args = node.args[1:]
        self.generic_visit(node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if _is_game(node.value):
            self.writer.constant(node.attr)
            if self.writer.frozen and self.writer.constants[node.attr] is bitboard.Numbers:
                return ast.copy_location(ast.Name(f"game_{node.attr}", node.ctx), node)
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in _GAME_NAMES:
            return ast.copy_location(ast.Name("game", node.ctx), node)
        if node.id not in self.locals and not hasattr(builtins, node.id):
            renamed = self.writer.free_name(node.id, self.function)
            if renamed:
                return ast.copy_location(ast.Name(renamed, node.ctx), node)
        return node


def _is_game(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in _GAME_NAMES


def _parse(function: Any) -> ast.FunctionDef:
    try:
        text = textwrap.dedent(inspect.getsource(function))
    except OSError:
        msg = f"the source of {_name(function)} cannot be read, so it cannot be compiled"
        raise KernelError(msg) from None
    tree = ast.parse(text).body[0]
    if not isinstance(tree, ast.FunctionDef):
        msg = f"{_name(function)} is not a plain function, so it cannot be compiled"
        raise KernelError(msg)
    return tree


def _hint(owners: list[type], name: str) -> Any:
    """The annotation of a constant, from the first class that has one, or from one above it."""
    for cls in itertools.chain.from_iterable(owner.__mro__ for owner in owners):
        hints = inspect.get_annotations(cls)
        if name in hints:
            hint = hints[name]
            if isinstance(hint, str):  # from __future__ import annotations
                try:
                    hint = eval(hint, vars(inspect.getmodule(cls)))  # noqa: S307 - its own source
                except NameError:
                    break
            return hint
        if isinstance(made := vars(cls).get(name), functools.cached_property):
            return inspect.get_annotations(made.func).get("return")
    msg = f"{owners[-1].__name__}.{name} is read by a rule: annotate it as Word, int or bool"
    raise KernelError(msg)


def _typed(value: Any, hint: Any, where: str) -> Any:
    """A constant as numba should see it."""
    import numpy as np

    if typing.get_origin(hint) is typing.ClassVar:
        (hint,) = typing.get_args(hint)
    if typing.get_origin(hint) is tuple and isinstance(value, tuple):
        hints = typing.get_args(hint)
        inner = [hints[0]] * len(value) if hints[-1] is Ellipsis else list(hints)
        return tuple(_typed(v, h, where) for v, h in zip(value, inner, strict=True))
    if hint is bitboard.Numbers:
        return np.ascontiguousarray(value)
    kinds = {bitboard.Word: np.uint64, int: np.int64, bool: np.bool_}
    if hint not in kinds:
        msg = f"{where} is annotated {hint}: the compiler knows Word, int, bool and tuples"
        raise KernelError(msg)
    try:
        return kinds[hint](value)
    except (OverflowError, TypeError, ValueError):
        kind = "word of 64 bits" if hint is bitboard.Word else hint.__name__
        msg = f"{where} is {value!r}: that is no {kind}"
        raise KernelError(msg) from None


def _literal(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({''.join(_literal(v) + ', ' for v in value)})"
    return f"np.{type(value).__name__.replace('bool', 'bool_').rstrip('_')}({value})"


def _array(value: Any) -> str:
    import base64
    import zlib

    packed = base64.b85encode(zlib.compress(value.tobytes(), 9)).decode()
    raw = f"zlib.decompress(base64.b85decode({packed!r}))"
    return f"np.frombuffer({raw}, np.{value.dtype}).reshape({value.shape})"


@functools.cache
def _intrinsics_digest() -> str:
    """Generated modules import the intrinsics and the flags: an edit there changes them too."""
    from zermelo.kernels import flags, intrinsics

    texts = inspect.getsource(intrinsics) + inspect.getsource(flags)
    return hashlib.sha256(texts.encode()).hexdigest()[:16]
