"""The solver: exact scores of word games, with what it learned kept between questions.

With threads it splits a question at the root: is any move above the guess? Each thread has its
own table, since only a table whose entries are single words could be shared without locks.
"""

import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from zermelo.core.bitboard import sign
from zermelo.core.game import WordGame
from zermelo.search.engines import WordEngine
from zermelo.search.iterative_deepening import deepen, is_settled
from zermelo.search.limits import SearchClock, SearchStopped, SubClock
from zermelo.search.negamax import arrays as a
from zermelo.search.negamax.searcher import NegamaxSearcher
from zermelo.search.tablebase.tablebase import Tablebase

_MAX_LINE = 64
# Nodes for proving and for deepening, by turns; then proving without end.
_TURNS = ((2_000_000, 4_000_000), (32_000_000, 16_000_000))


@dataclass(frozen=True)
class Settings:
    """Switches, each of which leaves every answer as it is."""

    table: bool = True
    ordering: bool = True
    symmetry: bool = True
    deepening: bool = True
    table_bits: int = 24  #: at most 512 MB; a search that ends soon uses little of it
    threads: int = 1


class Solver:
    """Solves states of one word game. Every question takes a clock, which may raise Stopped."""

    def __init__(
        self, game: WordGame, settings: Settings | None = None, known: Tablebase | None = None
    ) -> None:
        self.game, self.hooks, self.settings = game, game.hooks, settings or Settings()
        self.known = known  #: a table of the game, or a book, which answers without search
        self._engine: WordEngine | None = None
        self._searchers = [
            NegamaxSearcher(
                self.hooks,
                table_bits=self.settings.table_bits if self.settings.table else None,
                ordering=self.settings.ordering,
                symmetry=self.settings.symmetry,
            )
            for _ in range(self.settings.threads)
        ]

    @property
    def searcher(self) -> NegamaxSearcher:
        """What searches, the first thread's: for kernels that ask many questions at once."""
        return self._searchers[0]

    def forget(self) -> None:
        """Start anew, as if nothing had been asked."""
        for searcher in self._searchers:
            searcher.clear()

    def score(self, state: Any, clock: SearchClock | None = None) -> int:
        """The exact score of a state.

        Draws are proven sooner without a horizon, near wins sooner by deepening: in games where
        both are common the two take turns, with growing budgets.
        """
        clock = clock or SearchClock()
        known = self._known(state)
        if known is not None:
            return known
        if self.settings.deepening and self.game.is_layered and not self.hooks.short_wins_first:
            for proving, deepening in _TURNS:
                with contextlib.suppress(SearchStopped):
                    return self._prove(state, clock.subclock(nodes=proving))
                clock.check()
                score = self._deepen(state, clock.subclock(nodes=deepening))
                if score is not None:
                    return score
        return self._prove(state, clock)

    def score_moves(self, state: Any, clock: SearchClock | None = None) -> dict[int, int]:
        """Return the exact score of every action, for the side to move."""
        children = {action: self.game.play(state, action) for action in self.game.actions(state)}
        return {action: self._above(self.score(child, clock)) for action, child in children.items()}

    def _prove(self, state: Any, clock: SearchClock) -> int:
        """By questions to the end of the game."""
        low, high = -self.hooks.win_score, self.hooks.win_score
        if not self.hooks.short_wins_first:
            low, high = self.bounds(state, low, high, clock, coarse=True)
        return self.bounds(state, low, high, clock)[0]

    def _deepen(self, state: Any, clock: SearchClock) -> int | None:
        """By deepening, None if the clock stops it."""
        self._engine = self._engine or WordEngine(self.hooks)
        for found in deepen(self._engine, state, clock):
            if found.exact or is_settled(self._engine, found.score, found.depth):
                return found.score
        return None

    def ended(self, state: Any) -> int:
        """The score of a state that is over."""
        return self.ended_in(self.game, state)

    @staticmethod
    def ended_in(game: WordGame, state: Any) -> int:
        """The same for a game without a solver."""
        if game.hooks.ply_cost == 0:
            return int(game.hooks.resolve(state)[1])
        return int(game.result(state)[1]) * game.hooks.win_score

    def source(self, state: Any) -> str:
        """Where the score of a state comes from: "table", "book" or "search"."""
        if self.known is None or self.known.score(state) is None:
            return "search"
        return self.known.source

    def sign(self, state: Any, clock: SearchClock | None = None) -> int:
        """1, 0 or -1: a win, a draw or a loss, without the distance."""
        known = self._known(state)
        if known is not None:
            return sign(known)
        low, high = self.bounds(state, -self.hooks.win_score, self.hooks.win_score, clock, coarse=True)
        return (low > 0) - (high < 0)

    def is_above(self, state: Any, guess: int, clock: SearchClock | None = None) -> bool:
        """Whether the score of a state is above a guess."""
        known = self._known(state)
        if known is not None:
            return known > guess
        return self.bounds(state, guess, guess + 1, clock)[0] > guess

    def _known(self, state: Any) -> int | None:
        """What needs no search: a game that is over, or one that a table holds."""
        if self.game.result(state)[0]:
            return self.ended(state)
        return self.known.score(state) if self.known else None

    def bounds(
        self, state: Any, low: int, high: int, clock: SearchClock | None = None, *, coarse: bool = False
    ) -> tuple[int, int]:
        """Bounds that answer the question, for a state that is not over; see `NegamaxSearcher.bounds`."""
        clock = clock or SearchClock()
        if len(self._searchers) > 1:
            return self._bounds_together(state, low, high, clock, coarse=coarse)
        return self._searchers[0].bounds(state, low, high, clock, coarse=coarse)

    def best(self, state: Any, score: int, clock: SearchClock | None = None) -> list[int]:
        """All actions that reach exactly this score, which is the state's."""
        return [a for a in self.game.actions(state) if self.reaches(state, a, score, clock)]

    def reaches(self, state: Any, action: int, score: int, clock: SearchClock | None = None) -> bool:
        """Whether an action is worth at least this score."""
        child = self.game.play(state, action)
        return not self.is_above(child, self._below(score), clock)

    def line(self, state: Any, score: int, clock: SearchClock | None = None) -> list[int]:
        """Best play to the end, the first best action each time; from a book, to its end."""
        actions: list[int] = []
        in_book = self.source(state) == "book"
        while len(actions) < _MAX_LINE and not self.game.result(state)[0]:
            legal = self.game.actions(state)
            if in_book and self.source(self.game.play(state, legal[0])) == "search":
                break
            action = next(a for a in legal if self.reaches(state, a, score, clock))
            actions.append(action)
            state = self.game.play(state, action)
            score = self._below(score)
        return actions

    def _below(self, score: int) -> int:
        """The score of a child whose move is worth `score`."""
        return -(score + self.hooks.ply_cost * sign(score))

    def _above(self, score: int) -> int:
        """What a move is worth whose child has this score: the inverse of `_below`."""
        return -score + self.hooks.ply_cost * sign(score)

    def _bounds_together(
        self, state: Any, low: int, high: int, clock: SearchClock, *, coarse: bool
    ) -> tuple[int, int]:
        """As the kernel narrows its bounds, with the moves of every guess split among threads."""
        control = [0] * a.NUM_CONTROLS
        control[a.LOWER], control[a.UPPER], control[a.SIGN_ONLY] = low, high, coarse
        control[a.SCORE_GAP] = self.hooks.win_score - self.hooks.max_plies(state) - 1
        children = self._children(state)
        while not k.is_settled(control):
            guess = int(k.next_guess(self.hooks, control))
            scores = self._ask_all(children, self._below(guess + 1), clock)
            control[a.LOWER if max(scores) > guess else a.UPPER] = max(scores)
        return int(control[a.LOWER]), int(control[a.UPPER])

    def _children(self, state: Any) -> list[Any]:
        """The states after each move, one of those that are alike up to symmetry."""
        turns = self.game.symmetries() if self.settings.symmetry else ()
        seen = set()
        children = []
        for action in self.game.actions(state):
            child = self.game.play(state, action)
            images = {self.game.transform(child, turn) for turn in turns} | {child}
            if min(images) not in seen:
                seen.add(min(images))
                children.append(child)
        return sorted(children, key=self._worst_first)

    def _worst_first(self, child: Any) -> int:
        """Positions that look bad for the side to move come first: good moves."""
        if self.game.result(child)[0]:
            return self.ended(child)
        return int(self.hooks.evaluate(child))

    def _ask_all(self, children: list[Any], guess: int, clock: SearchClock) -> list[int]:
        """What the moves to these states are worth, or bounds, if one state is not above `guess`.

        The first that is ends the others' search.
        """
        parts = [clock.subclock() for _ in self._searchers]
        waiting = iter(children)
        worths: list[int] = []
        lock, is_found = threading.Lock(), threading.Event()

        def work(searcher: NegamaxSearcher, part: SubClock) -> None:
            while not is_found.is_set():
                with lock:
                    child = next(waiting, None)
                if child is None:
                    return
                if self.game.result(child)[0]:
                    low = high = self.ended(child)
                else:
                    try:
                        low, high = searcher.narrow_bounds(child, guess, guess + 1, part)
                    except SearchStopped:
                        if part.is_cancelled:
                            return
                        raise
                worths.append(self._above(low if low > guess else high))
                if low <= guess:
                    is_found.set()
                    for other in parts:
                        other.is_cancelled = True

        with ThreadPoolExecutor(len(parts)) as pool, _cancelling(parts):
            for done in [
                pool.submit(work, *pair) for pair in zip(self._searchers, parts, strict=True)
            ]:
                done.result()
        return worths


@contextlib.contextmanager
def _cancelling(parts: list[SubClock]) -> Iterator[None]:
    """Whatever goes wrong, or Ctrl-C, ends the other threads' search too."""
    try:
        yield
    except BaseException:
        for part in parts:
            part.is_cancelled = True
        raise
