"""Play a tournament in this process, for players or games that are Python objects.

Plan, openings, seeds and forfeits are the same as with worker processes, but nothing stops a player
that does not answer or takes all the memory: time is checked only after each move.
"""

import time
from collections.abc import Callable, Generator, Iterable, Sequence
from functools import cached_property
from typing import Any, TypeVar

from zermelo.arena.game import Forfeit, GameRunner, describe_crash
from zermelo.arena.plan import Plan
from zermelo.arena.scoresheet import Activity, Scoresheet
from zermelo.core.game import Game
from zermelo.core.player import Player
from zermelo.core.position import Position
from zermelo.players.function_player import FunctionPlayer
from zermelo.players.registry import PlayerLike, as_player
from zermelo.players.user_players import is_player_file
from zermelo.store.runs import GameRow

_T = TypeVar("_T")


class ObjectPlan(Plan):
    """The plan of a tournament whose game or players exist only in this process.

    In `players`, an object is represented by its name. Such a player counts as stochastic if
    it implements `reseed`, which is called before every game.
    """

    def __init__(self, rules: Game, players: Sequence[PlayerLike], **settings: Any) -> None:
        loaded = [p.strip() if isinstance(p, str) else as_player(p) for p in players]
        names = tuple(p if isinstance(p, str) else p.name for p in loaded)
        super().__init__(rules.spec, names, **settings | {"memory": 0})
        vars(self)["rules"] = rules
        self._objects = tuple(None if isinstance(p, str) else p for p in loaded)

    @property
    def specs(self) -> tuple[str, ...]:
        """The specs of all players that have one."""
        pairs = zip(self.players, self._objects, strict=True)
        return tuple(spec for spec, given in pairs if given is None)

    @cached_property
    def is_file(self) -> tuple[bool, ...]:
        """For each player, whether its spec names a file."""
        pairs = zip(self.players, self._objects, strict=True)
        return tuple(given is None and is_player_file(spec) for spec, given in pairs)

    def create_player(self, player: int, seed: int | None = None) -> Player:
        """Return the player with this index; objects are reseeded and reused."""
        given = self._objects[player]
        if given is None:
            return super().create_player(player, seed)
        if seed is not None:
            given.reseed(seed)
        return given

    def is_stochastic_player(self, player: int) -> bool:
        """Return whether a player that does not come from a file is stochastic."""
        given = self._objects[player]
        if given is None:
            return super().is_stochastic_player(player)
        return type(given).reseed is not Player.reseed


def play_games(plan: Plan, numbers: Iterable[int]) -> Generator[list[GameRow], None, None]:
    """Play the games with these numbers, one after the other; yield each game as it ends."""
    runner = _InProcessRunner(plan, _NoScoresheet(), None)
    warm: set[int] = set()
    for number in sorted(numbers):
        fixture = plan.fixture(number)
        for player in set(fixture.seats) - warm:
            runner.warm_up(player)
            warm.add(player)
        yield [runner.play(fixture)]


class _NoScoresheet(Scoresheet):
    """A scoresheet that records nothing, because there is no parent process to read it."""

    def __init__(self) -> None:
        pass

    def start_turn(
        self, activity: Activity, number: int, seat: int, ply: int, first: float, second: float
    ) -> float:
        """Return the current time."""
        del activity, number, seat, ply, first, second
        return time.monotonic()

    def add_action(self, ply: int, action: int) -> None:
        """Do nothing."""


class _InProcessRunner(GameRunner):
    """Plays games in the user's own process, where Ctrl-C ends the tournament."""

    def _try_out(self, player: int, position: Position) -> None:
        if not isinstance(self._plan.create_player(player), FunctionPlayer):  # nothing to compile
            super()._try_out(player, position)

    def _call(self, player: int, function: Callable[[], _T]) -> _T:
        del player
        try:
            return function()
        except (Forfeit, KeyboardInterrupt):
            raise
        except BaseException as error:  # noqa: BLE001 - a player may even call sys.exit
            raise Forfeit(describe_crash(error)) from None
