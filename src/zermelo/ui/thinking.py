"""Players at work: a think about one position, in a thread of its own, that can be cut short."""

import threading
from collections.abc import Callable
from dataclasses import replace

from zermelo.core.errors import ZermeloError
from zermelo.core.game import Game
from zermelo.core.player import Analysis, Limit, Player
from zermelo.core.position import Position
from zermelo.players import registry as roster


class Thinker:
    """A player, and a lock: it thinks about one position at a time."""

    def __init__(self, player: Player) -> None:
        self.player = player
        self.lock = threading.Lock()


class Think(threading.Thread):
    """A player's think about one position, in a thread of its own."""

    def __init__(
        self,
        thinker: Thinker,
        position: Position,
        limit: Limit,
        on_thought: Callable[["Think"], None] = lambda _: None,
        on_end: Callable[["Think"], None] = lambda _: None,
    ) -> None:
        super().__init__(name="think", daemon=True)
        self.thinker, self.position = thinker, position
        self.found: Analysis | None = None  #: the latest answer
        self.error = ""  #: why there is none
        self.cancelled = False
        self.done = threading.Event()
        self._stop_event = threading.Event()
        self._limit = replace(limit, stop=self._stop_event)
        self._on_thought, self._on_end = on_thought, on_end
        self.start()

    def stop(self) -> None:
        """Ask for what it has found so far."""
        self._stop_event.set()

    def cancel(self) -> None:
        """Nobody wants its answer any more."""
        self.cancelled = True
        self._stop_event.set()

    def run(self) -> None:
        """In the thread."""
        name = self.thinker.player.name
        try:
            with self.thinker.lock:
                self._think()
        except ZermeloError as error:
            self.error = str(error)
        except Exception as error:  # noqa: BLE001 - a player's file may raise anything
            self.error = f"{name}: {type(error).__name__}: {error}".removesuffix(": ")
        if self.found is None and self._stop_event.is_set():
            self.error = f"{name} was stopped before it had a move"
        self.done.set()
        self._on_end(self)

    def _think(self) -> None:
        if self.cancelled:
            return
        for found in self.thinker.player.think(self.position, self._limit):
            self.found = found
            if self.cancelled:
                return
            self._on_thought(self)
            if self._stop_event.is_set():
                return


def seated(game: Game, players: tuple[str, str]) -> tuple[Thinker | None, Thinker | None]:
    """Who sits where, None for a human; what cannot play this game is refused."""
    seats: list[Thinker | None] = []
    for spec in players:
        if spec == roster.HUMAN:
            seats.append(None)
        else:
            player = roster.player(spec)
            player.fit(game)
            seats.append(Thinker(player))
    return seats[0], seats[1]


def analyst() -> Thinker:
    """Whoever judges every move beside a game."""
    from zermelo.search.explain.analysis import Analyst
    from zermelo.search.solver.solver import Settings

    return Thinker(Analyst(Settings(table_bits=20)))  # 32 MB at most
