"""The generator: writes a kernel, and everything that it calls, into the text of one module.

How it works, and why (measurements in docs/design.md):

1. A kernel is a plain function `def playouts(game, …)`; uncompiled it runs with the game object
   itself. The rules are plain methods of the game's class, or of its hooks' class.
2. For compilation the sources of the kernel, of the rules it reaches and of the functions those
   call are written into one module. `game.play(…)` becomes a call of the rule, and `game.full`
   becomes a field of a named tuple of typed constants.
3. For a specialised game, each of these constants is instead a global of the module, which numba
   freezes into the code. All other games of a class receive the tuple at run time, so that they
   share one compilation.
4. The module's name is the digest of its text, so the on-disk cache can never be stale: any edit of
   the compiled source produces a new module.
"""

import ast
import functools
import hashlib
import re
import types
from pathlib import Path
from typing import Any

from zermelo.core import bitboard
from zermelo.core.errors import KernelError
from zermelo.core.game import SolverHooks
from zermelo.core.symmetry import transform_word
from zermelo.kernels.registry import Kernel, Rules, kernel_options, qualified_name
from zermelo.kernels.source.constants import find_annotation, to_literal, to_typed
from zermelo.kernels.source.line_numbers import SourceLine, line_of_constant, pair_lines
from zermelo.kernels.source.mask_access import MASK_ACCESS, mask_access_source
from zermelo.kernels.source.rewriter import rewrite_function

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
# Methods whose source depends on how many words a state or a key has.
_STATE_ACCESS = (
    "load",
    "store",
    "transform_by_table",
    "as_words",
    "as_planes",
    "key",
    "load_key",
    "store_key",
)
_STATE = tuple[bitboard.Word, ...]
#: constants that shape the generated code, so they are always globals of the module
STRUCTURE = ("has_scores", "is_alternating", "num_masks")


