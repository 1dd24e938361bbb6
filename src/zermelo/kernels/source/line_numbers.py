"""Line numbers: find the author's line from which a line of a generated module comes.

A generated module has one line for each statement, in the order of the original, so the statements
of both can be paired. This is done only when an error has to be reported.
"""

import ast
import inspect
import itertools
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

_PACKAGE = str(Path(__file__).parents[2])


class SourceLine(NamedTuple):
    """A line in a source file of this package or of a game's author."""

    path: str
    number: int

    @property
    def is_own(self) -> bool:
        """Whether the line belongs to this package, not to a user's file."""
        return self.path.startswith(_PACKAGE)

    def __str__(self) -> str:
        """Return the file and the line as errors show them."""
        return f"{self.path}, line {self.number}"


def line_of(function: Any, node: ast.AST | None = None) -> SourceLine:
    """Return the line of a node in the parsed source of a function, by default its first line."""
    first = inspect.unwrap(function).__code__.co_firstlineno
    return SourceLine(inspect.getfile(function), first + getattr(node, "lineno", 1) - 1)


def line_of_constant(classes: list[type], name: str) -> SourceLine | None:
    """Return the line where one of these classes, or a base, annotates a constant; else None."""
    for cls in itertools.chain.from_iterable(owner.__mro__ for owner in classes):
        if name in inspect.get_annotations(cls):
            return _line_in_class(cls, name)
    return None


def _line_in_class(cls: type, name: str) -> SourceLine | None:
    try:
        lines, first = inspect.getsourcelines(cls)
    except (OSError, TypeError):  # such as a class that was defined by `exec`
        return None
    (tree,) = ast.parse(textwrap.dedent("".join(lines))).body
    for node in getattr(tree, "body", ()):
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == name:
            return SourceLine(inspect.getfile(cls), first + node.lineno - 1)
    return None


def pair_lines(function: Any, tree: ast.AST, text: str) -> dict[int, SourceLine]:
    """Return the original line of each line of a function that was rewritten and unparsed.

    `tree` is the rewritten function, whose nodes still have their original line numbers, and `text`
    its unparsed source. Both have the same statements.
    """
    pairs = zip(ast.walk(tree), ast.walk(ast.parse(text).body[0]), strict=False)
    return {
        unparsed.lineno: line_of(function, node)
        for node, unparsed in pairs
        if isinstance(node, ast.stmt) and isinstance(unparsed, ast.stmt)
    }
