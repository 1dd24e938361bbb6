"""A match: one game between two sides, with undo and resignation. Every screen drives this."""

from collections.abc import Iterable

from zermelo.contract import Game
from zermelo.errors import IllegalMove
from zermelo.games import registry
from zermelo.players import Analysis, Limit, Player
from zermelo.position import Outcome, Position


class Match:
    """A game being played: the positions so far, and a resignation if there was one.

    >>> import zermelo as z
    >>> match = Match(z.game("tictactoe"), ["b2", "a1"])
    >>> match.play("c1").player, match.undo().moves
    (1, ['b2', 'a1'])
    """

    def __init__(self, game: Game | str, moves: str | Iterable[str] = ()) -> None:
        self.game = game = registry.game(game) if isinstance(game, str) else game
        self._positions = [game.start()]
        self.resigned: int | None = None  #: the player who gave up
        for move in game.split(moves) if isinstance(moves, str) else moves:
            self.play(move)

    @property
    def position(self) -> Position:
        """Where the game stands."""
        return self._positions[-1]

    @property
    def moves(self) -> list[str]:
        """The moves so far."""
        return self.position.moves or []

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
            self._positions.pop()
        return self.position

    def resign(self, player: int | None = None) -> None:
        """The side to move, or the one named, gives up."""
        self._check_running("resign")
        if player not in (None, 0, 1):
            msg = f"player {player} cannot resign: 0 or 1"
            raise IllegalMove(msg)
        self.resigned = self.position.player if player is None else player

    def _check_running(self, move: str) -> None:
        if self.resigned is not None:
            msg = f"{move} in {self.game.spec}: the game is over: {self.verdict}"
            raise IllegalMove(msg)