class ModuleGenerator:
    """Generates the module of one kernel for a game or its hooks."""

    def __init__(self, function: Kernel, rules: Rules) -> None:
        self._function, self._rules = function, rules
        #: whether the constants are globals of the module
        self.is_frozen = bool(getattr(rules, "is_specialised", False))
        # Where methods and constants are looked up: hooks come before their game.
        self._classes: list[type] = [type(rules)]
        if isinstance(rules, SolverHooks):
            self._classes.append(type(rules.game))
        # numba tells named tuples apart by the name of their class: each module needs its own name.
        names = [cls.__name__ for cls in reversed(self._classes)]
        self._unique_name = re.sub(r"\W", "_", qualified_name(function))
        self.tuple_name = "_".join([*names, self._unique_name])
        self._functions: dict[str, str] = {}  # function name in the generated module → source
        self._annotations: dict[str, Any] = {}  # name of a constant of the rules → its annotation
        self._structure: set[str] = set()  # names of the constants in `STRUCTURE` that are read
        self._globals: dict[str, Any] = {}  # name of a number that functions read → its value
        self._tuples: dict[str, tuple[str, ...]] = {}  # named tuple that kernels build → its fields
        self._origins: dict[str, Any] = {}  # name in the generated module → the original function
        self._trees: dict[str, ast.FunctionDef] = {}  # the same name → the rewritten function

    def generate(self) -> tuple[str, tuple[Any, ...]]:
        """Return the module's source text, and the values of the constants that it needs."""
        if not self.is_frozen:
            self.add_constant("num_actions")  # numba does not accept a named tuple without fields
        self._add_function("kernel", self._function)
        names = sorted(self._annotations)
        values = tuple(self._value(name) for name in names)
        origin = qualified_name(self._function)
        lines = [
            f'"""Generated from {origin} and {self._classes[-1].__name__}."""',
            *self._import_lines(),
            *[f"{name} = {value!r}" for name, value in sorted(self._globals.items())],
        ]
        lines += [f"game_{name} = {getattr(self._rules, name)}" for name in sorted(self._structure)]
        if self.is_frozen:
            # Each constant is a global of its own: numba copies a tuple wherever it is read.
            lines += [f"game_{n} = {to_literal(v)}" for n, v in zip(names, values, strict=True)]
        else:
            lines += _named_tuple_lines(self.tuple_name, names)
        for name, tuple_fields in self._tuples.items():
            own_name = f"{name}_{self._unique_name}"
            lines += [*_named_tuple_lines(own_name, tuple_fields), f"{name} = {own_name}"]
        for text in self._functions.values():
            lines += ["@helper", text]
        signature = kernel_options(self._function).signature
        constants = None if self.is_frozen else self.tuple_name
        lines.append(f"bind = entry(kernel, {constants}, {signature!r})")
        return "\n".join(lines) + "\n", values

    def original_lines(self, text: str) -> dict[int, SourceLine]:
        """Map lines of the generated module `text` to lines of the original source."""
        lines = {}
        for name, tree in self._trees.items():
            source = self._functions[name]
            before = text[: text.index(f"@helper\n{source}\n")].count("\n") + 1
            paired = pair_lines(self._origins[name], tree, source)
            lines.update({before + number: line for number, line in paired.items()})
        return lines

    def _import_lines(self) -> list[str]:
        is_bare = kernel_options(self._function).is_bare
        flags = "bare_entry as entry, bare_helper as helper" if is_bare else "entry, helper"
        return [
            "import base64, zlib",
            "import numpy as np",
            f"from zermelo.kernels.intrinsics import {', '.join(_INTRINSICS)}",
            f"from zermelo.kernels.flags import {flags}",
            f"INTRINSICS = {_intrinsics_digest()!r}",
            "from typing import Any, NamedTuple",
        ]

    def _add_function(self, name: str, function: Any) -> None:
        """Add a function to the module under this name, after all functions that it calls."""
        if name in self._origins:
            if self._origins[name] is not function:
                msg = f"one kernel uses two functions called {name}: rename one"
                raise KernelError(msg)
            return
        self._origins[name] = function
        tree = rewrite_function(self, function, name)
        self._functions[name] = ast.unparse(tree)
        self._trees[name] = tree

    def add_rule(self, name: str) -> str:
        """Add a method of the rules to the module and return its name there."""
        if name in _STATE_ACCESS:
            return self._add_state_access(name)
        if name in MASK_ACCESS:
            head = "" if self.is_frozen else "game, "
            source = mask_access_source(name, getattr(self._rules, "num_masks", 1), head)
            self._functions[f"rule_{name}"], self._origins[f"rule_{name}"] = source, name
            return f"rule_{name}"
        function = next((getattr(cls, name) for cls in self._classes if hasattr(cls, name)), None)
        if function is None:
            msg = f"{self._classes[-1].__name__} has no method {name}"
            raise KernelError(msg)
        if not isinstance(function, types.FunctionType):
            msg = f"{self._rules.spec}: {name} is not a plain method, so it cannot be compiled"
            raise KernelError(msg)
        self._add_function(f"rule_{name}", function)
        return f"rule_{name}"

    def _add_state_access(self, name: str) -> str:
        """Add a method of `_STATE_ACCESS`, written for the number of words of states and keys."""
        num_words = getattr(self._rules, "num_words", 0)
        num_boards = getattr(self._rules, "num_boards", 0)
        has_one_word_key = getattr(self._rules, "has_one_word_key", False)
        head = "" if self.is_frozen else "game, "
        indices = range(1 if name.endswith("_key") and has_one_word_key else num_words)
        if name == "as_planes":
            indices = range(getattr(self._rules, "num_planes", 0))
        if name == "key":
            parameters, parts = "state", [f"state[{i}]" for i in indices]
            if has_one_word_key:
                parts = [f"{self.add_rule('pack')}({head}state)"]
        elif name in ("as_words", "as_planes"):
            parameters, parts = "state", [f"word(state[{i}])" for i in indices]
        elif name.startswith("load"):
            parameters, parts = "states, row", [f"states[row, {i}]" for i in indices]
        elif name == "transform_by_table":
            self._add_function("call_transform_word", transform_word)
            parameters, parts = (
                "state, table",
                [
                    f"call_transform_word(state[{i}], table)" if i < num_boards else f"state[{i}]"
                    for i in indices
                ],
            )
        else:
            parameters, parts = "states, row, state", []
        body = f"return ({', '.join(parts)},)"
        if name.startswith("store"):
            body = "; ".join(f"states[row, {i}] = state[{i}]" for i in indices)
        self._functions[f"rule_{name}"] = f"def rule_{name}({head}{parameters}):\n    {body}"
        self._origins[f"rule_{name}"] = name
        return f"rule_{name}"

    def add_constant(self, name: str) -> bool:
        """Add a constant of the rules to the module; return whether it is a global there.

        The annotation of a constant determines its type.
        """
        if name in STRUCTURE:
            self._structure.add(name)
            return True
        if name not in self._annotations:
            if not hasattr(self._rules, name):
                msg = f"{self._classes[-1].__name__} has no attribute {name}"
                raise KernelError(msg)
            is_state = name == "initial"
            self._annotations[name] = _STATE if is_state else find_annotation(self._classes, name)
        return self.is_frozen

    def _value(self, name: str) -> Any:
        value = self._rules.initial() if name == "initial" else getattr(self._rules, name)
        try:
            return to_typed(value, self._annotations[name], f"{self._rules.spec}.{name}")
        except KernelError:
            line = line_of_constant(self._classes, name)
            if line is None:
                raise
            return to_typed(value, self._annotations[name], f"{line}: {name}")

    def add_global(self, name: str, function: Any) -> str | None:
        """Add a global object that a function uses; return its new name, or None if unchanged.

        The object can be a function, a number, a class of named tuples, or an intrinsic.
        """
        if name not in function.__globals__:
            return None  # a builtin or a local
        value = function.__globals__[name]
        if name in _INTRINSICS and value is getattr(bitboard, name):
            return None
        if isinstance(value, types.FunctionType):
            self._add_function(f"call_{name}", value)
            return f"call_{name}"
        if isinstance(value, bool | int | float):
            if self._globals.setdefault(name, value) != value:
                msg = f"one kernel uses two constants called {name}: rename one"
                raise KernelError(msg)
        elif isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
            self._tuples[name] = value._fields
        elif name != "np":
            msg = (
                f"{function.__qualname__} uses {name}, which cannot be compiled: rules may use "
                "numbers, functions and annotated constants of the game"
            )
            raise KernelError(msg)
        return None


def _named_tuple_lines(name: str, fields: list[str] | tuple[str, ...]) -> list[str]:
    return [
        f"class {name}(NamedTuple):",
        *([f"    {field}: Any" for field in fields] or ["    pass"]),
    ]


@functools.cache
def _intrinsics_digest() -> str:
    """Return a digest of the code that generated modules import, without its docstrings.

    The files are read, not imported: importing numba takes half a second.
    """
    digest = hashlib.sha256()
    for name in ("intrinsics", "flags", "helper_pipeline"):
        path = Path(__file__).parents[1] / f"{name}.py"
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.FunctionDef) and ast.get_docstring(node):
                node.body = node.body[1:] or [ast.Pass()]
        digest.update(ast.unparse(tree).encode())
    return digest.hexdigest()[:16]
