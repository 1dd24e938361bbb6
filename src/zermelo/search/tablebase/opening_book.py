"""Books: the first plies of a game with their exact scores, in the files that tables have.

A book holds every state up to so many plies, one for each class of symmetric ones. Only the last
ply is searched; what comes before follows from it. While one is built, every score that is found
goes into a notebook beside it, a line each, so that a build that was stopped goes on from there.
"""

import functools
import hashlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from pathlib import Path
from typing import Any

from zermelo.core import home
from zermelo.core.bitboard import lowest, sign
from zermelo.core.errors import ZermeloError
from zermelo.core.game import WordGame
from zermelo.kernels import kernel, written
from zermelo.search.negamax import kernel as k
from zermelo.search.solver.solver import Solver
from zermelo.search.tablebase import files as table_files
from zermelo.search.tablebase.files import BadTable
from zermelo.search.tablebase.tablebase import Notify, Table, plain

MAX_PLIES = 12
_NOT_RULES = ("INTRINSICS", "import ", "from ")  # lines of a kernel that say how it is compiled
_HEAD = "zermelo notebook"

State = tuple[int, ...]
Progress = Callable[[int, int], None]  #: (states solved, states to solve)


class Book(Table):
    """The solved states of a game's first plies."""

    source = "book"

    @classmethod
    def find(cls, game: WordGame, notify: Notify) -> "Book | None":
        """The book in the cache folder, else the shipped one; None where there is none.

        A file that is not right is not used, and `notify` is told why.
        """
        shipped = _shipped(game)
        if not _folder().is_dir() and not shipped.is_file():
            return None  # the digest of the rules costs more than a look
        for path in (path_of(game), shipped):
            if path.is_file():
                try:
                    return cls.read(path, game)
                except BadTable as error:
                    notify(f"{error}: it is not used")
        return None

    @classmethod
    def read(cls, path: Path, game: WordGame) -> "Book":
        """The book in a file, checked throughout; BadTable says what is wrong with it."""
        keys, codes = table_files.read(path, game.spec, rules_digest(game), game.num_words, "book")
        book = cls(game, keys, codes)
        most = game.longest(game.initial()) + 1
        if book.score(game.initial()) is None or abs(codes).max() > most:
            msg = f"{path} is no book of {game.spec}: its states or scores cannot be"
            raise BadTable(msg)
        return book

    def write(self, path: Path) -> None:
        """Keep the book; the file appears whole or not at all. OSError when it cannot be kept."""
        table_files.write(path, self.game.spec, rules_digest(self.game), self._keys, self._codes)

    @classmethod
    def of(cls, game: WordGame, scores: dict[State, int]) -> "Book":
        """The book of these scores, by least images."""
        import numpy as np

        states = sorted(scores)
        codes = [_code(game, scores[state]) for state in states]
        keys = np.array(states, np.uint64).reshape(-1, game.num_words)
        return cls(game, np.ascontiguousarray(keys.T), np.array(codes, np.int16))


def _code(game: WordGame, score: int) -> int:
    """See `tables`."""
    if game.ply_cost == 0:
        return score
    return sign(score) * (game.far - abs(score) + 1)


def path_of(game: WordGame) -> Path:
    """Where a game's book belongs."""
    name = hashlib.sha256(f"{game.spec}\n{rules_digest(game)}".encode()).hexdigest()[:12]
    return _folder() / f"{name}.book"


def _folder() -> Path:
    return home.cache_folder() / "books"


def _shipped(game: WordGame) -> Path:
    return Path(str(resources.files(__package__))) / "shipped" / f"{game.spec}.book"


@kernel("uint64[:,::1]", common=False)
def rules(game: WordGame, states: Any) -> Any:
    """One step by the rules: written, not run, for its text is a digest's."""
    state = game.load(states, 0)
    over, value = game.result(state)
    game.store(states, 0, game.play(state, lowest(game.legal(state))))
    return over, value


@functools.lru_cache(maxsize=256)
def rules_digest(game: WordGame) -> str:
    """A digest of the rules and their constants; how they are compiled is left out."""
    text, constants = written(rules, game)
    lines = [line for line in text.splitlines() if not line.startswith(_NOT_RULES)]
    turns = [s.cells for s in game.symmetries()]
    made = f"{lines} {plain(constants)} {game.initial()} {game.num_boards} {turns}"
    return hashlib.sha256(made.encode()).hexdigest()


# Building.


def build(
    game: WordGame,
    plies: int,
    notebook: Path,
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> Book:
    """Solve all states after `plies` plies, and settle those before by theirs."""
    if not 0 <= plies <= MAX_PLIES:
        msg = f"a book of {plies} plies: it can have 0 to {MAX_PLIES}"
        raise ZermeloError(msg)
    least = Book.of(game, {}).least
    layers = [{least(game.initial()): None}]
    for _ in range(plies):
        children = (least(child) for state in layers[-1] for child in _children(game, state))
        layers.append(dict.fromkeys(children))
    notes = _Notebook(notebook, f"{_HEAD} {rules_digest(game)} {game.spec} {plies}")
    scores = {state: score for state, score in notes.read() if state in layers[-1]}
    todo = [state for state in layers[-1] if state not in scores]
    for state, score in _solved(game, todo, threads):
        scores[state] = score
        notes.add(state, score)
        if progress:
            progress(len(scores), len(layers[-1]))
    for layer in layers[-2::-1]:
        for state in layer:
            found = [k.sooner(game, scores[least(child)]) for child in _children(game, state)]
            scores[state] = max(found) if found else Solver.ended_in(game, state)
    return Book.of(game, scores)


def _children(game: WordGame, state: State) -> list[State]:
    return [game.play(state, action) for action in game.actions(state)]


def _solved(game: WordGame, states: list[State], threads: int) -> Iterator[tuple[State, int]]:
    """Each state with its score, as they come; neighbours share what a solver has learned."""
    own = threading.local()

    def solve(state: State) -> tuple[State, int]:
        if not hasattr(own, "solver"):
            own.solver = Solver(game)
        return state, own.solver.score(state)

    if threads == 1:
        yield from map(solve, states)
        return
    with ThreadPoolExecutor(threads) as pool:
        try:
            yield from pool.map(solve, states)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


class _Notebook:
    """Scores in lines of text, of which the last may be torn."""

    def __init__(self, path: Path, head: str) -> None:
        self.path, self.head = path, head

    def read(self) -> Iterable[tuple[State, int]]:
        """What is noted, after a line that says of what; a new notebook if there is none."""
        if not self.path.exists():
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.write_text(self.head + "\n", encoding="ascii")
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            with self.path.open("rb+") as file:
                file.truncate(len(whole))
        head, *lines = whole.decode("ascii", "replace").splitlines() or [""]
        if head != self.head:
            msg = f"{self.path} is the notebook of another book: remove it, or name another --out"
            raise ZermeloError(msg)
        for number, line in enumerate(lines, 2):
            try:
                *state, score = map(int, line.split())
            except ValueError:
                msg = f"{self.path}, line {number} is damaged: remove it"
                raise ZermeloError(msg) from None
            yield tuple(state), score

    def add(self, state: State, score: int) -> None:
        """One line more, on the disk before anything else is done."""
        with self.path.open("a", encoding="ascii") as file:
            file.write(" ".join(map(str, (*state, score))) + "\n")
            file.flush()
            os.fsync(file.fileno())
