"""A session: a match with its players at work in threads, for screens that never wait.

A screen calls a method, which returns at once, and draws what `view` says. Whatever is wrong with
an input becomes the view's message; nothing here raises on it once a session is made.
"""

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NoReturn

from zermelo.core.errors import ZermeloError
from zermelo.core.game import Game
from zermelo.core.player import Analysis, Limit
from zermelo.core.position import Outcome, Position
from zermelo.matches import saves
from zermelo.matches.match import Match
from zermelo.players import registry as roster
from zermelo.ui.thinking import Think, Thinker, analyst, seated

_JOIN = 0.5  # seconds that closing waits for threads, which stop within hundredths


@dataclass(frozen=True)
class View:
    """What a screen shows: a session at one moment."""

    game: Game
    players: tuple[str, str]
    position: Position  #: the one shown
    ply: int  #: of the position shown
    plies: int  #: in the game so far
    moves: tuple[str, ...]
    times: tuple[float | None, ...]  #: the seconds that each took
    legal: list[str]  #: what a human may play now; empty where an earlier ply is shown
    outcome: Outcome | None  #: of the game, whatever is shown
    verdict: str
    turn: str | None  #: "you" or the player's name, None after the end
    thinking: bool
    waiting: bool  #: a player's turn, and it does not think: `go` lets it
    watching: bool  #: live analysis is on
    analysis: Analysis | None  #: the latest, of the position shown
    redoable: int
    message: str  #: the last notice or error
    seconds: float  #: spent on the current move


