"""The solver, which finds exact scores in bitboard games; it keeps its table between calls.

With several threads, the moves at the root are split among them. Each thread has its own table,
since entries of more than one word cannot be shared without locks.
"""

import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from zermelo.core.bitboard import sign
from zermelo.core.game import SolverHooks, WordGame
from zermelo.core.player import Candidate
from zermelo.core.value import Value
from zermelo.search.engines import WordEngine
from zermelo.search.iterative_deepening import deepen, is_settled
from zermelo.search.limits import SearchClock, SearchStopped, SubClock
from zermelo.search.negamax import arrays, kernel
from zermelo.search.negamax.searcher import NegamaxSearcher, terminal_score
from zermelo.search.tablebase.tablebase import Tablebase

_MAX_LINE = 64
# Searches to the end of the game and iterative deepening take turns; each pair holds their node
# limits in one turn. After the last turn, a search to the end without a limit follows.
_TURNS = ((2_000_000, 4_000_000), (32_000_000, 16_000_000))
FIRST_PROOF_NODES = _TURNS[0][0]  #: the node limit of the first search to the end of the game


@dataclass(frozen=True)
class SolverSettings:
    """Settings of the search, which change its speed and memory use but not its results."""

    table: bool = True
    ordering: bool = True
    symmetry: bool = True
    deepening: bool = True
    table_bits: int = 24  #: at most 512 MB; a short search uses only a small part
    threads: int = 1


