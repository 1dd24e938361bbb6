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
from zermelo.core.bitboard import WORD_BITS, Word, bits
from zermelo.core.errors import BadBoard, BadMove
from zermelo.core.position import Position
from zermelo.core.symmetry import Symmetry, turn_word
from zermelo.core.traversal import BoardWalk, PlainWalk, WordWalk

if TYPE_CHECKING:
    from zermelo.core.notation import Grid

State = Hashable


class Game(PlainWalk, ABC):
    """Rules. Five pure functions make a game; the rest has defaults that most games keep.

    This form takes any immutable state and runs as plain Python. `WordGame` is the form
    that also compiles.
    """

    spec: str  #: the text that names this game and its parameters
    num_actions: int  #: actions are ints below this
    grid: "Grid | None" = None  #: the board, for games that have one
    symbols: str = "XO"  #: one letter a player, for text
    gravity: bool = False  #: an action is a column, whose lowest free cell takes the stone
    discs: bool = False  #: drawn as discs, where stones fall or flip, and not as marks
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
        msg = f"{notation.shown(text)} is not a move: {self.move_forms}"
        raise BadMove(msg)

    def split(self, text: str) -> list[str]:
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
            for move in self.split(moves) if isinstance(moves, str) else moves or ():
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

    def read(self, line: str) -> Position:
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
            msg = f"{notation.shown(str(wrong))} in a board: a cell is 1, -1 or 0"
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


class MaskGame(Game):
    """A game whose legal actions are a mask and whose states end with the player to move.

    A forced pass needs no bit: while the game runs, an empty mask means that the only action
    is the last, `num_actions - 1`.
    """

    #: the first so many entries of a state are boards, which symmetries move; the rest stay
    num_boards: ClassVar[int] = 2

    @abstractmethod
    def legal(self, state: Any) -> Any:
        """The legal actions as a mask, while the game runs; what it says afterwards is unused."""

    def player(self, state: Any) -> int:
        """The last entry of a state."""
        return int(state[-1])

    def handed_over(self, state: Any) -> Any:
        """The same board with the other side to move, for games of two boards and a player."""
        mine, theirs, *rest, player = state
        return (theirs, mine, *rest, 1 - player)

    def moved(self, state: Any, symmetry: Symmetry) -> Any:
        """A state as a symmetry moves it."""
        boards = (symmetry.word(board) for board in state[: self.num_boards])
        return (*boards, *state[self.num_boards :])

    def actions(self, state: Any) -> list[int]:
        """The legal actions, rising."""
        if self.result(state)[0]:
            return []
        return bits(self.legal(state)) or [self.num_actions - 1]


