"""The contract of a game: what its rules must answer, and what they may add.

A **game** is rules without a position; a **state** is a small immutable value; a **position**
is both. A **player** is 0 (first) or 1 (second), an **action** an int, a **move** its text.
`value` is seen by the side to move, `outcome` is absolute. Legality is checked once, in
`Position.play`, `Position.parse` and `Game.position`; everything below trusts its caller.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from zermelo.core import notation
from zermelo.core.errors import BadBoard, BadMove
from zermelo.core.game.traversal import PlainTraversal
from zermelo.core.position import Position
from zermelo.core.symmetry import Symmetry

if TYPE_CHECKING:
    from zermelo.core.notation import Grid

State = Hashable


class Game(PlainTraversal, ABC):
    """Rules. Five pure functions make a game; the rest has defaults that most games keep.

    This form takes any immutable state and runs as plain Python. `WordGame` is the form
    that also compiles.
    """

    spec: str  #: the text that names this game and its parameters
    num_actions: int  #: actions are ints below this
    grid: "Grid | None" = None  #: the board, for games that have one
    symbols: str = "XO"  #: one letter a player, for text
    gravity: bool = False  #: an action is a column, whose lowest free cell takes the stone
    has_discs: bool = False  #: drawn as discs, where stones fall or flip, and not as marks
    disc_colours: tuple[str, str] = ("#1b6ca8", "#e0a126")
    #: how perft counts a finished game: not again, or once at every later depth
    counts_finished: ClassVar[bool] = False

    # The rules.

    @abstractmethod
    def initial(self) -> Any:
        """The state before the first move."""

    @abstractmethod
    def player(self, state: Any) -> int:
        """Who moves: 0 or 1; the sides take turns. In a finished game: who would move."""

    @abstractmethod
    def actions(self, state: Any) -> list[int]:
        """The legal actions, rising; empty exactly when the game is over."""

    @abstractmethod
    def play(self, state: Any, action: int) -> Any:
        """The state after a legal action; the caller vouches for its legality."""

    @abstractmethod
    def result(self, state: Any) -> tuple[Any, Any]:
        """(is it over, value for the side to move: 1, 0 or -1; 0 while it runs)."""

    # What a game may add.

    def to_text(self, action: int) -> str:
        """The move of an action."""
        return str(action)

    def parse_action(self, text: str) -> int:
        """The action that a text names, legal or not; BadMove when it names none."""
        wanted = text.strip().lower()
        for action in range(self.num_actions):
            if self.to_text(action).lower() == wanted:
                return action
        msg = f"{notation.quote_text(text)} is not a move: {self.move_forms}"
        raise BadMove(msg)

    def split_moves(self, text: str) -> list[str]:
        """A line of moves as single moves."""
        return notation.split_moves(text)

    def why_illegal(self, state: Any, action: int) -> str:
        """Why an action of this game cannot be played here."""
        del state, action
        return "it is not legal here"

    def board(self, state: Any) -> tuple[int, ...] | None:
        """The cells, flat from the top left: +1 first player, -1 second, 0 empty."""
        del state
        return None

    def from_board(self, cells: tuple[int, ...], to_move: int | None, *, checked: bool) -> Any:
        """The state with these cells. `checked`: BadBoard for one that play cannot reach."""
        del cells, to_move, checked
        msg = f"{self.spec} has no board to start from: give moves"
        raise BadBoard(msg)

    def winning_line(self, state: Any) -> tuple[int, ...] | None:
        """The cells of the line that decided the game."""
        del state
        return None

    def remark(self, state: Any, last: int | None) -> str:
        """What to add to who won: a count, or why the last action lost."""
        del state, last
        return ""

    def forbidden(self, state: Any) -> list[int]:
        """The legal actions that lose at once by rule, as in renju."""
        del state
        return []

    def last_cell(self, state: Any, action: int) -> int | None:
        """The cell that `action`, the last one played, filled in `state`."""
        del state
        return action if self.grid and action < self.grid.size else None

    def cell_hint(self, state: Any, cell: int) -> str:
        """What to type for an empty cell in a board drawn with hints; "" where nothing goes."""
        return self.to_text(cell) if cell in self.actions(state) else ""

    @property
    def column_labels(self) -> tuple[str, ...]:
        """What stands above the columns."""
        return self.grid.letters if self.grid else ()

    @property
    def move_forms(self) -> str:
        """The forms of move a prompt offers."""
        return f"{self.to_text(0)} to {self.to_text(self.num_actions - 1)}"

    def draw(self, state: Any) -> str:
        """A state of a game without a board, as text."""
        return str(state)

    def symmetries(self) -> tuple[Symmetry, ...]:
        """The symmetries that keep the rules, the identity first; () where none are known."""
        return ()

    # What every game has.

    def start(self) -> Position:
        """The position before the first move."""
        return Position(self, self.initial())

    def position(
        self,
        board: str | Sequence[int] | None = None,
        to_move: int | None = None,
        *,
        moves: str | Iterable[str] | None = None,
        unchecked: bool = False,
    ) -> Position:
        """A position from a board or from moves, checked; the start without either."""
        if board is not None and moves is not None:
            msg = "a position comes from a board or from moves, not from both"
            raise BadBoard(msg)
        if board is None:
            position = self.start()
            for move in self.split_moves(moves) if isinstance(moves, str) else moves or ():
                position = position.play(move)
            return position
        if isinstance(board, str):
            if self.grid is None:
                self.from_board((), to_move, checked=True)
            assert self.grid is not None
            cells, side = notation.parse_board(board, self.grid)
            if side is not None and to_move is not None and side != to_move:
                msg = f"the board says {self.symbols[side]} moves, to_move says otherwise"
                raise BadBoard(msg)
            to_move = side if side is not None else to_move
        else:
            cells = tuple(board)
            self._check_cells(cells)
        if to_move not in (None, 0, 1):
            msg = f"to_move is {to_move}: it must be 0 or 1"
            raise BadBoard(msg)
        return Position(self, self.from_board(cells, to_move, checked=not unchecked), None)

    def parse_position(self, line: str) -> Position:
        """The position that a line of text names: `board:` and a board, or moves from the start."""
        line = line.strip()
        if line.startswith("board:"):
            return self.position(line.removeprefix("board:").strip())
        return self.position(moves=line)

    def _check_cells(self, cells: tuple[Any, ...]) -> None:
        if self.grid is None or len(cells) != self.grid.size:
            size = self.grid.size if self.grid else 0
            msg = f"{len(cells)} cells do not make the board of {self.spec}: it has {size}"
            raise BadBoard(msg)
        wrong = next((c for c in cells if isinstance(c, bool) or c not in (-1, 0, 1)), None)
        if wrong is not None:
            msg = f"{notation.quote_text(str(wrong))} in a board: a cell is 1, -1 or 0"
            raise BadBoard(msg)

    def __eq__(self, other: object) -> bool:
        """Equal specs are equal rules."""
        return isinstance(other, Game) and (type(self), self.spec) == (type(other), other.spec)

    def __hash__(self) -> int:
        """As equality has it."""
        return hash((type(self), self.spec))

    def __str__(self) -> str:
        """The spec."""
        return self.spec

    def __repr__(self) -> str:
        """As Python would make it."""
        return f"<game {self.spec}>"
