"""Play one game between two players. A player that fails forfeits the game, not the tournament."""

import contextlib
import functools
import os
import random
import time
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from zermelo.arena.plan import GRACE, Fixture, Plan
from zermelo.arena.processes.connection import ExitCode, ParentConnection
from zermelo.arena.processes.memory import MEGABYTE, private_bytes
from zermelo.arena.scoresheet import Activity, Scoresheet, Turn
from zermelo.core.errors import BadMove
from zermelo.core.notation import quote_text
from zermelo.core.phrases import escape_controls
from zermelo.core.player import Limit, Player
from zermelo.core.position import Outcome, Position, replay
from zermelo.games import user_code
from zermelo.players.function_player import FunctionPlayer
from zermelo.store.runs import GameRow

_WARM_UP_SECONDS = 0.05
_MAX_REASON = 200  # characters
_FULL = 0.9  # if more than this share of the memory limit is in use, the limit caused the error

_T = TypeVar("_T")


class Forfeit(Exception):
    """Raised when a player forfeits the game; the message is the reason."""


class GameRunner:
    """Plays the games of a plan in a worker process; records every turn on its scoresheet.

    `connection` is None if there is no parent process.
    """

    def __init__(self, plan: Plan, sheet: Scoresheet, connection: ParentConnection | None) -> None:
        self._plan, self._sheet, self._connection = plan, sheet, connection
        self._limit = Limit(seconds=plan.seconds)
        self._last_opening = -1, plan.rules.start()
        self._is_file = plan.is_file
        self._is_metered = bool(plan.memory) and any(self._is_file)
        self._held: Counter[int] = Counter()  # bytes held by players from files, by player number

    def warm_up(self, player: int) -> None:
        """Let a player choose a few moves, so that compilation does not count as thinking time.

        The player moves at the beginning, in the middle and at the end of a game, as each of these
        may need different kernels. Errors are ignored: they will occur again in a game.
        """
        self._sheet.start_turn(Activity.COMPILING, -1, player, 0, 0.0, 0.0)
        positions = self._play_random_game()
        for ply in sorted({0, len(positions) // 2, len(positions) - 1}):
            with contextlib.suppress(Forfeit):
                self._call(player, functools.partial(self._try_out, player, positions[ply]))
        self.set_idle()

    def _try_out(self, player: int, position: Position) -> None:
        chooser = self._plan.create_player(player)
        chooser.choose(position, Limit(seconds=_WARM_UP_SECONDS))

    def set_idle(self) -> None:
        """Record on the scoresheet that no player is thinking."""
        self._sheet.start_turn(Activity.IDLE, -1, -1, 0, 0.0, 0.0)

    def play(self, fixture: Fixture) -> GameRow:
        """Play one game until it is over or a player forfeits."""
        position = self._play_opening(fixture.opening)
        opening = position.history or ()
        for ply, action in enumerate(opening):
            self._sheet.add_action(ply, action)
        clock = [0.0, 0.0]
        seat, reason = 0, ""
        try:
            players = []
            for seat in (0, 1):
                self._start_turn(fixture, seat, len(opening), clock)
                players.append(self._create_player(fixture, seat))
            ply = len(opening)
            while not position.is_over:
                seat = position.player
                started = self._start_turn(fixture, seat, ply, clock)
                action = self._choose_action(players[seat], position, fixture, started, clock)
                self._sheet.add_action(ply, action)
                position = position.play_action(action)
                ply += 1
        except Forfeit as forfeit:
            reason = _shorten(str(forfeit))
        outcome = Outcome.from_value(-1, seat) if reason else position.outcome
        assert outcome is not None
        actions = position.history or ()
        return _build_row(self._plan, fixture, actions, len(opening), outcome, reason, clock)

    def _start_turn(self, fixture: Fixture, seat: int, ply: int, clock: list[float]) -> float:
        return self._sheet.start_turn(Activity.PLAYING, fixture.number, seat, ply, *clock)

    def _create_player(self, fixture: Fixture, seat: int) -> Player:
        player, seed = fixture.seats[seat], self._plan.player_seed(fixture.number, seat)
        return self._call(player, lambda: self._plan.create_player(player, seed))

    def _choose_action(
        self,
        player: Player,
        position: Position,
        fixture: Fixture,
        started: float,
        clock: list[float],
    ) -> int:
        """Return the action that a player chooses. Raise Forfeit if it is illegal or late."""
        seat = position.player
        try:
            move = self._call(
                fixture.seats[seat], lambda: _choose_move(player, position, self._limit)
            )
        finally:
            spent = time.monotonic() - started
            clock[seat] += spent
        if spent > max_seconds(self._plan):
            raise Forfeit(describe_timeout(self._plan, spent))
        try:
            return position.parse(move)
        except BadMove:
            msg = f"illegal move {quote_text(move)}"
            raise Forfeit(msg) from None

    def _call(self, player: int, function: Callable[[], _T]) -> _T:
        """Call a function that runs a player's code; raise Forfeit if it raises an exception.

        End the process if it is a copy that the player has forked, if the player has closed the
        connection to the parent, or if no memory is left.
        """
        is_file = self._is_file[player]  # built-in players are not checked
        before = private_bytes() if is_file and self._is_metered else 0
        try:
            return function()
        except Forfeit:
            raise
        except BaseException as error:  # noqa: BLE001 - a player may even call sys.exit
            if self._is_out_of_memory(error):
                self._leave_out_of_memory()
            raise Forfeit(describe_crash(error)) from None
        finally:
            if is_file and self._connection is not None:
                self._connection.verify()
                self._held[player] += private_bytes() - before if self._is_metered else 0

    def _is_out_of_memory(self, error: BaseException) -> bool:
        """Return whether an error, which need not be a MemoryError, is due to the memory limit."""
        limit = self._plan.memory * MEGABYTE
        is_full = self._is_metered and private_bytes() > _FULL * limit
        return is_full or (isinstance(error, MemoryError) and limit > 0)

    def _leave_out_of_memory(self) -> None:
        """End the process with the exit code for a lack of memory, and record who is to blame.

        The player to move is to blame, unless another holds more than half of the memory. The
        scoresheet then shows a turn of the player to blame, who forfeits the game.
        """
        turn = self._sheet.read()
        players = (
            self._plan.fixture(turn.number).seats
            if turn.activity is Activity.PLAYING
            else range(len(self._plan.players))
        )
        for seat, player in enumerate(players):
            if self._held[player] > self._plan.memory * MEGABYTE // 2:
                ply = len(turn.actions)
                self._sheet.start_turn(turn.activity, turn.number, seat, ply, *turn.seconds)
        if self._connection is not None:
            self._connection.verify()  # a forked copy must not exit with this code
        os._exit(ExitCode.OUT_OF_MEMORY)

    def _play_random_game(self) -> list[Position]:
        """Return the positions of a random game, without the final one."""
        rng, positions = random.Random(0), [self._plan.rules.start()]
        while not positions[-1].is_over:
            last = positions[-1]
            positions.append(last.play_action(rng.choice(last.actions)))
        return positions[:-1]

    def _play_opening(self, number: int) -> Position:
        """Return the position after an opening; cache it for the game with swapped seats."""
        if self._last_opening[0] != number:
            position = self._plan.rules.start()
            for action in self._plan.sample_opening(number):
                position = position.play_action(action)
            self._last_opening = number, position
        return self._last_opening[1]


def max_seconds(plan: Plan) -> float:
    """Return the seconds after which a player that has not moved forfeits the game."""
    return plan.patience if plan.seconds is None else plan.seconds + GRACE


def describe_timeout(plan: Plan, spent: float) -> str:
    """Return the reason for a loss on time; the standings show only the part before the colon."""
    if plan.seconds is None:
        return f"no answer within {plan.patience:g} s"
    return f"exceeded its time limit of {plan.seconds:g} s: {spent:.1f} s"


def describe_memory(plan: Plan) -> str:
    """Return the reason for a forfeit by a player whose process ran out of memory."""
    return f"exceeded its memory limit of {plan.memory:,} MB"


def describe_crash(error: BaseException) -> str:
    """Return the reason for a forfeit by a player whose code raised this exception."""
    return _shorten(f"crashed: {user_code.describe_error(error)}")


def _shorten(text: str) -> str:
    """Return a reason on one line, printable and with at most `_MAX_REASON` characters."""
    text = escape_controls(" ".join(text.split()))
    return text if len(text) <= _MAX_REASON else f"{text[: _MAX_REASON - 1]}…"


def _choose_move(player: Player, position: Position, limit: Limit) -> str:
    """Return the move that a player answers with, which may be illegal."""
    answer: object
    if isinstance(player, FunctionPlayer):  # `choose` would raise an error if illegal
        answer = move = player.ask(position)
    else:
        answer = player.choose(position, limit)
        move = getattr(answer, "move", None)
    if not isinstance(move, str):
        kind = type(answer if move is None else move).__name__
        msg = f"answered with {kind} instead of a move"
        raise Forfeit(msg)
    return str.__str__(move)  # a plain string, even if the player returned a subclass


def forfeit_turn(plan: Plan, turn: Turn, reason: str) -> GameRow:
    """Return the row of a game that is forfeited because its worker died during this turn."""
    fixture = plan.fixture(turn.number)
    clock = list(turn.seconds)
    clock[turn.seat] += time.monotonic() - turn.started
    outcome = Outcome.from_value(-1, turn.seat)
    opening = len(plan.sample_opening(fixture.opening))
    return _build_row(plan, fixture, turn.actions, opening, outcome, reason, clock)


def _build_row(
    plan: Plan,
    fixture: Fixture,
    actions: tuple[int, ...],
    opening: int,
    outcome: Outcome,
    reason: str,
    clock: list[float],
) -> GameRow:
    """Return the row of a finished game; `opening` is the number of plies in its opening."""
    first, second = (plan.names[player] for player in fixture.seats)
    line = replay(plan.rules, plan.rules.initial(), actions)
    movers = [plan.rules.player(state) for state, _ in line][opening:]
    first_moves = movers.count(0)
    return GameRow(
        fixture.number,
        first,
        second,
        opening,
        " ".join(plan.rules.line_to_text(plan.rules.initial(), actions)),
        outcome.value,
        reason,
        first_moves,
        len(movers) - first_moves,
        round(clock[0], 6),
        round(clock[1], 6),
        round(time.time(), 3),
    )
