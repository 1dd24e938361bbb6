"""Check that rules are deterministic: the same arguments must always give the same values.

If a rule uses random numbers, a clock or a variable that changes, its game has no defined value and
the results of a search are meaningless. `check_repeatable` calls the rules twice; `RuleSampler`
does so for a random sample of the states of a search in plain Python.
"""

import random
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

from zermelo.core.errors import BadSpec
from zermelo.core.game import Game
from zermelo.core.notation import quote_text

_INTERVAL = 128  # on average, one of this many states is sampled
_MAX_STORED = 32


class RuleValues(NamedTuple):
    """The values that the rules return for a state."""

    player: Any
    result: Any
    actions: Any
    children: dict[int, Any]  #: the state after each action that was played


def rule_values(game: Game, state: Any, played: Sequence[int] | None = None) -> RuleValues:
    """Call all rules for a state; `play` is called for `played`, by default all legal actions."""
    actions = game.actions(state)
    children = {a: game.play(state, a) for a in (actions if played is None else played)}
    return RuleValues(game.player(state), game.result(state), actions, children)


def check_repeatable(
    game: Game, state: Any, played: Sequence[int] | None = None, before: RuleValues | None = None
) -> RuleValues:
    """Call the rules for a state twice and return their values; raise BadSpec if the values differ.

    If `before` has the values of an earlier call, call the rules only once and compare with it.
    """
    first = before or rule_values(game, state, played)
    second = rule_values(game, state, list(first.children))
    for rule in ("player", "result", "actions"):
        values = getattr(first, rule), getattr(second, rule)
        if values[0] != values[1]:
            refuse(game, rule, *values, "the same state")
    for action, child in first.children.items():
        again = second.children[action]
        if child != again:
            refuse(game, "play", child, again, f"the same state and action {action}")
    return first


def refuse(game: Game, rule: str, first: Any, second: Any, arguments: str) -> NoReturn:
    """Raise BadSpec for a rule that returned two different values for the same arguments."""
    values = f"{quote_text(repr(first))} and then {quote_text(repr(second))}"
    hint = "rules must be functions, and states must compare by value"
    if repr(first) != repr(second):
        hint = (
            "rules must be functions, without random numbers, clocks or variables that change: "
            "games with chance are not supported"
        )
    msg = f"{game.spec}: this game's {rule} returned {values} for {arguments}, but {hint}"
    raise BadSpec(msg)


class RuleSampler:
    """Checks during a search, on randomly sampled states, that the rules are deterministic."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._rng = random.Random(0)
        self._countdown = 1
        self._stored: list[tuple[Any, RuleValues]] = []

    def check(self, state: Any) -> None:
        """With a small probability, check this state and also a state that was sampled earlier.

        Raise BadSpec if a rule returns different values for the same state.
        """
        self._countdown -= 1
        if self._countdown > 0:
            return
        self._countdown = self._rng.randint(1, 2 * _INTERVAL)
        if self._stored:
            earlier, values = self._rng.choice(self._stored)
            check_repeatable(self._game, earlier, before=values)
        if len(self._stored) == _MAX_STORED:
            self._stored.pop(self._rng.randrange(_MAX_STORED))
        self._stored.append((state, check_repeatable(self._game, state)))
