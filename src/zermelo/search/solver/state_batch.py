"""Solve a batch of states of one bitboard game with the batch kernel, split among threads.

Symmetric images are solved only once. States in a tablebase or an opening book are looked up.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from zermelo.core.game import WordGame
from zermelo.core.player import Limit
from zermelo.core.position import Position
from zermelo.core.value import Value
from zermelo.kernels.compiler import compile_kernel
from zermelo.search.limits import SearchClock, SearchStopped
from zermelo.search.negamax import batch
from zermelo.search.negamax.arrays import NO_SCORE
from zermelo.search.negamax.searcher import BatchSearch
from zermelo.search.solver.solution import DEFAULT_SOLVERS, Solution, estimate_position
from zermelo.search.solver.solver import FIRST_PROOF_NODES, Solver, plies_to_end
from zermelo.search.state_arrays import canonicalise
from zermelo.search.worker_threads import Worker, run_tasks

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TASKS_PER_THREAD, _MAX_TASK = 16, 512  # how finely states are split among the threads
_PROOF_SHARE = 0.9  # the share of a limit for the proof; the rest is for an estimate
_BATCH_GOALS = {"exact": batch.EXACT, "wdl": batch.SIGN, "win": batch.WIN}


@dataclass
class BatchRun:
    """The options and the progress of one call of `solve_many`."""

    goal: str
    limit: Limit  #: for each position
    threads: int
    total: int  #: the number of positions
    progress: Callable[[int, int], None] | None = None
    num_solved: int = 0
    stop: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, tasks: Sequence[Any], worker: Worker[Any]) -> None:
        """Run tasks in threads until all are finished, or until Ctrl-C or the user stops them."""
        with contextlib.suppress(KeyboardInterrupt):
            run_tasks(tasks, worker, self.threads, self.stop, self.poll)

    def add_solved(self, number: int) -> None:
        """Count positions as solved; any thread may call this."""
        with self._lock:
            self.num_solved += number

    def poll(self) -> None:
        """Report the progress, and stop if the user has asked for it."""
        if self.limit.stop is not None and self.limit.stop.is_set():
            self.stop.set()
        if self.progress is not None:
            self.progress(self.num_solved, self.total)


class StateBatch:
    """Unfinished positions of one bitboard game, which are solved without their best moves."""

    def __init__(
        self, run: BatchRun, game: WordGame, positions: list[Position], states: "NDArray[Any]"
    ) -> None:
        import numpy as np

        self.run, self.game, self.positions = run, game, positions
        self.has_limit = run.limit != Limit()
        #: the distinct canonical states [root, word], and the row of each position's state
        self.roots, self.rows = _distinct_states(canonicalise(game, states))
        self.counts = np.bincount(self.rows)  # [root]: the number of its positions
        self.scores: NDArray[np.int64] = np.full(len(self.roots), NO_SCORE, np.int64)  # [root]
        self.nodes: NDArray[np.int64] = np.zeros(len(self.roots), np.int64)  # [root]
        self.seconds: NDArray[np.float64] = np.zeros(len(self.roots))  # [root]
        self.is_stored: NDArray[np.bool_] = np.zeros(len(self.roots), np.bool_)  # [root]
        self.stored_source = "search"  # of the roots in a tablebase or book

    def solve(self) -> list[Solution | None]:
        """Return the solution of each position; None if the call was stopped first."""
        compile_kernel(batch.solve_batch, self.game.hooks)  # before the threads start
        self._look_up_scores()
        self._run_tasks(self._split(self._unscored()), self._search_roots)
        if not self.has_limit:
            self._run_tasks(self._unscored().tolist(), self._score_root)
        solutions = self._solutions()
        if self.has_limit:
            unproven = [number for number, solution in enumerate(solutions) if solution is None]
            self._run_tasks(unproven, lambda _solver, _clock, n: self._estimate(solutions, n))
        return solutions

    def _unscored(self) -> "NDArray[Any]":
        """Return the numbers of the roots that have no score yet."""
        import numpy as np

        return np.flatnonzero(self.scores == NO_SCORE)

    def _split(self, numbers: "NDArray[Any]") -> list[Any]:
        """Split the numbers of roots into tasks of equal size."""
        size = len(numbers) // (self.run.threads * _TASKS_PER_THREAD)
        size = max(1, min(size, _MAX_TASK))
        return [numbers[begin : begin + size] for begin in range(0, len(numbers), size)]

    def _run_tasks(
        self, tasks: list[Any], function: Callable[[Solver, SearchClock, Any], None]
    ) -> None:
        """Call a function for every task, with the solver and the clock of the task's thread."""

        @contextlib.contextmanager
        def worker() -> Iterator[Callable[[Any], None]]:
            clock = SearchClock(Limit(stop=self.run.stop))
            with DEFAULT_SOLVERS.borrow(self.game) as solver, contextlib.suppress(SearchStopped):
                yield partial(function, solver, clock)

        if tasks and not self.run.stop.is_set():
            self.run.run(tasks, worker)

    def _look_up_scores(self) -> None:
        """Set the scores of the roots that are in a tablebase or book."""
        with DEFAULT_SOLVERS.borrow(self.game) as solver:
            if solver.tablebase is None:
                return
            for row, score in solver.tablebase.look_up_batch(self.roots).items():
                self.scores[row] = score
                self.is_stored[row] = True
            self.stored_source = solver.tablebase.source
            self.run.add_solved(int(self.counts[self.is_stored].sum()))

    def _search_roots(self, solver: Solver, clock: SearchClock, numbers: "NDArray[Any]") -> None:
        """Search roots with the batch kernel; roots that take too long get no score."""
        begin = time.perf_counter()
        search = solver.searcher.start_batch(self.roots[numbers], _BATCH_GOALS[self.run.goal])
        try:
            self._run_slices(search, clock, self._max_nodes(solver))
        finally:
            if self.run.limit.nodes is not None:
                # A slice may be longer than the limit, but the result must not depend on slices.
                search.scores[search.nodes > self._max_nodes(solver)] = NO_SCORE
            self.scores[numbers], self.nodes[numbers] = search.scores, search.nodes
            self.seconds[numbers] = (time.perf_counter() - begin) / len(numbers)
            self.run.add_solved(int(self.counts[numbers][search.scores != NO_SCORE].sum()))

    def _max_nodes(self, solver: Solver) -> float:
        """Return how many nodes a search of one root may take."""
        if self.run.limit.nodes is not None:
            return int(self.run.limit.nodes * _PROOF_SHARE)
        # Beyond this, iterative deepening may be faster: `Solver.score` tries both in turn.
        takes_turns = solver.takes_turns and self.run.goal == "exact" and not self.has_limit
        return FIRST_PROOF_NODES if takes_turns else float("inf")

    def _run_slices(self, search: BatchSearch, clock: SearchClock, max_nodes: float) -> None:
        """Run a search to its end, but give up roots that reach a limit."""
        seconds = self.run.limit.seconds
        max_seconds = float("inf") if seconds is None else seconds * _PROOF_SHARE
        current, begin = -1, 0.0
        while not search.is_finished:
            search.run_slice(clock)
            if search.num_finished != current:
                current, begin = search.num_finished, time.perf_counter()
            if search.is_finished:
                break
            is_late = time.perf_counter() - begin >= max_seconds
            if is_late or search.nodes[current] > max_nodes:
                search.give_up_state()

    def _score_root(self, solver: Solver, clock: SearchClock, number: int) -> None:
        """Solve a root that took the batch kernel too long."""
        begin, nodes = time.perf_counter(), clock.nodes
        solver.clear()
        self.scores[number] = solver.score(tuple(self.roots[number].tolist()), clock)
        self.nodes[number] += clock.nodes - nodes
        self.seconds[number] += time.perf_counter() - begin
        self.run.add_solved(int(self.counts[number]))

    def _estimate(self, solutions: list[Solution | None], number: int) -> None:
        """Estimate a position that was not solved within the limit."""
        limit, row = self.run.limit, self.rows[number]
        share = 1 - _PROOF_SHARE
        rest = replace(
            limit,
            seconds=None if limit.seconds is None else limit.seconds * share,
            nodes=None if limit.nodes is None else round(limit.nodes * share),
            stop=self.run.stop,
        )
        estimate = estimate_position(self.positions[number], rest)
        solutions[number] = replace(
            estimate,
            nodes=estimate.nodes + int(self.nodes[row]),
            seconds=estimate.seconds + float(self.seconds[row]),
        )
        self.run.add_solved(1)

    def _solutions(self) -> list[Solution | None]:
        """Return the solutions of the positions whose score is known."""
        scores, nodes, seconds, is_stored = (
            array.tolist() for array in (self.scores, self.nodes, self.seconds, self.is_stored)
        )
        results = {
            key: None if key[0] == NO_SCORE else self._result(*key)
            for key in set(zip(scores, is_stored, strict=True))
        }
        solutions: list[Solution | None] = []
        for position, row in zip(self.positions, self.rows, strict=True):
            fields = results[scores[row], is_stored[row]]
            if fields is None:
                solutions.append(None)
                continue
            # The constructor of a frozen dataclass would take three times as long.
            solution = Solution.__new__(Solution)
            solution.__dict__.update(
                fields, position=position, nodes=nodes[row], seconds=seconds[row]
            )
            solutions.append(solution)
        return solutions

    def _result(self, score: int, is_stored: bool) -> dict[str, Any]:
        """Return the fields that solutions with this score have in common."""
        hooks, goal = self.game.hooks, self.run.goal
        value, is_exact = Value.from_score(score), goal == "exact"
        result = Solution(
            self.game.start(),
            value,
            plies=plies_to_end(hooks, score) if is_exact else None,
            exact=True,
            source=self.stored_source if is_stored else "search",
            diff=score if is_exact and hooks.ply_cost == 0 else None,
            complete=False,
        )
        if goal == "win" and score > 0:
            result = replace(result, wins=True)
        elif goal == "win":
            result = Solution(self.game.start(), estimate=0.0, complete=False, wins=False)
        return vars(result)


def _distinct_states(states: "NDArray[Any]") -> "tuple[NDArray[Any], list[int]]":
    """Return the distinct rows of an array of states, and the index of each row among them."""
    import numpy as np

    states = np.ascontiguousarray(states)
    keys = states.view(f"V{states.itemsize * states.shape[1]}").ravel().tolist()
    places: dict[bytes, int] = {}
    rows = [places.setdefault(key, len(places)) for key in keys]
    words = np.frombuffer(b"".join(places), np.uint64)
    return words.reshape(len(places), states.shape[1]), rows