class WordGame(WordWalk, MaskGame):
    """A game whose state is a tuple of words, so that its rules compile to native code.

    Write `legal`, `play` and `result` with words only (see `zermelo.core.bitboard`) and annotate every
    constant they read: `Word` for boards, `int` for counts, `bool` for switches. At most 64
    actions, not counting a forced pass.
    """

    num_words: ClassVar[int] = 3  #: words in a state
    #: a state can be reached at one ply only, as where every move adds a stone
    layered: bool = False
    #: constants are compiled in; False shares one compilation among all sizes of a class
    specialised: bool = True

    # Hooks of the solver: what a game knows without search. The defaults know the rules only.

    far: int = 1000  #: a win in n plies scores far - n; above the length of every game
    ply_cost: int = 1  #: 0 where scores do not tell how far away they are
    soonest_win: int = 1  #: plies to the nearest win that `quick` may have missed
    soonest_loss: int = 1
    history: int = 0  #: rank to add for the move that closed most windows elsewhere
    #: distances near the ends are asked for before win, draw or loss: where games are long
    ends_first: bool = False

    def quick(self, state: Any) -> Any:
        """(known, score, moves): a score that needs no search, or the moves worth trying."""
        over, value = self.result(state)
        return over, value * self.far, self.legal(state)

    def within(self, state: Any, alpha: Any, beta: Any) -> Any:  # noqa: ARG002 - it compiles so
        """(known, score): the score, or a bound outside the window, that needs no search."""
        return False, 0

    def keeps(self, state: Any) -> Any:  # noqa: ARG002 - it compiles as it stands
        """Whether a state is worth a place in the table: not where search is sooner done."""
        return True

    def reply(self, state: Any, index: Any) -> Any:
        """What `quick` says after one of the moves that it left."""
        return self.quick(self.as_words(self.play_at(state, index)))

    def bounds(self, state: Any, alpha: Any, beta: Any) -> Any:  # noqa: ARG002 - it compiles so
        """(low, high) for a state that `quick` did not settle; what the window leaves open."""
        return self.soonest_loss - self.far, self.far - self.soonest_win

    def clashes(self, root: Any, image: Any) -> Any:  # noqa: ARG002 - it compiles as it stands
        """Whether no state can come after both a root and its image under a symmetry."""
        return False

    def longest(self, state: Any) -> int:  # noqa: ARG002 - it compiles as it stands
        """The most plies a game can last from here: bounds the scores that can occur."""
        return self.far - 1

    def play_at(self, state: Any, index: Any) -> Any:
        """The state after the move that bit `index` of `quick`'s moves stands for."""
        return self.play(state, index)

    def action_at(self, index: int) -> int:
        """The action of that move."""
        return index

    def rank(self, state: Any, index: Any) -> Any:  # noqa: ARG002 - it compiles as it stands
        """How promising such a move is; higher is tried first."""
        return 0

    scale: float = 1000.0  #: the estimate that means probably winning

    def evaluate(self, state: Any) -> Any:  # noqa: ARG002 - it compiles as it stands
        """An estimate of a state's score where a search must stop; small beside `far`."""
        return 0

    def learned(self, state: Any, net: Any, room: Any) -> Any:  # noqa: ARG002 - it compiles so
        """The same by a network: its weights, and room for its layers. See `learn/valued.py`."""
        return 0

    def load(self, states: Any, row: int) -> tuple[Word, ...]:
        """The state that begins one row of an array; the compiler writes its own."""
        return tuple(int(x) for x in states[row, : self.num_words])

    def store(self, states: Any, row: int, state: tuple[Word, ...]) -> None:
        """A state into one row of an array; the compiler writes its own."""
        states[row, : self.num_words] = state

    def as_words(self, state: tuple[Word, ...]) -> tuple[Word, ...]:
        """A state whatever types the rules made of it; the compiler writes its own."""
        return state

    one_word: bool = False  #: `whole` tells states apart for the solver's table

    def whole(self, state: Any) -> Any:
        """All that matters of a state in one word, where that is possible."""
        return state[0]

    def key(self, state: tuple[Word, ...]) -> tuple[Word, ...]:
        """What the solver's table knows a state by; the compiler writes its own."""
        return (self.whole(state),) if self.one_word else state

    def load_key(self, table: Any, row: int) -> tuple[Word, ...]:
        """The key that begins one row of an array; the compiler writes its own."""
        return tuple(int(x) for x in table[row, : 1 if self.one_word else self.num_words])

    def store_key(self, table: Any, row: int, key: tuple[Word, ...]) -> None:
        """A key into one row of an array; the compiler writes its own."""
        table[row, : len(key)] = key

    def turned(self, state: tuple[Word, ...], table: Any) -> tuple[Word, ...]:
        """A state moved by a symmetry, whose byte table this is; the compiler writes its own."""
        boards = (turn_word(board, table) for board in state[: self.num_boards])
        return (*boards, *state[self.num_boards :])

    def signed(self) -> "WordGame":
        """The same rules with constants for int64 tensors, where bit 63 is the sign."""
        import copy

        twin = copy.copy(self)
        for name, value in vars(self).items():
            object.__setattr__(twin, name, _signed(value))
        return twin


class BoardGame(BoardWalk, MaskGame):
    """A game on a board above 64 cells: its kernels work on one padded array of cells.

    They make and unmake moves there, with `landing` and `judge`; ordinary code, no masks. The
    same methods run on a bytearray. A stone is 1 (first player) or 2, a free cell 0, and the
    border of one cell all around is 3.
    """

    cells: int  #: how many there are, without the border
    stride: int  #: from a cell to the one below it
    specialised: bool = False  #: as in WordGame

    @abstractmethod
    def to_cells(self, state: Any) -> bytearray:
        """The padded board of a state."""

    @abstractmethod
    def landing(self, cells: Any, action: Any) -> Any:
        """Where in the padded board an action puts its stone."""

    @abstractmethod
    def list_open(self, cells: Any, moves: Any) -> Any:
        """Write the actions that can be played to `moves`; returns how many."""

    @abstractmethod
    def is_spent(self, cells: Any, action: Any) -> Any:
        """Whether an action just played cannot be played again."""

    @abstractmethod
    def judge(self, cells: Any, at: Any, left: Any) -> Any:
        """`result` after the stone on `at`, with `left` free cells; value for the next mover."""


def _signed(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_signed(item) for item in value)
    if isinstance(value, int) and value >> (WORD_BITS - 1) == 1:
        return value - (1 << WORD_BITS)
    return value
