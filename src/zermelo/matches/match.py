"""A match: one game of two sides, with undo, redo and resignation. Every screen drives this."""

import time
from collections.abc import Collection, Iterable

from zermelo.core.errors import IllegalMove
from zermelo.core.game import Game
from zermelo.core.player import Analysis, Limit, Player
from zermelo.core.position import Outcome, Position
from zermelo.games import registry


class Match:
    """A game being played: the positions so far, and a resignation if there was one.

    >>> import zermelo as z
    >>> match = Match(z.game("tictactoe"), ["b2", "a1"])
    >>> match.play("c1").player, match.undo().moves, match.redo().moves
    (1, ['b2', 'a1'], ['b2', 'a1', 'c1'])
    """

    def __init__(self, game: Game | str, moves: str | Iterable[str] = ()) -> None:
        self.game = game = registry.game(game) if isinstance(game, str) else game
        self._positions = [game.start()]
        self._seconds: list[float | None] = []
        #: what was taken back, the first of it last
        self._undone: list[tuple[Position, float | None]] = []
        self._begin = time.perf_counter()
        self.resigned: int | None = None  #: the player who gave up
        for move in game.split(moves) if isinstance(moves, str) else moves:
            self.play(move)
        self._seconds = [None] * len(self._seconds)

    @property
    def position(self) -> Position:
        """Where the game stands."""
        return self._positions[-1]

    @property
    def positions(self) -> list[Position]:
        """Every position so far, from the start to the current one."""
        return list(self._positions)

    def at(self, ply: int) -> Position:
        """The position after so many moves, at most those played."""
        return self._positions[ply]

    @property
    def moves(self) -> list[str]:
        """The moves so far."""
        return self.position.moves or []

    @property
    def times(self) -> list[float | None]:
        """The seconds that each move took; None for those that were played elsewhere."""
        return list(self._seconds)

    @property
    def seconds(self) -> float:
        """Since the last move, or since it was taken back."""
        return time.perf_counter() - self._begin

    @property
    def outcome(self) -> Outcome | None:
        """How it ended, None while it runs."""
        if self.resigned is not None:
            return Outcome.of(-1, self.resigned)
        return self.position.outcome

    @property
    def verdict(self) -> str:
        """How it stands, in words."""
        if self.resigned is None:
            return self.position.verdict
        loser, winner = self.game.symbols[self.resigned], self.game.symbols[1 - self.resigned]
        return f"{winner} wins: {loser} resigned"

    def play(self, move: str) -> Position:
        """A move as text; IllegalMove leaves the match as it was."""
        self._check_running(move)
        self._positions.append(self.position.play(move))
        self._seconds.append(self.seconds)
        self._undone.clear()
        self._begin = time.perf_counter()
        return self.position

    def reply(self, player: Player, limit: Limit | None = None) -> Analysis:
        """Let a player move."""
        answer = player.choose(self.position, limit)
        self.play(answer.move)
        return answer

    def undo(self, moves: int = 1) -> Position:
        """Take back the last moves, as far as there are any."""
        self.resigned = None
        for _ in range(min(moves, len(self._positions) - 1)):
            self._undone.append((self._positions.pop(), self._seconds.pop()))
        self._begin = time.perf_counter()
        return self.position

    def redo(self, moves: int = 1) -> Position:
        """Play again what was taken back, as far as there is any; a new move forgets it."""
        for _ in range(min(moves, len(self._undone))):
            position, seconds = self._undone.pop()
            self._positions.append(position)
            self._seconds.append(seconds)
        self._begin = time.perf_counter()
        return self.position

    def undo_to(self, seats: Collection[int]) -> int:
        """Back to where one of these players last had the choice; how many moves that took.

        Where none of them had one yet, nothing is taken back.
        """
        last = len(self._positions) - 1
        plies = (ply for ply in reversed(range(last)) if self.at(ply).player in seats)
        taken = last - next(plies, last)
        if taken:
            self.undo(taken)
        return taken

    def redo_to(self, seats: Collection[int]) -> int:
        """On to where one of them had the choice again, or to the end; how many moves it took."""
        before = self.redoable
        if before:
            self.redo()
        while self.redoable and self.position.player not in seats:
            self.redo()
        return before - self.redoable

    @property
    def redoable(self) -> int:
        """How many moves can be played again."""
        return len(self._undone)

    def resign(self, player: int | None = None) -> None:
        """The side to move, or the one named, gives up."""
        self._check_running("resign")
        if player not in (None, 0, 1):
            msg = f"player {player} cannot resign: 0 or 1"
            raise IllegalMove(msg)
        self.resigned = self.position.player if player is None else player
        self._undone.clear()

    def _check_running(self, move: str) -> None:
        # A move after the end is refused by its position, in more words.
        if self.resigned is not None or (move == "resign" and self.outcome is not None):
            msg = f"{move} in {self.game.spec}: the game is over: {self.verdict}"
            raise IllegalMove(msg)
