"""Players that think in threads, and live analysis of the position on the screen."""

import threading
from collections.abc import Callable
from dataclasses import replace

from zermelo.core.errors import ZermeloError
from zermelo.core.game import Game
from zermelo.core.player import Analysis, Limit, Player
from zermelo.core.position import Position
from zermelo.games import user_code
from zermelo.players.registry import HUMAN, load_player
from zermelo.search.explain.analysis import Analyst
from zermelo.search.solver.solver import SolverSettings


class LockedPlayer:
    """A player with a lock, because it can think about only one position at a time."""

    def __init__(self, player: Player) -> None:
        self.player = player
        self.lock = threading.Lock()


class ThinkingThread(threading.Thread):
    """A thread in which a player thinks about one position. The constructor starts it.

    `on_thought` is called after every analysis, and `on_end` at the end, both from this thread.
    """

    def __init__(
        self,
        seat: LockedPlayer,
        position: Position,
        limit: Limit,
        on_thought: Callable[["ThinkingThread"], None] = lambda _: None,
        on_end: Callable[["ThinkingThread"], None] = lambda _: None,
    ) -> None:
        super().__init__(name="think", daemon=True)
        self.seat, self.position = seat, position
        self.analysis: Analysis | None = None  #: the latest analysis
        self.error = ""  #: the reason if there is no analysis
        self.done = threading.Event()
        self._is_cancelled = False
        self._stop_event = threading.Event()
        self._limit = replace(limit, stop=self._stop_event)
        self._on_thought, self._on_end = on_thought, on_end
        self.start()

    def stop(self) -> None:
        """Make the player answer with the best move so far."""
        self._stop_event.set()

    def cancel(self) -> None:
        """Stop thinking because the answer is no longer needed."""
        self._is_cancelled = True
        self._stop_event.set()

    def wait(self) -> Analysis:
        """Wait for the thread to end; return its analysis. Raise ZermeloError if there is none."""
        while not self.done.wait(0.2):  # a loop, so that Ctrl-C works on every system
            pass
        if self.analysis is None:
            raise ZermeloError(self.error)
        return self.analysis

    def run(self) -> None:
        """Think; if the player raises an exception, store its text in `error`."""
        name = self.seat.player.name
        try:
            with self.seat.lock:
                self._think()
        except ZermeloError as error:
            self.error = str(error)
        except Exception as error:  # noqa: BLE001 - a player's file may raise anything
            self.error = f"{name}: {user_code.describe_error(error)}"
        if self.analysis is None and self._stop_event.is_set():
            self.error = f"{name} was stopped before it had a move"
        self.done.set()
        self._on_end(self)

    def _think(self) -> None:
        if self._is_cancelled:
            return
        for analysis in self.seat.player.think(self.position, self._limit):
            self.analysis = analysis
            if self._is_cancelled:
                return
            self._on_thought(self)
            if self._stop_event.is_set():
                return


class LiveAnalysis:
    """The analysis of the position on the screen, which can be switched on and off.

    Callers must hold the lock; `on_change` is called after every new analysis, without the lock.
    """

    def __init__(self, lock: threading.RLock, on_change: Callable[[], None]) -> None:
        self.is_on = False
        self.thread: ThinkingThread | None = None
        self._lock, self._on_change = lock, on_change
        self._analyst: LockedPlayer | None = None

    @property
    def latest(self) -> Analysis | None:
        """The latest analysis of the position on the screen, or None."""
        return self.thread.analysis if self.thread else None

    def follow(self, position: Position) -> None:
        """If the analysis is switched on, analyse this position instead of the previous one."""
        is_due = self.is_on and not position.is_over
        if self.thread and (not is_due or self.thread.position is not position):
            self.cancel()
        if is_due and self.thread is None:
            self._analyst = self._analyst or create_analyst()
            self.thread = ThinkingThread(
                self._analyst, position, Limit(), on_thought=self._notify, on_end=self._notify
            )

    def cancel(self) -> None:
        """Stop the analysis of the current position."""
        if self.thread:
            self.thread.cancel()
            self.thread = None

    def _notify(self, thread: ThinkingThread) -> None:
        with self._lock:
            is_current = thread is self.thread
        if is_current:
            self._on_change()


def load_seats(
    game: Game, players: tuple[str, str]
) -> tuple[LockedPlayer | None, LockedPlayer | None]:
    """Return the two players, with None for a human. Raise BadSpec if one cannot play the game."""
    seats: list[LockedPlayer | None] = []
    for spec in players:
        if spec == HUMAN:
            seats.append(None)
        else:
            player = load_player(spec)
            player.prepare(game)
            seats.append(LockedPlayer(player))
    return seats[0], seats[1]


def create_analyst() -> LockedPlayer:
    """Return an analyst with a transposition table of at most 32 MB."""
    return LockedPlayer(Analyst(SolverSettings(table_bits=20)))
