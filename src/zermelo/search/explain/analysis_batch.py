"""Analyze many positions at once, in several threads."""

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from zermelo.core.player import Analysis, Limit, as_limit
from zermelo.core.position import Position
from zermelo.search.explain.analysis import Analyst, analyze
from zermelo.search.state_arrays import check_positions
from zermelo.search.worker_threads import check_threads, run_tasks


def analyze_many(
    positions: Iterable[Position],
    limit: Limit | None = None,
    *,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> list[Analysis]:
    """Analyze many positions and return their analyses in order, each as `analyze` returns it.

    The limit applies to each position; the default is 10 seconds, as for `analyze`. `progress`
    is called now and then with the number of analyzed positions and the number of all positions.
    When `limit.stop` is set, the remaining positions are analyzed only one ply deep. Ctrl-C stops
    all threads and raises KeyboardInterrupt.

    >>> import zermelo as z
    >>> game = z.game("tictactoe")
    >>> [(a.move, a.value) for a in z.analyze_many([game.start(), game.position("XX./OO./...")])]
    [('b2', 'draw'), ('c1', 'win')]
    """
    check_threads(threads)
    limit = as_limit(limit)
    checked = check_positions(positions, "analyze_many")
    return _AnalysisBatch(checked, limit, progress).analyze(threads)


class _AnalysisBatch:
    """One call of `analyze_many`."""

    def __init__(
        self,
        positions: list[Position],
        limit: Limit,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self.positions, self.limit, self.progress = positions, limit, progress
        self.analyses: dict[int, Analysis] = {}  # by the index of the position
        self.stop = threading.Event()

    def analyze(self, threads: int) -> list[Analysis]:
        # Group positions by game, because an analyst keeps the kernels of only one game.
        games = {position.game: number for number, position in enumerate(self.positions)}
        for game in games:
            Analyst().prepare(game)  # compiles the kernels before the threads start
        indices = sorted(range(len(self.positions)), key=lambda i: games[self.positions[i].game])
        run_tasks(indices, self.worker, threads, self.stop, self.poll)
        with self.worker() as analyze_position:
            for index in indices:
                if index not in self.analyses:  # the user has stopped the analysis
                    analyze_position(index)
        return [self.analyses[index] for index in range(len(self.positions))]

    def poll(self) -> None:
        if self.limit.stop is not None and self.limit.stop.is_set():
            self.stop.set()
        if self.progress is not None:
            self.progress(len(self.analyses), len(self.positions))

    @contextlib.contextmanager
    def worker(self) -> Iterator[Callable[[int], None]]:
        analyst, limit = Analyst(), replace(self.limit, stop=self.stop)

        def analyze_position(index: int) -> None:
            analyst.reseed(0)  # an analysis must not depend on earlier ones
            self.analyses[index] = analyze(self.positions[index], limit, analyst=analyst)

        yield analyze_position
