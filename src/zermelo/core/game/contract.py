"""The contract of a game: the rules that it must define, and the methods that it may add.

A **game** is rules without a position; a **state** is a small immutable value; a **position**
is a game with a state. A **player** is 0 (first) or 1 (second), an **action** is an int, and a
**move** is the text of an action.
A `value` is relative to the side to move, an `outcome` is absolute. Legality is checked once, in
`Position.play`, `Position.parse` and `Game.position`; the code that they call trusts its caller.
"""

import hashlib
import inspect
import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from zermelo.core import notation
from zermelo.core.errors import BadBoard, BadMove
from zermelo.core.game.traversal import PlainTraversal
from zermelo.core.phrases import count
from zermelo.core.position import Position, replay
from zermelo.core.symmetry import Symmetry
from zermelo.core.value import Value

if TYPE_CHECKING:
    from zermelo.core.notation import Grid


class Game(PlainTraversal, ABC):
    """The rules of a game. Five pure functions define a game; all other methods have defaults.

    A state may be any immutable value, and the rules run as plain Python. The rules of a `WordGame`
    also compile.
    """

    if TYPE_CHECKING:
        spec: str  #: the text that names this game and its parameters
    else:

        @cached_property
        def spec(self) -> str:
            """The default spec, for games that set none: the class and the constructor's arguments.

            The registry and the loaders of files set the spec of the games that they create.
            """
            return default_spec(self)

    num_actions: int  #: the number of actions; the actions are 0, 1, …, num_actions - 1
    grid: "Grid | None" = None  #: the board, for games that have one
    symbols: str = "XO"  #: one letter for each player
    gravity: bool = False  #: whether actions are columns, in which stones fall to the bottom
    has_discs: bool = False  #: whether boards are drawn with discs instead of marks
    disc_colours: tuple[str, str] = ("#1b6ca8", "#e0a126")
    #: whether the sides always take turns; if not, as with extra turns, `player` says who moves
    is_alternating: ClassVar[bool] = True
    #: whether a finished game has a score beyond win, draw and loss: see `score`
    has_scores: ClassVar[bool] = False
    score_unit: ClassVar[str] = "point"  #: what a score counts, in the singular
    #: whether perft counts a finished game again at every later depth
    counts_finished: ClassVar[bool] = False

    # The rules.

    @abstractmethod
    def initial(self) -> Any:
        """Return the state before the first move."""

    @abstractmethod
    def player(self, state: Any) -> int:
        """Return the side to move, 0 or 1; in a finished game, the side that would be next.

        The sides alternate unless `is_alternating` is False.
        """

    @abstractmethod
    def actions(self, state: Any) -> list[int]:
        """Return the legal actions in ascending order; empty exactly when the game is over."""

    @abstractmethod
    def play(self, state: Any, action: int) -> Any:
        """Return the state after an action, which the caller knows to be legal."""

    @abstractmethod
    def result(self, state: Any) -> tuple[Any, Any]:
        """Return (is_over, value): the value for the side to move is 1, 0 or -1; 0 if not over."""

    # Methods that a game may override.

    def score(self, state: Any) -> Any:
        """Return the score of a finished game for the side to move, such as its lead in points.

        The score must be positive in a win, 0 in a draw and negative in a loss. Only games with
        `has_scores` need this method. Best play then means the highest score.
        """
        del state
        return 0

    def evaluate(self, state: Any) -> float:
        """Return an estimate of an unfinished state for the side to move, between -1 and 1.

        Searches in plain Python use it at their horizon. Games that compile have
        `SolverHooks.evaluate` instead.
        """
        del state
        return 0.0

    def to_text(self, state: Any, action: int) -> str:
        """Return the move, that is, the text of an action in a state.

        Different actions that are legal in the same state must have different texts.
        """
        del state
        return str(action)

    def parse_action(self, state: Any, text: str) -> int:
        """Return the action that a text names in a state; raise BadMove if it names none.

        The action may be illegal. Legal actions take precedence.
        """
        name = text.strip().lower()
        for action in itertools.chain(self.actions(state), range(self.num_actions)):
            if self.to_text(state, action).lower() == name:
                return action
        msg = f"{notation.quote_text(text)} is not a move: {self.move_forms}"
        raise BadMove(msg)

    def split_moves(self, text: str) -> list[str]:
        """Split a line of moves into single moves."""
        return notation.split_moves(text)

    def why_illegal(self, state: Any, action: int) -> str:
        """Return the reason why an action of this game is illegal in a state."""
        del state, action
        return "it is not legal here"

    def board(self, state: Any) -> tuple[int, ...] | None:
        """Return the cells from the top left, row by row: +1 first player, -1 second, 0 empty."""
        del state
        return None

    def from_board(self, cells: tuple[int, ...], to_move: int | None, *, checked: bool) -> Any:
        """Return the state of a board; with `checked`, raise BadBoard if play cannot reach it."""
        del cells, to_move, checked
        msg = f"{self.spec} cannot start from a board: give moves instead"
        raise BadBoard(msg)

    def winning_line(self, state: Any) -> tuple[int, ...] | None:
        """Return the cells of the line that decided the game, if a line did."""
        del state
        return None

    def remark(self, state: Any, last: int | None) -> str:
        """Return a text to append to the outcome, such as a disc count or the reason for a loss.

        The default is the margin, as in " by 3 points", if the game has scores.
        """
        del last
        margin = abs(int(self.score(state))) if self.has_scores else 0
        return f" by {count(margin, self.score_unit)}" if margin else ""

    def score_fields(
        self, state: Any, value: Value | None, plies: int | None, diff: int | None
    ) -> dict[str, int | None]:
        """Return the scores, by name, that results of this game show in addition to the value.

        `value` is the proven value for the side to move, `plies` the distance to the end, and
        `diff` the proven score in games with scores; each may be None.
        """
        del state, value, plies
        return {"score": diff} if self.has_scores else {}

    def forbidden(self, state: Any) -> list[int]:
        """Return the legal actions that lose immediately by rule, as in renju."""
        del state
        return []

    def move_cells(self, state: Any, action: int) -> tuple[int, ...]:
        """Return the cells that a person clicks to play an action in a state.

        These are the cell that the move fills, or the cells that a piece moves from and to. The
        result is () for a move without a cell, such as a pass. All user interfaces use this method.
        """
        del state
        return (action,) if self.grid and action < self.grid.size else ()

    def cell_hint(self, state: Any, cell: int) -> str:
        """Return the text to type for a move to an empty cell, or "" if there is no such move."""
        moves = (a for a in self.actions(state) if self.move_cells(state, a) == (cell,))
        action = next(moves, None)
        return "" if action is None else self.to_text(state, action)

    @property
    def column_labels(self) -> tuple[str, ...]:
        """The labels above the columns."""
        return self.grid.letters if self.grid else ()

    @property
    def move_forms(self) -> str:
        """A description of the accepted forms of a move, for prompts."""
        state = self.initial()
        actions = self.actions(state)
        if len(actions) == self.num_actions:
            return f"{self.to_text(state, 0)} to {self.to_text(state, self.num_actions - 1)}"
        moves = ", ".join(self.to_text(state, action) for action in actions[:3])
        return f"{moves} and so on"  # the texts of illegal actions may have no meaning

    def draw(self, state: Any) -> str:
        """Return a text drawing of a state, for games without a board."""
        return str(state)

    def draw_svg(self, state: Any) -> str | None:
        """Return a picture of a state as an SVG element, or None if there is none.

        Notebooks show it; the studio shows it for games without a board. The element must
        be self-contained, begin with `<svg`, and give its size or a `viewBox`.
        """
        del state
        return None

    def symmetries(self) -> tuple[Symmetry, ...]:
        """Return the symmetries of the rules, the identity first; () if none are known."""
        return ()

    def is_legal(self, state: Any, action: int) -> bool:
        """Return whether an action is legal in a state."""
        return action in self.actions(state)

    # Methods that every game has.

    def turn_sign(self, state: Any, child: Any) -> Any:
        """Return 1 if the same side is to move in a state and in its child, otherwise -1.

        The child's value times this sign is its value for the side to move in the state.
        """
        if self.is_alternating:
            return -1
        return 1 if self.player(state) == self.player(child) else -1

    def legal_line(self, state: Any, line: Iterable[int]) -> tuple[int, ...]:
        """Return the actions of a line before the first illegal one.

        Every line of play is passed through this method before it is shown to the user.
        """
        actions = []
        for action in line:
            if not self.is_legal(state, action):
                break
            actions.append(action)
            state = self.play(state, action)
        return tuple(actions)

    def line_to_text(self, state: Any, line: Iterable[int]) -> tuple[str, ...]:
        """Convert a line of legal actions, played from a state, to moves."""
        return tuple(self.to_text(before, action) for before, action in replay(self, state, line))

    def start(self) -> Position:
        """Return the position before the first move."""
        return Position(self, self.initial())

    def position(
        self,
        board: str | Sequence[int] | None = None,
        to_move: int | None = None,
        *,
        moves: str | Iterable[str] | None = None,
        unchecked: bool = False,
    ) -> Position:
        """Return the position given by a board or by moves; without either, the initial position.

        Moves are always checked. A board is checked unless `unchecked` is set: raise BadBoard if no
        sequence of moves leads to it. `to_move` is 0 or 1; the text of a board may also name it.
        A board may also be a text returned by `Position.to_text`.

        >>> import zermelo as z
        >>> position = z.game("reversi:4").start().play("b1")
        >>> z.game("reversi:4").position(position.to_text()) == position
        True
        """
        if board is not None and moves is not None:
            msg = "give a board or moves, not both"
            raise BadBoard(msg)
        if board is None:
            return self._play_moves(moves or ())
        if isinstance(board, str):
            drawing, has_moves, line = board.rpartition(notation.MOVES_LINE)
            if has_moves:
                return self._parse_moves_line(drawing, line)
            cells, to_move = self._parse_board(board, to_move)
        else:
            self._check_cells(board)
            cells = tuple(board)
        if to_move not in (None, 0, 1):
            msg = f"to_move is {to_move}: it must be 0 or 1"
            raise BadBoard(msg)
        return Position(self, self.from_board(cells, to_move, checked=not unchecked), None)

    def _play_moves(self, moves: str | Iterable[str]) -> Position:
        """Return the position after moves from the start; raise BadMove if one is not legal."""
        if not isinstance(moves, Iterable):
            msg = f"moves must be a string such as 'a1 b2', or a list, not {type(moves).__name__}"
            raise BadMove(msg)
        position = self.start()
        for move in self.split_moves(moves) if isinstance(moves, str) else moves:
            position = position.play(move)
        return position

    def _parse_moves_line(self, drawing: str, line: str) -> Position:
        """Return the position of a text whose last line lists moves; any board must match them."""
        position = self._play_moves(line)
        is_drawn = self.grid is not None and drawing.strip()
        if is_drawn and self._parse_board(drawing, None)[0] != position.board:
            msg = "the moves in the last line do not lead to the board above them"
            raise BadBoard(msg)
        return position

    def parse_position(self, line: str) -> Position:
        """Return the position that a text gives: moves from the start, or `board:` and a board."""
        line = line.strip()
        if line.startswith("board:"):
            return self.position(line.removeprefix("board:").strip())
        return self.position(moves=line)

    def _parse_board(self, text: str, to_move: int | None) -> tuple[tuple[int, ...], int | None]:
        """Return the cells and the side to move (None if neither text nor `to_move` names it)."""
        if self.grid is None:
            self.from_board((), to_move, checked=True)
        assert self.grid is not None
        if "\n" in text.strip():
            text = notation.flatten_drawing(text, self.column_labels, self.symbols)
        cells, side = notation.parse_board(text, self.grid)
        if side is not None and to_move is not None and side != to_move:
            msg = f"the board says {self.symbols[side]} moves, but to_move says otherwise"
            raise BadBoard(msg)
        return cells, side if side is not None else to_move

    def _check_cells(self, cells: Sequence[Any]) -> None:
        if not isinstance(cells, Sequence):
            msg = f"a board is a text or a sequence of cells, not {type(cells).__name__}"
            raise BadBoard(msg)
        if self.grid is None or len(cells) != self.grid.size:
            size = self.grid.size if self.grid else 0
            msg = f"{len(cells)} cells were given, but the board of {self.spec} has {size}"
            raise BadBoard(msg)
        wrong = next((c for c in cells if isinstance(c, bool) or c not in (-1, 0, 1)), None)
        if wrong is not None:
            msg = f"{notation.quote_text(str(wrong))} is not a cell: a cell must be 1, -1 or 0"
            raise BadBoard(msg)

    def __eq__(self, other: object) -> bool:
        """Return whether both games have the same class and spec, and so the same rules."""
        return isinstance(other, Game) and (type(self), self.spec) == (type(other), other.spec)

    def __hash__(self) -> int:
        """Return a hash that agrees with equality."""
        return hash((type(self), self.spec))

    def __str__(self) -> str:
        """Return the spec."""
        return self.spec

    def __repr__(self) -> str:
        """Return the spec in angle brackets."""
        return f"<game {self.spec}>"


def default_spec(game: Game) -> str:
    """Return a spec for a game whose author gave it none: its class and its arguments.

    Games of a class with the same spec count as equal, so the spec names every argument of the
    constructor. If the game does not keep one as an attribute, a digest of all attributes follows.
    """
    kinds = int, float, str, tuple, list, dict, frozenset  # others may show an address
    attributes = {name: value for name, value in vars(game).items() if isinstance(value, kinds)}
    parameters = list(inspect.signature(type(game)).parameters)
    known = [f"{name}={attributes[name]}" for name in parameters if name in attributes]
    if len(known) < len(parameters):
        digest = hashlib.sha256(repr(sorted(attributes.items())).encode()).hexdigest()
        known.append(f"digest={digest[:8]}")
    values = "".join(",".join(known).split())
    return f"{type(game).__name__}{':' if values else ''}{values}"
