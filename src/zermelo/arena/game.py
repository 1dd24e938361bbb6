"""The table: one game between two players, at which nobody's fault stops anybody else."""

import contextlib
import random
import time

from zermelo.arena.plan import GRACE, Fixture, Plan
from zermelo.arena.scoresheet import Doing, Note, Scoresheet
from zermelo.core.errors import BadMove
from zermelo.core.notation import shown
from zermelo.core.player import Limit, Player
from zermelo.core.position import Outcome, Position
from zermelo.players import registry as roster
from zermelo.store.runs import GameRow

_WARM_SECONDS = 0.05
_MAX_REASON = 200


class _Forfeit(Exception):
    """A player has lost by what it did; the reason."""


class Table:
    """Where a worker plays game after game, noting on its sheet whose turn it is."""

    def __init__(self, plan: Plan, sheet: Scoresheet) -> None:
        self._plan, self._sheet = plan, sheet
        self._limit = Limit(seconds=plan.seconds)
        self._opening = -1, plan.rules.start()

    def warm_up(self, player: int) -> None:
        """Let a player choose a few times, so that compiling is on nobody's clock.

        At the beginning, in the middle and at the end of a game: each may need other kernels.
        What goes wrong is ignored here, and will go wrong again.
        """
        self._sheet.begin(Doing.WARMING, -1, player, 0, 0.0, 0.0)
        positions = self._some_game()
        for at in sorted({0, len(positions) // 2, len(positions) - 1}):
            with contextlib.suppress(BaseException):
                made = roster.player(self._plan.players[player])
                made.choose(positions[at], Limit(seconds=_WARM_SECONDS))
        self.rest()

    def rest(self) -> None:
        """Nobody moves."""
        self._sheet.begin(Doing.NOTHING, -1, -1, 0, 0.0, 0.0)

    def play(self, fixture: Fixture) -> GameRow:
        """One game, to its end or to the first fault."""
        position = self._after_opening(fixture.opening)
        opening = position.history or ()
        for ply, action in enumerate(opening):
            self._sheet.played(ply, action)
        clock = [0.0, 0.0]
        seat, reason = 0, ""
        try:
            players = []
            for seat in (0, 1):
                self._begin(fixture, seat, len(opening), clock)
                players.append(self._made(fixture, seat))
            ply = len(opening)
            while not position.is_over:
                seat = position.player
                began = self._begin(fixture, seat, ply, clock)
                action = self._chosen(players[seat], position, began, seat, clock)
                self._sheet.played(ply, action)
                position = position.play_action(action)
                ply += 1
        except _Forfeit as fault:
            reason = str(fault)
        outcome = Outcome.of(-1, seat) if reason else position.outcome
        assert outcome is not None
        actions = position.history or ()
        return row(self._plan, fixture, actions, len(opening), outcome, reason, clock)

    def _begin(self, fixture: Fixture, seat: int, ply: int, clock: list[float]) -> float:
        return self._sheet.begin(Doing.PLAYING, fixture.number, seat, ply, clock[0], clock[1])

    def _made(self, fixture: Fixture, seat: int) -> Player:
        try:
            return roster.player(self._plan.spec(fixture.number, seat))
        except BaseException as error:  # noqa: BLE001 - whatever it is
            raise _Forfeit(crash(error)) from None

    def _chosen(
        self, player: Player, position: Position, began: float, seat: int, clock: list[float]
    ) -> int:
        """The action of a player's move; _Forfeit when there is none that counts."""
        try:
            answer = player.choose(position, self._limit)
        except BaseException as error:  # noqa: BLE001 - a player may even call sys.exit
            raise _Forfeit(crash(error)) from None
        finally:
            spent = time.monotonic() - began
            clock[seat] += spent
        if spent > allowed(self._plan):
            raise _Forfeit(overrun(self._plan, spent))
        move = getattr(answer, "move", None)
        if not isinstance(move, str):
            msg = f"no move, but {type(answer if move is None else move).__name__}"
            raise _Forfeit(msg)
        try:
            return position.parse(move)
        except BadMove:
            msg = f"illegal move {shown(move)}"
            raise _Forfeit(msg) from None

    def _some_game(self) -> list[Position]:
        """The positions of a random game in which somebody has a choice."""
        rng, positions = random.Random(0), [self._plan.rules.start()]
        while not positions[-1].is_over:
            last = positions[-1]
            positions.append(last.play_action(rng.choice(last.actions)))
        return positions[:-1]

    def _after_opening(self, number: int) -> Position:
        """Where an opening leads; the last one is kept, for the game with swapped seats."""
        if self._opening[0] != number:
            position = self._plan.rules.start()
            for action in self._plan.opening(number):
                position = position.play_action(action)
            self._opening = number, position
        return self._opening[1]


def allowed(plan: Plan) -> float:
    """How many seconds a move may take before it loses."""
    return plan.patience if plan.seconds is None else plan.seconds + GRACE


def overrun(plan: Plan, spent: float) -> str:
    """The reason for a loss by time."""
    if plan.seconds is None:
        return f"hung: no answer within {plan.patience:g} s"
    return f"overran {plan.seconds:g} s: {spent:.1f} s"


def crash(error: BaseException) -> str:
    """The reason for a loss by an exception."""
    text = " ".join(f"crashed: {type(error).__name__}: {error}".split()).removesuffix(":")
    return text if len(text) <= _MAX_REASON else f"{text[: _MAX_REASON - 1]}…"


def forfeited(plan: Plan, note: Note, reason: str) -> GameRow:
    """The row of a game whose worker did not live to write it."""
    fixture = plan.fixture(note.number)
    clock = list(note.seconds)
    clock[note.seat] += time.monotonic() - note.began
    outcome = Outcome.of(-1, note.seat)
    opening = len(plan.opening(fixture.opening))
    return row(plan, fixture, note.actions, opening, outcome, reason, clock)


def row(
    plan: Plan,
    fixture: Fixture,
    actions: tuple[int, ...],
    opening: int,
    outcome: Outcome,
    reason: str,
    clock: list[float],
) -> GameRow:
    """A game that is over."""
    first, second = (plan.names[player] for player in fixture.seats)
    begins = plan.rules.player(plan.rules.initial())
    chosen = range(begins + opening, begins + len(actions))  # the sides take turns
    own = sum(ply % 2 == 0 for ply in chosen)
    return GameRow(
        fixture.number,
        first,
        second,
        opening,
        " ".join(map(plan.rules.to_text, actions)),
        outcome.value,
        reason,
        own,
        len(chosen) - own,
        round(clock[0], 6),
        round(clock[1], 6),
        round(time.time(), 3),
    )
