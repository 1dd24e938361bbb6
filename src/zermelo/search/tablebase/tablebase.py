"""Tablebases: the exact score of every state of a small bitboard game.

A tablebase holds only the smallest state of each symmetry class. Scores are stored as codes that do
not depend on the solver: n + 1 for a win in n plies, -(n + 1) for a loss in n plies, 0 for a draw;
the code of a finished and lost game is -1. If scores are points, as in Reversi, the code is the
score.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from zermelo.core.bitboard import Word
from zermelo.core.game import WordGame
from zermelo.core.symmetry import byte_tables
from zermelo.search.tablebase import files
from zermelo.search.tablebase.build import Progress, solve_all_states
from zermelo.search.tablebase.files import MAX_STATES, BadTablebase

if TYPE_CHECKING:
    from numpy.typing import NDArray

Notify = Callable[[str], None]


class Tablebase:
    """The solved states of one game; `len` returns the number of symmetry classes.

    >>> import zermelo as z
    >>> game = z.game("tictactoe")
    >>> tablebase = Tablebase.build(game)
    >>> winning = tablebase.score((0b11, 0b11000, 0))
    >>> len(tablebase), tablebase.score(game.initial()), winning == game.hooks.win_score - 1
    (765, 0, True)
    """

    source: ClassVar[str] = "table"  #: the `source` field of solutions from a tablebase
    _kind: ClassVar[str] = "tablebase"

    def __init__(self, game: WordGame, keys: "NDArray[Any]", codes: "NDArray[Any]") -> None:
        import numpy as np

        self.game = game
        self._keys, self._codes = keys, codes  # [word, state] and [state], by ascending key
        self._word = np.uint64
        self._symmetry_tables = _python_symmetry_tables(game)

    def __len__(self) -> int:
        """Return the number of stored states."""
        return len(self._codes)

    def score(self, state: tuple[Word, ...]) -> int | None:
        """Return the exact score for the side to move, or None if the state is not stored."""
        begin, end = 0, len(self._codes)
        for column, part in zip(self._keys, self.canonical(state), strict=True):
            rest, key = column[begin:end], self._word(part)
            end = begin + int(rest.searchsorted(key, "right"))
            begin += int(rest.searchsorted(key))
            if begin == end:
                return None
        code = int(self._codes[begin])
        hooks = self.game.hooks
        if hooks.ply_cost == 0 or code == 0:
            return code
        return hooks.win_score - code + 1 if code > 0 else -hooks.win_score - code - 1

    def look_up_batch(self, states: "NDArray[Any]") -> dict[int, int]:
        """Return the exact scores of the canonical states [row, word] that are stored, by row."""
        column, words = self._keys[0], states[:, 0]
        # Most states are recognised as missing by their first word, without a loop in Python.
        begin, end = column.searchsorted(words), column.searchsorted(words, "right")
        rows = (begin < end).nonzero()[0].tolist()
        scores = {row: self.score(tuple(states[row].tolist())) for row in rows}
        return {row: score for row, score in scores.items() if score is not None}

    def canonical(self, state: tuple[Word, ...]) -> tuple[Word, ...]:
        """Return the smallest image of a state under the symmetries, as plain ints."""
        boards = smallest = state[: self.game.num_boards]
        for tables in self._symmetry_tables:
            first = _transform(boards[0], tables)
            if first <= smallest[0]:  # the other boards only break ties
                image = (first, *[_transform(board, tables) for board in boards[1:]])
                smallest = min(smallest, image)
        return smallest + state[self.game.num_boards :]

    @classmethod
    def build(
        cls, game: WordGame, progress: Progress | None = None, *, max_states: int = MAX_STATES
    ) -> Self:
        """Find and score every state; raise TooLarge if there are more than `max_states`."""
        return cls(game, *solve_all_states(game, max_states, progress))

    @classmethod
    def open(
        cls, game: WordGame, notify: Notify, progress: Progress | None = None
    ) -> "Tablebase | None":
        """Load the tablebase of a game from the cache folder, or return None if there is none.

        An unusable file is rebuilt, and `notify` is called with the reason.
        """
        if not files.has_candidates(game.spec):  # cheaper than the fingerprint of the rules
            return None
        path = files.tablebase_path(game)
        if not path.exists():
            return None
        try:
            return cls.read(path, game)
        except BadTablebase as error:
            notify(f"{error}; building it again")
        tablebase = cls.build(game, progress)
        try:
            tablebase.write(path)
        except OSError as error:
            notify(f"{path} cannot be written: {error.strerror}")
        return tablebase

    def write(self, path: Path) -> None:
        """Write the file atomically; raise OSError if that fails."""
        files.write(path, self.game, self._keys, self._codes)

    @classmethod
    def read(cls, path: Path, game: WordGame) -> Self:
        """Read and check a file; raise BadTablebase if it is invalid."""
        tablebase = cls(game, *files.read(path, game, cls._kind))
        if tablebase.score(game.initial()) is None:
            msg = f"{path} is not a {cls._kind} of {game.spec}: the initial state is missing"
            raise BadTablebase(msg)
        return tablebase


def _python_symmetry_tables(game: WordGame) -> list[list[list[Word]]]:
    """Return byte tables of all symmetries except the identity, for the bytes of the board."""
    symmetries = game.symmetries()[1:] if game.num_boards else ()
    tables = byte_tables(symmetries)
    return [table[: (len(s.cells) + 7) // 8] for s, table in zip(symmetries, tables, strict=True)]


def _transform(board: Word, tables: list[list[Word]]) -> Word:
    """Return the image of a board under the symmetry with these byte tables."""
    image = 0
    for table in tables:
        image |= table[board & 255]
        board >>= 8
    return image
