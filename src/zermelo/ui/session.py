"""A session: a match whose players think in threads, for screens that must never block.

A screen calls methods that return at once, and draws the view. Bad input becomes the message of the
view; once a session exists, its methods do not raise errors.
"""

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from zermelo.core.errors import ZermeloError
from zermelo.core.game import Game
from zermelo.core.player import Analysis, Limit
from zermelo.core.position import Outcome, Position
from zermelo.matches.match import Match
from zermelo.players.registry import HUMAN
from zermelo.ui.saving import MatchSaver
from zermelo.ui.texts import to_sentence
from zermelo.ui.thinking import LiveAnalysis, ThinkingThread, load_seats

_JOIN = 0.5  # seconds to wait for threads at the end; they stop within hundredths


@dataclass(frozen=True)
class View:
    """What a screen shows: the state of a session at one moment."""

    game: Game
    players: tuple[str, str]
    position: Position  #: the position on the screen
    ply: int  #: of the position on the screen
    num_plies: int  #: of the game so far
    moves: tuple[str, ...]
    move_seconds: tuple[float | None, ...]  #: how long each move took
    legal: list[str]  #: the moves a human may play now; empty if an earlier ply is shown
    outcome: Outcome | None  #: of the game, whichever ply is shown
    verdict: str
    turn: str | None  #: "you" or the player's name; None after the end
    thinking: bool
    paused: bool  #: it is a player's turn, but it does not think until `resume`
    analyzing: bool  #: live analysis is on
    analysis: Analysis | None  #: the latest one of the position on the screen
    num_redoable: int
    message: str  #: the last notice or error
    seconds: float  #: spent on the current move


class Session:
    """A match with its players, the ply on the screen, and the threads that think.

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
        self._shown_ply: int | None = None  # None to follow the game
        self._message = ""
        self._is_paused = False
        self._is_closed = False
        self._thinking: ThinkingThread | None = None  # its answer will be played
        self.live_analysis = LiveAnalysis(self._lock, self._notify)
        with self._lock:
            self._start_threads()

    def view(self) -> View:
        """Return the current state."""
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
                move_seconds=tuple(match.move_seconds),
                legal=position.legal if can_play else [],
                outcome=match.outcome,
                verdict=match.verdict,
                turn=self._turn(match.position) if is_running else None,
                thinking=self._thinking is not None,
                paused=is_running and self._is_paused and not self._is_human(match.position),
                analyzing=self.live_analysis.is_on,
                analysis=self.live_analysis.latest,
                num_redoable=match.num_redoable,
                message=self._message,
                seconds=match.seconds if is_running else 0.0,
            )

    # Requests of a screen.

    def play(self, move: str) -> None:
        """Play a human's move from the ply on the screen; later moves are discarded."""
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
        """Take moves back to the last choice of a human, or take back a resignation."""
        with self._change():
            if self.match.resigned is not None:
                self.match.undo(0)
            elif not self.match.undo_to_turn(self._humans or (0, 1)):
                msg = "there is no move to take back"
                raise ZermeloError(msg)
            self._abandon_turn()
            self._is_paused = not self._humans

    def redo(self) -> None:
        """Play the moves that were taken back again, up to the next choice of a human."""
        with self._change():
            if not self.match.redo_to_turn(self._humans or (0, 1)):
                if self._current is self.match:
                    msg = "there is no move to play again"
                    raise ZermeloError(msg)
                self.match = self._current  # only a player has moved since the restart
            self._abandon_turn()
            self._is_paused = not self._humans

    def restart(self) -> None:
        """Start the same game again; until a human moves, redo brings the old one back."""
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
        """Resign for the human, or for the side to move if there are two."""
        with self._change():
            if not self._humans:
                msg = "there is no human player to resign"
                raise ZermeloError(msg)
            mover = self.match.position.player
            self.match.resign(mover if self._is_human(self.match.position) else 1 - mover)
            self._abandon_turn()

    def show_ply(self, ply: int) -> None:
        """Show an earlier ply, or follow the game again from the last one on."""
        with self._change():
            last = len(self.match.moves)
            self._shown_ply = max(0, ply) if ply < last else None

    def set_up(
        self, game: str | Game | None = None, first: str | None = None, second: str | None = None
    ) -> None:
        """Change the game or the players; an unfinished match of the new game is continued."""
        with self._change():
            players = (first or self.players[0]).strip(), (second or self.players[1]).strip()
            match = self.match if game is None else Match(game)
            if match.game == self.match.game:
                match = self.match
            seats = load_seats(match.game, players)  # may raise, before anything has changed
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
        """Make the player who thinks move now."""
        with self._lock:
            if self._thinking:
                self._thinking.stop()

    def resume(self) -> None:
        """Let a paused player think: after undo without humans, or after it had no answer."""
        with self._change():
            self._is_paused = False

    def save(self) -> None:
        """Save the match for `zermelo play --resume`."""
        with self._change():
            self._message = self._saver.save(self.match, self.players)

    def close(self) -> None:
        """Stop all threads and save unfinished matches; the message says how to continue."""
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
            for match in (*self._other_matches.values(), self._current):  # the last resumes first
                try:
                    self._message = self._saver.leave(match, self.players) or self._message
                except ZermeloError as error:
                    self._message = to_sentence(error)

    # The course of the game. Everything below needs the lock.

    @contextlib.contextmanager
    def _change(self) -> Iterator[None]:
        """Make a change: an error becomes the message, and the player to move starts thinking."""
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
        """The match, or the one before the restart if the new one has not begun."""
        old = self._before_restart
        return self.match if old is None or self._has_begun(self.match) else old

    def _has_begun(self, match: Match) -> bool:
        """Return whether a human has moved, or anybody if there are no humans."""
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
        """Cancel the thinking for the current turn and show the end of the game."""
        self._shown_ply = None
        self._is_paused = False
        if self._thinking:
            self._thinking.cancel()
            self._thinking = None

    def _start_threads(self) -> None:
        """Start the thinking and the analysis that are due."""
        if self._is_closed:
            return
        position = self.match.position
        seat = self._seats[position.player]
        is_due = self.match.outcome is None and not self._is_paused
        if is_due and seat is not None and self._thinking is None:
            self._thinking = ThinkingThread(seat, position, self._limit, on_end=self._play_answer)
        self.live_analysis.follow(self._position)

    def _play_answer(self, thread: ThinkingThread) -> None:
        """Play a player's move, unless it has been cancelled. Called from the thread."""
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
