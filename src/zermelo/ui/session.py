"""A session: a match whose players think in threads, for screens that must never block.

A screen calls the session's methods, which return at once, and draws its view. An error, such as
bad input, becomes the message of the view; only the constructor raises exceptions.
"""

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from zermelo.core.errors import ZermeloError
from zermelo.core.game import Game
from zermelo.core.phrases import escape_controls
from zermelo.core.player import Analysis, Limit
from zermelo.core.position import Outcome, Position
from zermelo.matches.match import Match
from zermelo.players.registry import HUMAN
from zermelo.ui.saving import MatchSaver
from zermelo.ui.texts import to_sentence, verdict_text
from zermelo.ui.thinking import LiveAnalysis, ThinkingThread, load_seats

_JOIN = 0.5  # seconds that `close` waits for threads; they usually need a few hundredths


@dataclass(frozen=True)
class View:
    """A snapshot of a session, for a screen to draw."""

    game: Game
    players: tuple[str, str]
    position: Position  #: the position on the screen
    ply: int  #: number of moves that led to the position on the screen
    num_plies: int  #: number of moves in the game so far
    moves: tuple[str, ...]
    movers: tuple[int, ...]  #: the player of each move
    to_move: int  #: the side to move in the latest position
    move_seconds: tuple[float | None, ...]  #: how long each move took
    legal: list[str]  #: moves that a human may play now; empty if an earlier position is shown
    outcome: Outcome | None  #: outcome of the game, even if an earlier position is shown
    verdict: str
    turn: str | None  #: "you" or the name of the player to move; None if the game is over
    thinking: bool
    paused: bool  #: a player is to move, but does not think until `resume` is called
    analyzing: bool  #: live analysis is on
    analysis: Analysis | None  #: the latest analysis of the position on the screen
    num_redoable: int
    message: str  #: the last notice or error
    seconds: float  #: time spent on the current move


