"""A match: one game between two sides, with undo, redo and resignation; every screen uses it."""

import time
from collections.abc import Collection, Iterable
from typing import NoReturn

from zermelo.core.errors import IllegalMove
from zermelo.core.game import Game
from zermelo.core.player import Analysis, Limit, Player
from zermelo.core.position import Outcome, Position
from zermelo.games.registry import GameLike, as_game
from zermelo.players.registry import PlayerLike, as_player


class Match:
    """A game being played: all its positions, and the resignation if there was one.

    >>> import zermelo as z
    >>> match = Match(z.game("tictactoe"), ["b2", "a1"])
    >>> match.play("c1").player, match.undo().moves, match.redo().moves
    (1, ['b2', 'a1'], ['b2', 'a1', 'c1'])
    """

    def __init__(self, game: GameLike, moves: str | Iterable[str] = ()) -> None:
        self.game: Game = as_game(game)
        self.resigned: int | None = None  #: the player who resigned
        self._positions = [self.game.start()]
        self._players: dict[str, Player] = {}  # the players that specs given to `reply` name
        for action in self.game.position(moves=moves).history or ():
            self._positions.append(self.position.play_action(action))
        self._seconds: list[float | None] = [None] * (len(self._positions) - 1)
        self._undone: list[tuple[Position, float | None]] = []  # the last one is redone first
        self._turn_began = time.perf_counter()

    @property
    def position(self) -> Position:
        """The current position."""
        return self._positions[-1]

    @property
    def positions(self) -> list[Position]:
        """All positions, from the start to the current one."""
        return list(self._positions)

    def position_at(self, ply: int) -> Position:
        """Return the position after the first `ply` moves; that many must have been played."""
        return self._positions[ply]

    @property
    def moves(self) -> list[str]:
        """The moves so far."""
        return self.position.moves or []

    @property
    def movers(self) -> list[int]:
        """The player of each move."""
        return [position.player for position in self._positions[:-1]]

    @property
    def move_seconds(self) -> list[float | None]:
        """How many seconds each move took; None for the moves that the match started with."""
        return list(self._seconds)

    @property
    def seconds(self) -> float:
        """The seconds since the last move, undo or redo."""
        return time.perf_counter() - self._turn_began

    @property
    def outcome(self) -> Outcome | None:
        """How the match ended, by the rules or by resignation; None while it runs."""
        if self.resigned is not None:
            return Outcome.from_value(-1, self.resigned)
        return self.position.outcome

    @property
    def verdict(self) -> str:
        """A text that says who has won, that it is a draw, or who is to move."""
        if self.resigned is None:
            return self.position.verdict
        loser, winner = self.game.symbols[self.resigned], self.game.symbols[1 - self.resigned]
        return f"{winner} wins: {loser} resigned"

    def play(self, move: str) -> Position:
        """Play a move and return the new position; an illegal move leaves the match unchanged."""
        if self.resigned is not None:  # after an end by the rules, `Position.play` rejects moves
            self._refuse(move)
        self._positions.append(self.position.play(move))
        self._seconds.append(self.seconds)
        self._undone.clear()
        self._turn_began = time.perf_counter()
        return self.position

    def reply(self, player: PlayerLike, limit: Limit | None = None) -> Analysis:
        """Let a player choose a move, play it, and return the player's analysis.

        The player is a spec, a `Player` or a function from a position to a move. The same
        player makes all replies with the same spec.
        """
        if isinstance(player, str):
            player = self._players.setdefault(player, as_player(player))
        analysis = as_player(player).choose(self.position, limit)
        self.play(analysis.move)
        return analysis

    def play_out(
        self, first: PlayerLike, second: PlayerLike, limit: Limit | None = None
    ) -> Outcome:
        """Let two players finish the game, with this limit for each move; return the outcome.

        >>> Match("tictactoe").play_out("perfect", lambda position: position.legal[0]).winner
        0
        """
        seats = as_player(first), as_player(second)
        while self.outcome is None:
            self.reply(seats[self.position.player], limit)
        return self.outcome

    def undo(self, moves: int = 1) -> Position:
        """Take back any resignation and the last `moves` moves, or all moves if there are fewer."""
        self.resigned = None
        for _ in range(min(moves, len(self._positions) - 1)):
            self._undone.append((self._positions.pop(), self._seconds.pop()))
        self._turn_began = time.perf_counter()
        return self.position

    def redo(self, moves: int = 1) -> Position:
        """Replay up to `moves` moves that were taken back; after a new move, none are left."""
        for _ in range(min(moves, len(self._undone))):
            position, seconds = self._undone.pop()
            self._positions.append(position)
            self._seconds.append(seconds)
        self._turn_began = time.perf_counter()
        return self.position

    def undo_to_turn(self, players: Collection[int]) -> int:
        """Undo the last move of these players and all later moves; return how many were undone.

        If none of these players has moved yet, nothing is undone.
        """
        last = len(self._positions) - 1
        turns = (ply for ply in reversed(range(last)) if self._positions[ply].player in players)
        num_moves = last - next(turns, last)
        if num_moves:
            self.undo(num_moves)
        return num_moves

    def redo_to_turn(self, players: Collection[int]) -> int:
        """Redo moves until one of these players is to move; return how many were redone."""
        before = self.num_redoable
        if before:
            self.redo()
        while self.num_redoable and self.position.player not in players:
            self.redo()
        return before - self.num_redoable

    @property
    def num_redoable(self) -> int:
        """The number of moves that `redo` can play again."""
        return len(self._undone)

    def resign(self, player: int | None = None) -> None:
        """Resign for the side to move, or for `player`; raise IllegalMove if the game is over."""
        if self.outcome is not None:
            self._refuse("resign")
        if player not in (None, 0, 1):
            msg = f"player {player} cannot resign: it must be 0 or 1"
            raise IllegalMove(msg)
        self.resigned = self.position.player if player is None else player
        self._undone.clear()

    def __repr__(self) -> str:
        """Return the game, the last moves and the verdict in angle brackets."""
        return f"<match of {self.position.describe()}: {self.verdict}>"

    def _refuse(self, move: str) -> NoReturn:
        msg = f"{move} in {self.game.spec}: the game is over: {self.verdict}"
        raise IllegalMove(msg)
