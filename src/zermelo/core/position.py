"""Positions, the main objects of the API, and the outcomes of finished games.

A position checks moves and explains why a move is illegal; its game provides the rules.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from zermelo.core import drawing, notation
from zermelo.core.errors import BadBoard, BadMove, BadSpec, IllegalMove

if TYPE_CHECKING:
    from zermelo.core.game import Game

_MAX_SHOWN_MOVES = 12


class Outcome(Enum):
    """How a finished game ended, independent of the side to move."""

    FIRST = "first"
    SECOND = "second"
    DRAW = "draw"

    @property
    def winner(self) -> int | None:
        """The player who won, None for a draw."""
        return {Outcome.FIRST: 0, Outcome.SECOND: 1, Outcome.DRAW: None}[self]

    @classmethod
    def from_value(cls, value: int, player: int) -> "Outcome":
        """Return the outcome of a game whose value for `player` is 1, 0 or -1."""
        if value == 0:
            return cls.DRAW
        return (cls.FIRST, cls.SECOND)[player if value > 0 else 1 - player]


def replay(game: "Game", state: Any, line: Iterable[int]) -> Iterator[tuple[Any, int]]:
    """Yield (state, action) for each action of a line of legal actions, played from a state."""
    for action in line:
        yield state, action
        state = game.play(state, action)


@dataclass(frozen=True, slots=True)
class Position:
    """A game and a state. Positions are immutable: `play` returns a new one.

    >>> import zermelo as z
    >>> pos = z.game("tictactoe").start().play("b2").play("a1")
    >>> pos.player, pos.legal[:3], pos.outcome
    (0, ['b1', 'c1', 'a2'], None)
    >>> pos.play("b2")
    Traceback (most recent call last):
    zermelo.core.errors.IllegalMove: illegal move 'b2' in tictactoe after b2 a1: the cell is \