class Session:
    """A match with its players, the number of the ply on the screen, and the thinking threads.

    `on_change` is called after every change, from the thread that made it and without the lock.
    """

    def __init__(
        self,
        game: str | Game,
        first: str = HUMAN,
        second: str = "level:5",
        *,
        moves: str | Iterable[str] = (),
        limit: Limit | None = None,
        on_change: Callable[[], None] | None = None,
    ) -> None:
        self.match = Match(game, moves)
        self.players = first.strip(), second.strip()
        self.on_change = on_change
        self._limit = limit or Limit()
        self._lock = threading.RLock()
        self._seats = load_seats(self.match.game, self.players)
        self._before_restart: Match | None = None
        self._other_matches: dict[Game, Match] = {}  # unfinished matches of other games
        self._saver = MatchSaver()
        if self.match.moves:
            self._saver.own(self.match)
        self._shown_ply: int | None = None  # None to show the latest position
        self._message = ""
        self._is_paused = False
        self._is_closed = False
        self._thinking: ThinkingThread | None = None  # the thread whose answer will be played
        self.live_analysis = LiveAnalysis(self._lock, self._notify)
        with self._lock:
            self._start_threads()

    def view(self) -> View:
        """Return a snapshot of the current state."""
        with self._lock:
            match, position = self.match, self._position
            is_running = match.outcome is None
            can_play = is_running and self._shown_ply is None and self._is_human(position)
            return View(
                game=match.game,
                players=self.players,
                position=position,
                ply=self._ply,
                num_plies=len(match.moves),
                moves=tuple(match.moves),
                movers=tuple(match.movers),
                to_move=match.position.player,
                move_seconds=tuple(match.move_seconds),
                legal=position.legal if can_play else [],
                outcome=match.outcome,
                verdict=verdict_text(match, self.players),
                turn=escape_controls(self._turn(match.position)) if is_running else None,
                thinking=self._thinking is not None,
                paused=is_running and self._is_paused and not self._is_human(match.position),
                analyzing=self.live_analysis.is_on,
                analysis=self.live_analysis.latest,
                num_redoable=match.num_redoable,
                message=escape_controls(self._message),
                seconds=match.seconds if is_running else 0.0,
            )

    # Methods for screens.

    def play(self, move: str) -> None:
        """Play a human's move in the position on the screen; any later moves are discarded."""
        with self._change():
            position = self._position
            if not self._is_human(position):
                if self._shown_ply is not None:
                    msg = f"after move {self._ply} it is {self._turn(position)}'s turn"
                    raise ZermeloError(msg)
                if self.match.outcome is None:
                    msg = f"it is {self._turn(position)}'s turn"
                    raise ZermeloError(msg)
            position.parse(move)  # an illegal move must not discard anything
            if self._shown_ply is not None:
                self.match.undo(len(self.match.moves) - self._ply)
            self.match.play(move)
            self._abandon_turn()

    def undo(self) -> None:
        """Undo moves until it is a human's turn again, or undo a resignation."""
        with self._change():
            if self.match.resigned is not None:
                self.match.undo(0)
            elif not self.match.undo_to_turn(self._humans or (0, 1)):
                msg = "there is no move to take back"
                raise ZermeloError(msg)
            self._abandon_turn()
            self._is_paused = not self._humans

    def redo(self) -> None:
        """Redo undone moves up to the next turn of a human."""
        with self._change():
            if not self.match.redo_to_turn(self._humans or (0, 1)):
                if self._current is self.match:
                    msg = "there is no move to play again"
                    raise ZermeloError(msg)
                self.match = self._current  # no human has moved since the restart
            self._abandon_turn()
            self._is_paused = not self._humans

    def restart(self) -> None:
        """Start a new match of the same game; until a human moves, `redo` restores the old one."""
        with self._change():
            if self._has_begun(self.match):
                self._before_restart = self.match
            old_moves = self._before_restart.moves if self._before_restart else ()
            self.match = Match(self.match.game, old_moves)
            self.match.undo(len(self.match.moves))
            self._abandon_turn()
            if self._before_restart:
                self._message = "New game. Redo brings the old one back."

    def resign(self) -> None:
        """Resign for the human, or for the side to move if both players are human."""
        with self._change():
            if not self._humans:
                msg = "there is no human player to resign"
                raise ZermeloError(msg)
            mover = self.match.position.player
            self.match.resign(mover if self._is_human(self.match.position) else 1 - mover)
            self._abandon_turn()

    def show_ply(self, ply: int) -> None:
        """Show the position after `ply` moves; if it is the latest one, follow the game again."""
        with self._change():
            last = len(self.match.moves)
            self._shown_ply = max(0, ply) if ply < last else None

    def set_up(
        self, game: str | Game | None = None, first: str | None = None, second: str | None = None
    ) -> None:
        """Change the game or the players; continue any unfinished match of the new game."""
        with self._change():
            players = (first or self.players[0]).strip(), (second or self.players[1]).strip()
            match = self.match if game is None else Match(game)
            if match.game == self.match.game:
                match = self.match
            seats = load_seats(match.game, players)  # may raise an error, so it comes first
            if match is not self.match:
                self._other_matches[self.match.game] = self._current
                match = self._other_matches.pop(match.game, match)
                self._before_restart = None
            self.match, self.players, self._seats = match, players, seats
            self._abandon_turn()

    def swap(self) -> None:
        """Swap the players' seats."""
        self.set_up(first=self.players[1], second=self.players[0])

    def set_analysis(self, on: bool) -> None:
        """Switch live analysis of the position on the screen on or off."""
        with self._change():
            self.live_analysis.is_on = on

    def stop(self) -> None:
        """Make the thinking player move now."""
        with self._lock:
            if self._thinking:
                self._thinking.stop()

    def resume(self) -> None:
        """Let the player to move think again, after an undo, a redo or an error has paused it."""
        with self._change():
            self._is_paused = False

    def save(self) -> None:
        """Save the match for `zermelo play --resume`."""
        with self._change():
            self._message = self._saver.save(self.match, self.players)

    def close(self) -> None:
        """Stop all threads and save unfinished matches; the message says how to continue them."""
        with self._lock:
            was_closed, self._is_closed = self._is_closed, True
            threads = [t for t in (self._thinking, self.live_analysis.thread) if t]
            self._abandon_turn()
            self.live_analysis.cancel()
        for thread in threads:
            thread.join(_JOIN)
        if was_closed:
            return
        with self._lock:
            self._message = ""
            # `--resume` continues the match that is saved last.
            for match in (*self._other_matches.values(), self._current):
                try:
                    self._message = self._saver.leave(match, self.players) or self._message
                except ZermeloError as error:
                    self._message = to_sentence(error)

    # The course of the game. Everything below needs the lock.

    @contextlib.contextmanager
    def _change(self) -> Iterator[None]:
        """Turn an error in the `with` block into the message; let the player to move think."""
        with self._lock:
            self._message = ""
            try:
                yield
            except ZermeloError as error:
                self._message = to_sentence(error)
            self._start_threads()
        self._notify()

    def _notify(self) -> None:
        if self.on_change:
            self.on_change()

    @property
    def _ply(self) -> int:
        return len(self.match.moves) if self._shown_ply is None else self._shown_ply

    @property
    def _position(self) -> Position:
        return self.match.position_at(self._ply)

    @property
    def _current(self) -> Match:
        """The match; after a restart, the previous match until the new one has begun."""
        old = self._before_restart
        return self.match if old is None or self._has_begun(self.match) else old

    def _has_begun(self, match: Match) -> bool:
        """Return whether a human has moved or, in a match without humans, any player has."""
        plies = range(len(match.moves))
        return any(not self._humans or self._is_human(match.position_at(ply)) for ply in plies)

    def _is_human(self, position: Position) -> bool:
        return self._seats[position.player] is None

    def _turn(self, position: Position) -> str:
        return "you" if self._is_human(position) else self.players[position.player]

    @property
    def _humans(self) -> list[int]:
        return [seat for seat, spec in enumerate(self.players) if spec == HUMAN]

    def _abandon_turn(self) -> None:
        """Cancel the thinking for the current turn and show the latest position."""
        self._shown_ply = None
        self._is_paused = False
        if self._thinking:
            self._thinking.cancel()
            self._thinking = None

    def _start_threads(self) -> None:
        """Start the player's thinking and the live analysis if they are due."""
        if self._is_closed:
            return
        position = self.match.position
        seat = self._seats[position.player]
        is_due = self.match.outcome is None and not self._is_paused
        if is_due and seat is not None and self._thinking is None:
            self._thinking = ThinkingThread(seat, position, self._limit, on_end=self._play_answer)
        self.live_analysis.follow(self._position)

    def _play_answer(self, thread: ThinkingThread) -> None:
        """Play the move that a thread chose, unless the thread was cancelled.

        The thread itself calls this method.
        """
        with self._lock:
            if thread is not self._thinking:
                return
            self._thinking = None
            try:
                move = thread.wait().move
                self.match.play(move)
                symbol = self.match.game.symbols[thread.position.player]
                self._message = f"{thread.seat.player.name} ({symbol}) plays {move}"
            except ZermeloError as error:
                self._message = to_sentence(error)
                self._is_paused = True
            self._start_threads()
        self._notify()
