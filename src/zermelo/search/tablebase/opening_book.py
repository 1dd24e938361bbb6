"""Opening books: the exact scores of all states in the first plies of a game.

A book has the file format of a tablebase. `solver.book_builder` builds one.
"""

from importlib import resources
from pathlib import Path
from typing import Self

from zermelo.core import home
from zermelo.core.bitboard import sign
from zermelo.core.game import WordGame
from zermelo.search.tablebase.files import BadTablebase, GameIdentity
from zermelo.search.tablebase.tablebase import Notify, Tablebase

State = tuple[int, ...]


class OpeningBook(Tablebase):
    """The solved states of a game's first plies."""

    source = "book"
    _kind = "book"

    @classmethod
    def find(cls, game: WordGame, notify: Notify) -> "OpeningBook | None":
        """Load the book in the cache folder or the shipped one; return None if there is neither.

        An unusable file is ignored, and `notify` is called with the reason.
        """
        shipped = _shipped_path(game)
        if not _folder().is_dir() and not shipped.is_file():
            return None  # saves computing the fingerprint of the rules, which is slow
        for path in (book_path(game), shipped):
            if path.is_file():
                try:
                    return cls.read(path, game)
                except BadTablebase as error:
                    notify(f"{error}; this file is ignored")
        return None

    @classmethod
    def read(cls, path: Path, game: WordGame) -> Self:
        """Read and check a file; raise BadTablebase if it is invalid."""
        book = super().read(path, game)
        if not book.has_possible_scores():
            msg = f"{path} is not a book of {game.spec}: it has impossible scores"
            raise BadTablebase(msg)
        return book

    def has_possible_scores(self) -> bool:
        """Return whether every win and loss fits into the longest possible game."""
        return bool(abs(self._codes).max() <= self.game.hooks.max_plies(self.game.initial()) + 1)

    @classmethod
    def from_scores(cls, game: WordGame, scores: dict[State, int]) -> Self:
        """Return a book with these scores; the keys of `scores` are canonical states."""
        import numpy as np

        states = sorted(scores)
        codes = [_to_code(game, scores[state]) for state in states]
        keys = np.array(states, np.uint64).reshape(-1, game.num_words)
        return cls(game, np.ascontiguousarray(keys.T), np.array(codes, np.int16))


def book_path(game: WordGame) -> Path:
    """Return the path of a game's book, which depends on the rules of the game."""
    return _folder() / f"{GameIdentity.of(game).digest}.book"


def _folder() -> Path:
    return home.cache_folder() / "books"


def _shipped_path(game: WordGame) -> Path:
    return Path(str(resources.files(__package__))) / "shipped" / f"{game.spec}.book"


def _to_code(game: WordGame, score: int) -> int:
    """Return the code of a score: see `tablebase`."""
    if game.hooks.ply_cost == 0:
        return score
    return sign(score) * (game.hooks.win_score - abs(score) + 1)