taken; legal: b1 c1 a2 c2 a3 b3 c3
    """

    game: "Game"
    state: Any
    #: the actions from the start to this position; None if play began with a given board
    history: tuple[int, ...] | None = field(default=(), compare=False)
    last_action: int | None = field(default=None, compare=False)
    #: the state before the last action
    previous: Any = field(default=None, compare=False, repr=False)

    @property
    def player(self) -> int:
        """The side to move, 0 or 1."""
        return self.game.player(self.state)

    @property
    def actions(self) -> list[int]:
        """The legal actions in ascending order; empty when the game is over."""
        return self.game.actions(self.state)

    @property
    def legal(self) -> list[str]:
        """The legal moves, in the order of the actions."""
        return [self.to_move_text(action) for action in self.actions]

    @property
    def moves(self) -> list[str] | None:
        """The moves from the start to this position; None if play began with a given board."""
        if self.history is None:
            return None
        line = replay(self.game, self.game.initial(), self.history)
        return [self.game.to_text(state, action) for state, action in line]

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return bool(self.game.result(self.state)[0])

    @property
    def outcome(self) -> Outcome | None:
        """How the game ended, None if it is not over."""
        over, value = self.game.result(self.state)
        return Outcome.from_value(value, self.player) if over else None

    @property
    def board(self) -> tuple[int, ...] | None:
        """The cells, row by row from the top left: +1 first player, -1 second, 0 empty."""
        return self.game.board(self.state)

    @property
    def winning_line(self) -> tuple[int, ...] | None:
        """The cells of the line that decided the game; in Squava, this may be a losing line."""
        return self.game.winning_line(self.state)

    @property
    def forbidden(self) -> list[str]:
        """The legal moves that lose immediately by rule: black's forbidden points in renju."""
        return [self.to_move_text(action) for action in self.game.forbidden(self.state)]

    @property
    def last_cells(self) -> tuple[int, ...]:
        """The cells of the last move: the one it filled, or those a piece moved from and to."""
        last = self.last_action
        return () if last is None else self.game.move_cells(self.previous, last)

    @property
    def last_cell(self) -> int | None:
        """The cell that the last move filled."""
        return next(reversed(self.last_cells), None)

    @property
    def movers(self) -> list[int] | None:
        """The player of each move from the start; None if play began with a given board."""
        if self.history is None:
            return None
        line = replay(self.game, self.game.initial(), self.history)
        return [self.game.player(state) for state, _ in line]

    @property
    def key(self) -> tuple[str, Any]:
        """A key that two positions share if and only if game, state and side to move are equal."""
        return (self.game.spec, self.state)

    def parse(self, move: str) -> int:
        """Return the legal action that a text names; raise IllegalMove if there is none."""
        if not isinstance(move, str):
            msg = (
                f"a move must be a string such as {self.to_move_text(0)!r}, not {move!r}: "
                "use play_action for an action"
            )
            raise BadMove(msg)
        actions = self.actions
        try:
            action = self.game.parse_action(self.state, move)
        except BadMove as error:
            raise IllegalMove(self._explain_illegal(move, str(error), actions)) from None
        if action not in actions:
            reason = self.game.why_illegal(self.state, action) if actions else ""
            raise IllegalMove(self._explain_illegal(move, reason, actions))
        return action

    def check_action(self, action: int) -> int:
        """Return an action unchanged if it is legal here; raise IllegalMove if it is not."""
        actions = self.actions
        if action not in actions:
            is_known = 0 <= action < self.game.num_actions
            move = self.to_move_text(action) if is_known else str(action)
            reason = self.game.why_illegal(self.state, action) if is_known else "no such action"
            raise IllegalMove(self._explain_illegal(move, reason if actions else "", actions))
        return action

    def to_move_text(self, action: int) -> str:
        """Return the text of an action in this position."""
        return self.game.to_text(self.state, action)

    def play(self, move: str) -> "Position":
        """Return the position after a move; raise IllegalMove if it is not legal."""
        return self.play_action(self.parse(move))

    def play_action(self, action: int) -> "Position":
        """Return the position after an action, which the caller knows to be legal."""
        history = None if self.history is None else (*self.history, action)
        state = self.game.play(self.state, action)
        return Position(self.game, state, history, action, self.state)

    def _explain_illegal(self, move: str, reason: str, actions: list[int]) -> str:
        after = ""
        if self.history:
            moves = (self.moves or [])[-_MAX_SHOWN_MOVES:]
            cut = "… " if len(self.history) > _MAX_SHOWN_MOVES else ""
            after = f" after {cut}{' '.join(moves)}"
        head = f"illegal move {notation.quote_text(move)} in {self.game.spec}{after}"
        if self.outcome:
            return f"{head}: the game is over: {self.verdict}"
        legal = [self.to_move_text(a) for a in actions[:_MAX_SHOWN_MOVES]]
        more = f" and {len(actions) - len(legal)} more" if len(actions) > len(legal) else ""
        return f"{head}: {reason}; legal: {' '.join(legal)}{more}"

    @property
    def verdict(self) -> str:
        """A text that says who has won, that the game is drawn, or who is to move."""
        outcome = self.outcome
        if outcome is None:
            return f"{self.game.symbols[self.player]} to move"
        remark = self.game.remark(self.state, self.last_action)
        if outcome.winner is None:
            return f"a draw{remark}"
        return f"{self.game.symbols[outcome.winner]} wins{remark}"

    def to_text(self, **options: Any) -> str:
        """Return the board as text; for the options see `zermelo.core.drawing.to_text`.

        Without options, `game.position(text)` returns an equal position. If the board alone does
        not determine the position, a last line names the side to move or lists the moves.
        """
        text = drawing.to_text(self, **options)
        line = "" if options else self._last_line()
        return f"{text}\n{line}" if line else text

    def _last_line(self) -> str:
        """Return the line that must follow the board to determine the position; "" if none."""
        symbol = self.game.symbols[self.player]
        side = f"{symbol} would be next" if self.is_over else f"{symbol} to move"
        if self._follows_from_board(None):
            return ""
        if self.history is None or self._follows_from_board(self.player):
            return side
        return " ".join([notation.MOVES_LINE, *(self.moves or ())])

    def _follows_from_board(self, to_move: int | None) -> bool:
        """Return whether the board and this side to move determine the position."""
        board = self.board
        if self.game.grid is None or board is None:
            return False
        try:
            return bool(self.game.from_board(board, to_move, checked=False) == self.state)
        except BadBoard:
            return False

    def describe(self) -> str:
        """Return the game and the last moves in a few words, such as `tictactoe after b2 a1`."""
        if self.history is None:
            return f"{self.game.spec} on a given board"
        if not self.history:
            return f"{self.game.spec} at the start"
        moves = (self.moves or [])[-_MAX_SHOWN_MOVES:]
        cut = "… " if len(self.history) > _MAX_SHOWN_MOVES else ""
        return f"{self.game.spec} after {cut}{' '.join(moves)}"

    def svg(self, **options: Any) -> str:
        """Return the board as a picture; for the options see `zermelo.core.drawing.to_svg`."""
        return drawing.to_svg(self, **options)

    def _repr_svg_(self) -> str:
        return self.svg()

    def __str__(self) -> str:
        """Return the board with its axes."""
        return self.to_text()

    def __repr__(self) -> str:
        """Return the game, the last moves and the verdict in angle brackets."""
        return f"<position of {self.describe()}: {self.verdict}>"


def as_position(position: Position) -> Position:
    """Return a position unchanged; raise BadSpec for anything else."""
    if not isinstance(position, Position):
        msg = (
            "a position is a zermelo.Position such as zermelo.game('tictactoe').start(), "
            f"not {notation.show_value(position)}"
        )
        raise BadSpec(msg)
    return position
