"""Check that the rules and solver hooks of a user's game compile, before any kernel needs them.

numba infers the types of each rule for the arguments that the solver's kernels pass. No machine
code is generated, so this takes about a second; a file in the cache marks rules that have passed.
"""

import inspect
import warnings
from collections.abc import Iterator
from typing import Any, NoReturn

from zermelo.core import home
from zermelo.core.errors import KernelError
from zermelo.core.game import SolverHooks, WordGame
from zermelo.kernels import cache, sealed_files
from zermelo.kernels.error_messages import explain_error, type_name
from zermelo.kernels.registry import Rules, kernel
from zermelo.kernels.source.generator import ModuleGenerator
from zermelo.kernels.source.line_numbers import SourceLine, line_of

_PASSED = b"the rules in this module compile"
_INT, _STATE = "int64", "state"
# The parameters of each hook that a game may override, as kernels call it.
_HOOKS = {
    "resolve": (_STATE,),
    "resolve_in_window": (_STATE, _INT, _INT),
    "resolve_child": (_STATE, _INT),
    "score_bounds": (_STATE, _INT, _INT),
    "play_index": (_STATE, _INT),
    "to_action": (_INT,),
    "rank_move": (_STATE, _INT),
    "evaluate": (_STATE,),
    "should_store": (_STATE,),
    "pack": (_STATE,),
}
_HINT = "a word combined with a plain number is not a word: write self.one or word(1)"


@kernel("int64", common=False, bare=True)
def no_kernel(game: WordGame) -> None:
    """Do nothing; this is the kernel of a module that contains only rules."""


def check_rules(game: WordGame) -> None:
    """Raise KernelError, with the line in the author's file, if the rules do not compile."""
    if not cache.is_enabled():
        return
    rules: Rules = game.hooks if game.hooks_class is not SolverHooks else game
    parameters = dict(_parameters(game))
    generator = ModuleGenerator(no_kernel, rules)
    for rule in parameters:
        generator.add_rule(rule)
    text, constants = generator.generate()
    marker = home.cache_folder() / f"{cache.module_name(text)}.checked"
    if sealed_files.read(marker) == _PASSED:
        return
    _RulesCheck(game, generator, text, constants).check(parameters)
    sealed_files.write(marker, _PASSED)


def _parameters(game: WordGame) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the rules and the overridden hooks of a game, each with its parameters."""
    yield "legal", (_STATE,)
    yield "play", (_STATE, _INT)
    yield "result", (_STATE,)
    if type(game).planes is not WordGame.planes:
        yield "planes", (_STATE,)
    if game.has_scores:
        yield "score", (_STATE,)
    for hook, parameters in _HOOKS.items():
        if getattr(game.hooks_class, hook) is not getattr(SolverHooks, hook):
            yield hook, parameters


class _RulesCheck:
    """The check of one module of rules."""

    def __init__(
        self, game: WordGame, generator: ModuleGenerator, text: str, constants: tuple[Any, ...]
    ) -> None:
        self._game, self._text, self._constants = game, text, constants
        self._generator = generator

    def check(self, parameters: dict[str, tuple[str, ...]]) -> None:
        """Compile each rule for these parameters and check the type that it returns."""
        import numba

        module = cache.load(self._text)
        kinds = {_INT: numba.int64, _STATE: numba.types.UniTuple(numba.uint64, self._num_words)}
        head: list[Any] = []
        if not self._generator.is_frozen:
            head = [numba.typeof(getattr(module, self._generator.tuple_name)(*self._constants))]
        for rule, names in parameters.items():
            function = getattr(module, f"rule_{rule}")
            signature = (*head, *[kinds[name] for name in names])
            try:
                with warnings.catch_warnings(action="ignore"):  # numba's: an error says more
                    function.compile(signature)
            except Exception as error:
                if not type(error).__module__.startswith("numba."):
                    raise
                lines = self._generator.original_lines(self._text)
                msg = explain_error(str(error), lines, self._game.spec, f"{rule} does not compile")
                raise KernelError(msg) from error
            self._check_type(rule, function.overloads[signature])

    @property
    def _num_words(self) -> int:
        return self._game.num_words

    def _check_type(self, rule: str, compiled: Any) -> None:
        """Raise KernelError if a rule returns values of other types than kernels expect."""
        returned = compiled.signature.return_type
        items = list(returned) if hasattr(returned, "types") else [returned]
        num_words = {
            "legal": self._game.num_masks,
            "play": self._num_words,
            "planes": self._game.num_planes,
        }.get(rule)
        if num_words is not None:
            is_tuple = hasattr(returned, "types")
            if len(items) != num_words or (num_words > 1 and not is_tuple):
                self._refuse(rule, f"{rule} must return {num_words} words")
            for index, item in enumerate(items):  # kernels convert ints back to words
                if str(item) not in ("uint64", "int64"):
                    self._refuse_item(rule, compiled, index, str(item))
        elif rule == "result":
            if len(items) != 2 or str(items[1]) in ("uint64", "float64"):
                expected = "(is_over, value), where value is an int: 1, 0 or -1"
                self._refuse(rule, f"result must return {expected}")
        elif rule in ("score", "rank_move", "to_action") and str(returned) != "int64":
            self._refuse(rule, f"{rule} returns {type_name(str(returned))}, not an int")

    def _refuse_item(self, rule: str, compiled: Any, index: int, kind: str) -> NoReturn:
        """Raise KernelError for a number that is not a word, with the line where it arose."""
        name = f"word {index} of what {rule} returns"
        line = self._line_of_mixture(compiled)
        self._refuse(rule, f"{name} is {type_name(kind)}, not a word ({_HINT})", line)

    def _refuse(self, rule: str, expected: str, line: SourceLine | None = None) -> NoReturn:
        owners = [type(self._game.hooks), type(self._game)]
        function = next(getattr(cls, rule) for cls in owners if hasattr(cls, rule))
        msg = f"{line or line_of(inspect.unwrap(function))}: {expected}"
        raise KernelError(msg)

    def _line_of_mixture(self, compiled: Any) -> SourceLine | None:
        """Return the first line where combining a word with a number does not give a word."""
        annotation = compiled.type_annotation
        lines = self._generator.original_lines(self._text)
        for block in annotation.blocks.values():
            for statement in block.body:
                value: Any = getattr(statement, "value", None)
                if getattr(value, "op", "") not in ("binop", "inplace_binop"):
                    continue
                kinds = {str(annotation.typemap[v.name]) for v in (value.lhs, value.rhs)}
                result = str(annotation.typemap[statement.target.name])
                if "uint64" in kinds and result in ("int64", "float64"):
                    return lines.get(statement.loc.line)
        return None
