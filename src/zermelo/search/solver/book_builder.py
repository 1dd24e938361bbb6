"""Build an opening book with the solver.

Only the states after the book's last ply are searched; the scores of earlier states follow from
them. Every score that is searched is appended to a journal beside the book, so that an interrupted
build can be resumed.
"""

import os
import re
import threading
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from zermelo.core.errors import ZermeloError
from zermelo.core.game import WordGame
from zermelo.search.negamax.kernel import parent_score
from zermelo.search.negamax.searcher import terminal_score
from zermelo.search.solver.solver import Solver
from zermelo.search.tablebase.files import GameIdentity
from zermelo.search.tablebase.opening_book import OpeningBook, State

MAX_PLIES = 12
_NUMBER = re.compile(r"-?[0-9]{1,20}")

Progress = Callable[[int, int], None]  #: called with (states solved, states to solve)


def build_book(
    game: WordGame,
    plies: int,
    journal_path: Path,
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> OpeningBook:
    """Build the book of a game's first `plies` plies, resuming from the journal if it exists."""
    if not 0 <= plies <= MAX_PLIES:
        msg = f"plies is {plies}: it must be 0 to {MAX_PLIES}"
        raise ZermeloError(msg)
    canonical = OpeningBook.from_scores(game, {}).canonical
    layers = [{canonical(game.initial()): None}]
    for _ in range(plies):
        children = (canonical(child) for state in layers[-1] for child in _children(game, state))
        layers.append(dict.fromkeys(children))

    # 1. Solve the last layer.
    journal = _Journal(journal_path, game, plies)
    scores = {state: score for state, score in journal.read() if state in layers[-1]}
    unsolved = [state for state in layers[-1] if state not in scores]
    for state, score in _solve_states(game, unsolved, threads):
        scores[state] = score
        journal.append(state, score)
        if progress:
            progress(len(scores), len(layers[-1]))

    # 2. Score the earlier layers.
    for layer in layers[-2::-1]:
        for state in layer:
            values = [
                -game.turn_sign(state, child) * parent_score(game.hooks, scores[canonical(child)])
                for child in _children(game, state)
            ]
            scores[state] = max(values) if values else terminal_score(game.hooks, state)
    return OpeningBook.from_scores(game, scores)


def _children(game: WordGame, state: State) -> list[State]:
    return [game.play(state, action) for action in game.actions(state)]


def _solve_states(game: WordGame, states: list[State], threads: int) -> Iterator[tuple[State, int]]:
    """Yield each state with its score, in order; each thread keeps one solver with its table."""
    local = threading.local()

    def solve(state: State) -> tuple[State, int]:
        if not hasattr(local, "solver"):
            local.solver = Solver(game)
        return state, local.solver.score(state)

    if threads == 1:
        yield from map(solve, states)
        return
    with ThreadPoolExecutor(threads) as pool:
        try:
            yield from pool.map(solve, states)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


class _Journal:
    """A text file with one line per score; the last line may be incomplete after a crash.

    A line ends with its checksum, as in `3 4 0 -17 #89ab01cd`. If an earlier version of this module
    created the journal, no line has a checksum, not even a new line.
    """

    def __init__(self, path: Path, game: WordGame, plies: int) -> None:
        identity = GameIdentity.of(game)
        self.path, self.num_words = path, game.num_words
        book = f"{identity.digest} {game.spec} {plies}"
        self.header, self.old_header = f"zermelo journal 2 {book}", f"zermelo journal {book}"
        self.has_checksums = True

    def read(self) -> Iterator[tuple[State, int]]:
        """Yield the stored scores; create the file if there is none.

        Raise ZermeloError if the journal belongs to another book or is damaged.
        """
        if not self.path.exists():
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.write_text(self.header + "\n", encoding="ascii")
        data = self.path.read_bytes()
        complete = data[: data.rfind(b"\n") + 1]
        if len(complete) < len(data):
            with self.path.open("rb+") as file:
                file.truncate(len(complete))
        header, *lines = complete.decode("ascii", "replace").splitlines() or [""]
        self.has_checksums = header != self.old_header
        if header not in (self.header, self.old_header):
            msg = f"{self.path} is the journal of another book: remove it, or choose another file"
            raise ZermeloError(msg)
        for number, line in enumerate(lines, 2):
            content, _, checksum = line.partition(" #")
            numbers = content.split()
            is_intact = len(numbers) == self.num_words + 1 and all(map(_NUMBER.fullmatch, numbers))
            if not is_intact or checksum != (_checksum(content) if self.has_checksums else ""):
                msg = f"{self.path}, line {number} is damaged: remove that line"
                raise ZermeloError(msg)
            *state, score = map(int, numbers)
            yield tuple(state), score

    def append(self, state: State, score: int) -> None:
        """Append a state with its score, and wait until the line has reached the disk."""
        with self.path.open("a", encoding="ascii") as file:
            content = " ".join(map(str, (*state, score)))
            end = f" #{_checksum(content)}" if self.has_checksums else ""
            file.write(f"{content}{end}\n")
            file.flush()
            os.fsync(file.fileno())


def _checksum(content: str) -> str:
    """Return the checksum of a line of a journal, as eight hexadecimal digits."""
    return f"{zlib.crc32(content.encode()):08x}"