class Session:
    """A match, who plays it, what is shown of it, and the threads that think.

    `on_change` is called after every change, from whichever thread made it, without the lock.
    """

    def __init__(
        self,
        game: str | Game,
        first: str = roster.HUMAN,
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
        self._thinkers = seated(self.match.game, self.players)
        self._old: Match | None = None  # before the last restart
        self._left: dict[Game, Match] = {}  # other games, as they were left
        #: games whose save on disk is of the match here
        self._kept = {self.match.game.spec} if self.match.moves else set()
        self._shown: int | None = None  # a ply, None for wherever the game stands
        self._message = ""
        self._waits = False
        self._closed = False
        self._think: Think | None = None  # whose answer will be played
        self._watches = False
        self._analyst: Thinker | None = None
        self._watch: Think | None = None  # of the position shown
        with self._lock:
            self._go_on()

    # What a screen shows.

    def view(self) -> View:
        """The session now."""
        with self._lock:
            match, position = self.match, self._position
            running = match.outcome is None
            live = running and self._shown is None and self._is_human(position)
            return View(
                game=match.game,
                players=self.players,
                position=position,
                ply=self._ply,
                plies=len(match.moves),
                moves=tuple(match.moves),
                times=tuple(match.times),
                legal=position.legal if live else [],
                outcome=match.outcome,
                verdict=match.verdict,
                turn=self._turn() if running else None,
                thinking=self._think is not None,
                waiting=running and self._waits and not self._is_human(match.position),
                watching=self._watches,
                analysis=self._watch.found if self._watch else None,
                redoable=match.redoable,
                message=self._message,
                seconds=match.seconds if running else 0.0,
            )

    # What a screen asks for.

    def play(self, move: str) -> None:
        """A human's move, from the ply shown: what came after it is given up."""
        with self._change():
            position = self._position
            if self._shown is None and self.match.outcome is None and not self._is_human(position):
                _refuse(f"it is {self._turn()}'s turn")
            if self._shown is not None and not self._is_human(position):
                _refuse(f"after move {self._ply} it is {self._turn(position)}'s turn")
            position.parse(move)  # before anything is taken back
            if self._shown is not None:
                self.match.undo(len(self.match.moves) - self._ply)
            self.match.play(move)
            self._anew()

    def undo(self) -> None:
        """Back to where a human last had the choice, or from a resignation."""
        with self._change():
            if self.match.resigned is not None:
                self.match.undo(0)
            elif not self.match.undo_to(self._humans or (0, 1)):
                _refuse("there is nothing to take back")
            self._anew()
            self._waits = not self._humans

    def redo(self) -> None:
        """Play again what was taken back, up to a human's next choice."""
        with self._change():
            again = self.match.redo_to(self._humans or (0, 1))
            if not again and self._current is self.match:
                _refuse("there is nothing to play again")
            if not again:  # a player has moved since the restart
                self.match = self._current
            self._anew()
            self._waits = not self._humans

    def restart(self) -> None:
        """The same game from its start; redo brings the old one back, until a human moves."""
        with self._change():
            if self._is_begun(self.match):
                self._old = self.match
            self.match = Match(self.match.game, self._old.moves if self._old else ())
            self.match.undo(len(self.match.moves))
            self._anew()
            self._message = "A new game; redo brings the old one back." if self._old else ""

    def resign(self) -> None:
        """The human gives up: the one to move, where there are two."""
        with self._change():
            if not self._humans:
                _refuse("nobody here can resign")
            mover = self.match.position.player
            self.match.resign(mover if self._is_human(self.match.position) else 1 - mover)
            self._anew()

    def step(self, ply: int) -> None:
        """Look at an earlier ply; the last one follows the game."""
        with self._change():
            last = len(self.match.moves)
            self._shown = max(0, ply) if ply < last else None

    def choose(
        self, game: str | Game | None = None, first: str | None = None, second: str | None = None
    ) -> None:
        """Another game, or other players in this one; a game that was left is found again."""
        with self._change():
            players = (first or self.players[0]).strip(), (second or self.players[1]).strip()
            match = self.match if game is None else Match(game)
            if match.game == self.match.game:
                match = self.match
            thinkers = seated(match.game, players)  # which may refuse
            if match is not self.match:
                self._left[self.match.game] = self._current
                match, self._old = self._left.pop(match.game, match), None
            self.match, self.players, self._thinkers = match, players, thinkers
            self._anew()

    def swap(self) -> None:
        """The players change seats."""
        self.choose(first=self.players[1], second=self.players[0])

    def analyze(self, on: bool) -> None:
        """Live analysis of the position shown."""
        with self._change():
            self._watches = on

    def stop(self) -> None:
        """The player who thinks answers with the best so far."""
        with self._lock:
            if self._think:
                self._think.stop()

    def go(self) -> None:
        """Let a player think that waits: after undo without humans, or when it had no answer."""
        with self._change():
            self._waits = False

    def save(self) -> None:
        """Keep the game for `zermelo play --resume`."""
        with self._change():
            self._save(self.match)

    def close(self) -> None:
        """Stop all threads and keep what was not finished; the message says how to go on."""
        with self._lock:
            closed, self._closed = self._closed, True
            ending = [think for think in (self._think, self._watch) if think]
            self._drop()
        for think in ending:
            think.join(_JOIN)
        if closed:
            return
        with self._lock:
            self._message = ""
            for match in (*self._left.values(), self._current):  # the last is resumed first
                try:
                    self._keep(match)
                except ZermeloError as error:
                    self._message = sentence(error)

    # How the game goes on. All of this runs under the lock.

    @contextlib.contextmanager
    def _change(self) -> Iterator[None]:
        """One change: what is wrong becomes the message, then whose turn it is thinks."""
        with self._lock:
            self._message = ""
            try:
                yield
            except ZermeloError as error:
                self._message = sentence(error)
            self._go_on()
        self._tell()

    def _tell(self) -> None:
        if self.on_change:
            self.on_change()

    @property
    def _ply(self) -> int:
        return len(self.match.moves) if self._shown is None else self._shown

    @property
    def _position(self) -> Position:
        return self.match.at(self._ply)

    @property
    def _current(self) -> Match:
        """The match, or the one before it where it has hardly begun."""
        return self.match if self._old is None or self._is_begun(self.match) else self._old

    def _is_begun(self, match: Match) -> bool:
        """Whether a human has moved, or without humans anybody."""
        plies = range(len(match.moves))
        return any(not self._humans or self._is_human(match.at(ply)) for ply in plies)

    def _is_human(self, position: Position) -> bool:
        return self._thinkers[position.player] is None

    def _turn(self, position: Position | None = None) -> str:
        player = (position or self.match.position).player
        return "you" if self._thinkers[player] is None else self.players[player]

    @property
    def _humans(self) -> list[int]:
        return [seat for seat, spec in enumerate(self.players) if spec == roster.HUMAN]

    def _anew(self) -> None:
        """The game has changed: what is thought about it counts no more."""
        self._shown = None
        self._waits = False
        if self._think:
            self._think.cancel()
            self._think = None

    def _drop(self) -> None:
        self._anew()
        if self._watch:
            self._watch.cancel()
            self._watch = None

    def _go_on(self) -> None:
        """Start the thinking that is due."""
        if self._closed:
            return
        position = self.match.position
        thinker = self._thinkers[position.player]
        due = self.match.outcome is None and not self._waits and thinker is not None
        if due and self._think is None:
            assert thinker is not None
            self._think = Think(thinker, position, self._limit, on_end=self._answer)
        self._look()

    def _look(self) -> None:
        """Live analysis of what is shown."""
        position = self._position
        wanted = self._watches and not position.is_over
        if self._watch and (not wanted or self._watch.position is not position):
            self._watch.cancel()
            self._watch = None
        if wanted and self._watch is None:
            self._analyst = self._analyst or analyst()
            self._watch = Think(
                self._analyst, position, Limit(), on_thought=self._thought, on_end=self._thought
            )

    def _thought(self, think: Think) -> None:
        """From the thread of an analysis."""
        with self._lock:
            is_shown = think is self._watch
        if is_shown:
            self._tell()

    def _answer(self, think: Think) -> None:
        """From the thread of a player: its move, unless the game has gone elsewhere."""
        with self._lock:
            if think is not self._think:
                return
            self._think = None
            try:
                if think.found is None:
                    _refuse(think.error)
                symbol, move = self.match.game.symbols[think.position.player], think.found.move
                self.match.play(move)
                self._message = f"{think.thinker.player.name} ({symbol}) plays {move}"
            except ZermeloError as error:
                self._message = sentence(error)
                self._waits = True
            self._go_on()
        self._tell()

    # Keeping.

    def _save(self, match: Match) -> None:
        save = saves.Save(match.game.spec, *self.players, tuple(match.moves))
        try:
            saves.write(save)
        except OSError as error:
            moves = " ".join(save.moves)
            _refuse(f"the game could not be saved ({error.strerror}); its moves: {moves}")
        self._kept.add(save.game)
        self._message = saved_text(save)

    def _keep(self, match: Match) -> None:
        """At the end: what runs is saved, and what was saved and finished is not kept."""
        if match.outcome is None and (match.moves or match.game.spec in self._kept):
            self._save(match)
        elif match.outcome is not None and match.game.spec in self._kept:
            saves.forget(match.game.spec)


def saved_text(save: saves.Save) -> str:
    """How to go on."""
    return f"The game is saved. Go on with: {save.command()}"


def _refuse(why: str) -> NoReturn:
    raise ZermeloError(why)


def sentence(error: ZermeloError) -> str:
    """An error as a sentence of its own."""
    text = str(error)
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