class Solver:
    """Solves states of one bitboard game.

    Every search takes a clock, which may raise SearchStopped. States in `tablebase`, which is a
    tablebase or an opening book, are not searched.
    """

    def __init__(
        self,
        game: WordGame,
        settings: SolverSettings | None = None,
        tablebase: Tablebase | None = None,
    ) -> None:
        self.game, self.hooks, self.settings = game, game.hooks, settings or SolverSettings()
        self.tablebase = tablebase
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
        """The searcher of the first thread, for kernels that search batches of states."""
        return self._searchers[0]

    @property
    def takes_turns(self) -> bool:
        """Whether searches to the end of the game and iterative deepening take turns."""
        return self.settings.deepening and self.game.is_layered and not self.hooks.short_wins_first

    def clear(self) -> None:
        """Clear the tables, so that earlier searches have no influence."""
        for searcher in self._searchers:
            searcher.clear()
        self._engine = None

    def score(self, state: Any, clock: SearchClock | None = None) -> int:
        """Return the exact score of a state.

        A search to the end is faster at proving draws, iterative deepening at proving short wins.
        If both can occur, the two methods take turns with growing node limits.
        """
        clock = clock or SearchClock()
        score = self._look_up(state)
        if score is not None:
            return score
        if self.takes_turns:
            for proof_nodes, deepening_nodes in _TURNS:
                with contextlib.suppress(SearchStopped):
                    return self._prove(state, clock.subclock(nodes=proof_nodes))
                clock.check()
                score = self._deepen(state, clock.subclock(nodes=deepening_nodes))
                if score is not None:
                    return score
        return self._prove(state, clock)

    def evaluate_moves(self, state: Any, clock: SearchClock | None = None) -> list[Candidate]:
        """Return every legal move with its exact value and distance, the best ones first."""
        game, hooks = self.game, self.hooks
        scores = {a: self._score_after(state, a, clock) for a in game.actions(state)}
        top = max(scores.values())
        return [
            Candidate(
                move := game.to_text(state, action),
                value=Value.WIN if score > 0 else Value.LOSS if score < 0 else Value.DRAW,
                plies=plies_to_end(hooks, score, played=1),
                exact=True,
                best=score == top,
                pv=(move,),
                diff=None if hooks.ply_cost else score,
            )
            for action, score in sorted(scores.items(), key=lambda item: -item[1])
        ]

    def _score_after(self, state: Any, action: int, clock: SearchClock | None) -> int:
        """Return the score of the state after an action, for the side that plays it."""
        child = self.game.play(state, action)
        return int(self.game.turn_sign(state, child)) * self.score(child, clock)

    def sign(self, state: Any, clock: SearchClock | None = None) -> int:
        """Return 1, 0 or -1 for a win, a draw or a loss, without the distance."""
        score = self._look_up(state)
        if score is not None:
            return sign(score)
        infinity = self.hooks.win_score
        low, high = self.bounds(state, -infinity, infinity, clock, sign_only=True)
        return (low > 0) - (high < 0)

    def is_above(self, state: Any, guess: int, clock: SearchClock | None = None) -> bool:
        """Return whether the score of a state is above a guess."""
        score = self._look_up(state)
        if score is not None:
            return score > guess
        return self.bounds(state, guess, guess + 1, clock)[0] > guess

    def bounds(
        self,
        state: Any,
        low: int,
        high: int,
        clock: SearchClock | None = None,
        *,
        sign_only: bool = False,
    ) -> tuple[int, int]:
        """Return bounds of the score of a state that is not over.

        See `NegamaxSearcher.narrow_bounds`.
        """
        clock = clock or SearchClock()
        if len(self._searchers) > 1 and self.game.is_alternating:
            return self._bounds_by_threads(state, low, high, clock, sign_only=sign_only)
        return self.searcher.narrow_bounds(state, low, high, clock, sign_only=sign_only)

    def source(self, state: Any) -> str:
        """Return the source of a state's score: "table", "book" or "search"."""
        if self.tablebase is None or self.tablebase.score(state) is None:
            return "search"
        return self.tablebase.source

    def best_actions(self, state: Any, score: int, clock: SearchClock | None = None) -> list[int]:
        """Return all best actions of a state whose exact score is given."""
        return [a for a in self.game.actions(state) if self.reaches(state, a, score, clock)]

    def reaches(
        self, state: Any, action: int, score: int, clock: SearchClock | None = None
    ) -> bool:
        """Return whether an action achieves at least this score for the side to move."""
        child = self.game.play(state, action)
        bound = self._child_bound(score)
        if self.game.turn_sign(state, child) > 0:
            return self.is_above(child, -bound - 1, clock)
        return not self.is_above(child, bound, clock)

    def principal_variation(
        self, state: Any, score: int, clock: SearchClock | None = None
    ) -> list[int]:
        """Return a line of best play from a state with this score.

        The line always takes the first best action. It stops at the end of the game, after 64
        plies, or at the last state in the book.
        """
        start, actions = state, list[int]()
        is_in_book = self.source(state) == "book"
        while len(actions) < _MAX_LINE and not self.game.result(state)[0]:
            legal = self.game.actions(state)
            if is_in_book and self.source(self.game.play(state, legal[0])) == "search":
                break
            action = next(a for a in legal if self.reaches(state, a, score, clock))
            actions.append(action)
            child = self.game.play(state, action)
            score = -self.game.turn_sign(state, child) * self._child_bound(score)
            state = child
        return list(self.game.legal_line(start, actions))

    def _look_up(self, state: Any) -> int | None:
        """Return the score of a finished game or from the tablebase; None if a search is needed."""
        if self.game.result(state)[0]:
            return terminal_score(self.hooks, state)
        return self.tablebase.score(state) if self.tablebase else None

    def _prove(self, state: Any, clock: SearchClock) -> int:
        """Find the score by searches to the end of the game."""
        low, high = -self.hooks.win_score, self.hooks.win_score
        if not self.hooks.short_wins_first:
            low, high = self.bounds(state, low, high, clock, sign_only=True)
        return self.bounds(state, low, high, clock)[0]

    def _deepen(self, state: Any, clock: SearchClock) -> int | None:
        """Find the score by iterative deepening; return None if a limit is reached first."""
        self._engine = self._engine or WordEngine(self.hooks)
        for iteration in deepen(self._engine, state, clock):
            is_proven = is_settled(self._engine, iteration.score, iteration.depth)
            if iteration.exact or is_proven:
                return iteration.score
        return None

    def _child_bound(self, score: int) -> int:
        return int(kernel.child_bound(self.hooks, score))

    def _parent_score(self, score: int) -> int:
        return int(kernel.parent_score(self.hooks, score))

    def _bounds_by_threads(
        self, state: Any, low: int, high: int, clock: SearchClock, *, sign_only: bool
    ) -> tuple[int, int]:
        """Narrow the bounds like the kernel does, but split the moves among the threads."""
        control = [0] * arrays.NUM_CONTROLS
        control[arrays.LOWER], control[arrays.UPPER], control[arrays.SIGN_ONLY] = (
            low,
            high,
            sign_only,
        )
        control[arrays.SCORE_GAP] = self.hooks.win_score - self.hooks.max_plies(state) - 1
        children = self._distinct_children(state)
        while not kernel.is_answered(control):
            guess = int(kernel.next_guess(self.hooks, control))
            score = max(self._search_children(children, self._child_bound(guess + 1), clock))
            control[arrays.LOWER if score > guess else arrays.UPPER] = score
        return int(control[arrays.LOWER]), int(control[arrays.UPPER])

    def _distinct_children(self, state: Any) -> list[Any]:
        """Return the children, one of each symmetry class, with promising moves first."""
        symmetries = self.game.symmetries() if self.settings.symmetry else ()
        children: dict[Any, Any] = {}
        for action in self.game.actions(state):
            child = self.game.play(state, action)
            canonical = min((self.game.transform(child, s) for s in symmetries), default=child)
            children.setdefault(canonical, child)
        return sorted(children.values(), key=self._evaluate_child)

    def _evaluate_child(self, child: Any) -> int:
        """Estimate a child for its side to move; a low estimate is good for the parent."""
        if self.game.result(child)[0]:
            return terminal_score(self.hooks, child)
        return int(self.hooks.evaluate(child))

    def _search_children(self, children: list[Any], guess: int, clock: SearchClock) -> list[int]:
        """Return scores or bounds of these children, for the side to move at their parent.

        The first child whose score is not above `guess` is decisive: the other threads are stopped,
        and the result omits the children that they were searching.
        """
        clocks = [clock.subclock() for _ in self._searchers]
        pending = iter(children)
        scores: list[int] = []
        lock, is_answered = threading.Lock(), threading.Event()

        def search_pending(searcher: NegamaxSearcher, thread_clock: SubClock) -> None:
            while not is_answered.is_set():
                with lock:
                    child = next(pending, None)
                if child is None:
                    return
                if self.game.result(child)[0]:
                    low = high = terminal_score(self.hooks, child)
                else:
                    try:
                        low, high = searcher.narrow_bounds(child, guess, guess + 1, thread_clock)
                    except SearchStopped:
                        if thread_clock.is_cancelled:
                            return
                        raise
                scores.append(self._parent_score(low if low > guess else high))
                if low <= guess:
                    is_answered.set()
                    for other in clocks:
                        other.is_cancelled = True

        with ThreadPoolExecutor(len(clocks)) as pool, _cancel_on_error(clocks):
            for future in [
                pool.submit(search_pending, *pair)
                for pair in zip(self._searchers, clocks, strict=True)
            ]:
                future.result()
        return scores


def plies_to_end(hooks: SolverHooks, score: int, *, played: int = 0) -> int | None:
    """Return the plies to the end that an exact score encodes, plus `played`, or None.

    It is None for a draw and in games with scores of their own. It is also None in games whose
    sides do not alternate, where it would not tell how many moves each side makes.
    """
    is_known = score != 0 and hooks.ply_cost > 0 and hooks.game.is_alternating
    return played + hooks.win_score - abs(score) if is_known else None


@contextlib.contextmanager
def _cancel_on_error(clocks: list[SubClock]) -> Iterator[None]:
    """Stop all threads if one of them fails or Ctrl-C is pressed."""
    try:
        yield
    except BaseException:
        for clock in clocks:
            clock.is_cancelled = True
        raise
