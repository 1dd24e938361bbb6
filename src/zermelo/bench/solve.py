"""Compare exact search with BitBully and OpenSpiel, and measure each technique by an ablation.

BitBully solves Connect Four, and OpenSpiel searches tic-tac-toe and Connect Four by alpha-beta.

Our solver starts a new generation of its transposition table for each position. BitBully's table is
cleared only before each pass over a set. It therefore keeps entries from other positions, which is
a small advantage for BitBully. Clearing it before each position would take 50 ms and empty the
processor's caches. Short searches would then be up to three times slower, even though the clearing
itself is not timed.
docs/benchmarks.md has the figures.
"""

import importlib
import random
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from zermelo.bench import measure, positions
from zermelo.bench.measure import ProgressFunction, Row
from zermelo.bench.positions import PositionSet
from zermelo.bench.squava import orderings
from zermelo.core.bitboard import sign
from zermelo.core.errors import ZermeloError
from zermelo.core.game import SolverHooks, WordGame
from zermelo.core.player import Limit
from zermelo.games import registry
from zermelo.games.lines.small import WordLineGame
from zermelo.games.lines.tactics import LineTactics
from zermelo.search.engines import WordEngine
from zermelo.search.limits import SearchClock, SearchStopped
from zermelo.search.negamax.searcher import NegamaxSearcher
from zermelo.search.solver.solver import Solver, SolverSettings

_DEPTH = 8  # depth of alpha-beta in Connect Four
_MIN_SECONDS = 0.2  # minimum duration of a measurement, including preparation
_ABLATION_GAMES = ("mnk:4x4x4", "mnk:5x4x4")
_ABLATIONS = {
    "all on": SolverSettings(),
    "no ordering": SolverSettings(ordering=False),
    "no symmetry": SolverSettings(symmetry=False),
    "no table": SolverSettings(table=False),
    "small table": SolverSettings(table_bits=14),
}

Task = tuple[Callable[[], Any], Callable[[Any], Any]]  # (preparation, work to time)


def run(
    number: int,
    repeat: int,
    parts: Sequence[str],
    file: Path | None,
    progress: ProgressFunction,
    *,
    max_nodes: int = 20_000_000,
) -> dict[str, Any]:
    """Measure the given parts, with `number` positions per set and `repeat` runs.

    If `file` is given, its position sets are used instead of ours. `max_nodes` limits each search
    of the ablation.
    """
    measure.pin_to_one_core()
    rows: list[Row] = []
    notes: list[str] = []
    if "sets" in parts:
        rows += _measure_sets(_position_sets(number, file), repeat, notes, progress)
    if "alphabeta" in parts:
        rows += _measure_alphabeta(repeat, notes, progress)
    if "switches" in parts:
        rows += _measure_ablations(number, max_nodes, notes, progress)
    if "squava" in parts:
        rows += orderings.compare_orderings(min(number, 300), progress)
    return measure.create_report("solve", rows, notes)


def _position_sets(number: int, file: Path | None) -> Iterable[PositionSet]:
    if file is not None:
        return positions.read_positions(file, registry.game("connect4"))
    return (positions.sample_connect_four(name, number) for name in positions.STONE_RANGES)


def _measure_seconds(prepare: Callable[[], Any], work: Callable[[Any], Any], repeat: int) -> float:
    """Return the median CPU time of `work` in `repeat` runs or more, after a warm-up.

    `prepare` returns the argument of `work` and is not timed.
    """
    work(prepare())
    times: list[float] = []
    start = time.process_time()
    while len(times) < repeat or time.process_time() - start < _MIN_SECONDS:
        argument = prepare()
        begin = time.process_time()
        work(argument)
        times.append(time.process_time() - begin)
    return statistics.median(times)


# Connect Four: exact scores.


def _measure_sets(
    sets: Iterable[PositionSet], repeat: int, notes: list[str], progress: ProgressFunction
) -> list[Row]:
    game = registry.game("connect4")
    assert isinstance(game, WordGame)
    ours = _Zermelo(game)
    bitbully = _BitBully() if measure.is_installed("bitbully") else None
    if bitbully is None:
        notes.append("bitbully is not measured: it is not installed")
    rows = []
    for position_set in sets:
        progress(f"connect4, {position_set.name}")
        scores = ours.scores(position_set)
        if position_set.scores is not None:
            _check_equal(position_set, scores, position_set.scores, "the file")
        rows.append(ours.measure(position_set, repeat))
        if bitbully is not None:
            progress(f"connect4, {position_set.name} with bitbully")
            _check_equal(position_set, scores, bitbully.scores(position_set), "bitbully")
            rows.append(bitbully.measure(position_set, repeat))
    return rows


def _check_equal(
    position_set: PositionSet, scores: list[int], other_scores: list[int], source: str
) -> None:
    """Raise ZermeloError if the two lists differ, because then one of the solvers is wrong."""
    for number, (score, other) in enumerate(zip(scores, other_scores, strict=True)):
        if score != other:
            moves = " ".join(position_set.positions[number].moves or ())
            msg = (
                f"set {position_set.name}, position {moves}: "
                f"our score is {score}, but that of {source} is {other}"
            )
            raise ZermeloError(msg)


class _Zermelo:
    """Our search kernel, which solves a whole set of positions per call."""

    def __init__(self, game: WordGame) -> None:
        self.game = game
        self.searcher = NegamaxSearcher(game.hooks, table_bits=SolverSettings().table_bits)
        self.searcher.allocate_table()  # before the clock starts

    def scores(self, position_set: PositionSet) -> list[int]:
        """Return the usual scores: 22 minus the winner's number of stones, negated for a loss."""
        converted = []
        scores = self.searcher.solve_batch(position_set.states, SearchClock())
        for position, score in zip(position_set.positions, scores, strict=True):
            stones = sum(map(abs, position.board or ())) + self.game.hooks.win_score - abs(score)
            size = (len(position.board or ()) + 3) // 2 - (stones + 1) // 2
            converted.append(size * sign(score))
        return converted

    def measure(self, position_set: PositionSet, repeat: int) -> Row:
        """Measure the time and the number of nodes to solve the set."""
        import numpy as np

        states = np.array(position_set.states, np.uint64)
        clock = SearchClock()
        self.searcher.solve_batch(states, clock)
        seconds = _measure_seconds(
            SearchClock, lambda clock: self.searcher.solve_batch(states, clock), repeat
        )
        return _create_set_row(position_set.name, "zermelo", len(states), seconds, clock.nodes)


class _BitBully:
    """BitBully's core without an opening book, with its fastest method."""

    def __init__(self) -> None:
        self.core = importlib.import_module("bitbully.bitbully_core")
        self.solver = self.core.BitBullyCore()
        assert not self.solver.isBookLoaded()

    def scores(self, position_set: PositionSet) -> list[int]:
        """Return BitBully's scores, which follow the same convention as ours."""
        return [int(self.solver.nullWindow(board)) for board in self._boards(position_set)]

    def measure(self, position_set: PositionSet, repeat: int) -> Row:
        """Measure the time and the nodes to solve the set; each pass starts with an empty table."""
        boards = self._boards(position_set)

        def work(_: None) -> None:
            for board in boards:
                self.solver.nullWindow(board)

        def prepare() -> None:
            self.solver.resetTranspositionTable()
            self.solver.resetNodeCounter()

        seconds = _measure_seconds(prepare, work, repeat)
        nodes = int(self.solver.getNodeCounter())
        return _create_set_row(position_set.name, "bitbully", len(boards), seconds, nodes)

    def _boards(self, position_set: PositionSet) -> list[Any]:
        boards = []
        for number in range(len(position_set.positions)):
            board = self.core.BoardCore()
            assert board.play(position_set.history(number))
            boards.append(board)
        return boards


def _create_set_row(name: str, system: str, number: int, seconds: float, nodes: int) -> Row:
    """Return the report row of a position set; its `ms` and `nodes` are means per position."""
    return measure.create_row(
        "connect4",
        f"solve {name}",
        system,
        number / seconds,
        "positions/s",
        ms=1000 * seconds / number,
        nodes=nodes / number,
        nodes_per_second=nodes / seconds,
    )


# Alpha-beta, which OpenSpiel implements in Python.


class _NoHeuristic(LineTactics):
    """Evaluates every leaf as 0."""

    evaluate = SolverHooks.evaluate


def _measure_alphabeta(repeat: int, notes: list[str], progress: ProgressFunction) -> list[Row]:
    """Measure full searches of tic-tac-toe, and fixed-depth searches of Connect Four.

    Connect Four is searched with two leaf evaluations.
    """
    connect4 = registry.game("connect4")
    assert isinstance(connect4, WordLineGame)
    rng = random.Random(1)
    task_name = f"search depth {_DEPTH}"
    tasks = (
        ("tictactoe", "solve start", _solver_task(), _open_spiel("tic_tac_toe")),
        (
            "connect4",
            task_name,
            _engine_task(_NoHeuristic(connect4)),
            _open_spiel("connect_four", lambda _: 0),
        ),
        # Random leaf values cost almost nothing and vary as real estimates do.
        (
            "connect4",
            f"{task_name} with estimates",
            _engine_task(connect4.hooks),
            _open_spiel("connect_four", lambda _: rng.random()),
        ),
    )
    rows = []
    for name, task, ours, theirs in tasks:
        progress(f"{name}, {task}")
        rows.append(_create_solve_row(name, task, "zermelo", _measure_seconds(*ours, repeat)))
        if theirs is not None:
            progress(f"{name}, {task} with open_spiel")
            rows.append(
                _create_solve_row(name, task, "open_spiel", _measure_seconds(*theirs, repeat))
            )
    if not measure.is_installed("open_spiel"):
        notes.append("open_spiel is not measured: it is not installed")
    return rows


def _create_solve_row(game: str, task: str, system: str, seconds: float) -> Row:
    return measure.create_row(game, task, system, 1 / seconds, "solves/s", ms=1000 * seconds)


def _solver_task() -> Task:
    """Return a task that solves tic-tac-toe and also finds the distance to the end."""
    game = registry.game("tictactoe")
    assert isinstance(game, WordGame)
    solver = Solver(game)
    return solver.clear, lambda _: solver.score(game.initial())


def _engine_task(hooks: SolverHooks) -> Task:
    """Return a task that uses a new engine for each search, as a used one orders moves better."""

    def prepare() -> WordEngine:
        engine = WordEngine(hooks)
        engine.start_iteration(_DEPTH)
        return engine

    def work(engine: WordEngine) -> None:
        win = engine.win_score
        engine.search(hooks.game.initial(), _DEPTH, -win, win, SearchClock())

    return prepare, work


def _open_spiel(name: str, value: Callable[[Any], float] | None = None) -> Task | None:
    """Return a task that runs OpenSpiel's alpha-beta, or None if OpenSpiel is not installed.

    It searches to a fixed depth or, if `value` is None, to the end of the game.
    """
    if not measure.is_installed("open_spiel"):
        return None
    game = importlib.import_module("pyspiel").load_game(name)
    minimax = importlib.import_module("open_spiel.python.algorithms.minimax")
    depth = 30 if value is None else _DEPTH
    return lambda: None, lambda _: minimax.alpha_beta_search(
        game, value_function=value, maximum_depth=depth
    )


# An ablation: the effect of each technique of the solver.


def _measure_ablations(
    number: int, max_nodes: int, notes: list[str], progress: ProgressFunction
) -> list[Row]:
    """Solve small drawn games and Connect Four positions with one technique off at a time."""
    middle = positions.sample_connect_four("middle", min(number, 50))
    rows = []
    for spec in (*_ABLATION_GAMES, "connect4"):
        game = registry.game(spec)
        assert isinstance(game, WordGame)
        for name, settings in _ABLATIONS.items():
            progress(f"{spec}, {name}")
            task = f"solve {'middle ' if spec == 'connect4' else ''}{name}"
            clock = SearchClock(Limit(nodes=max_nodes))
            work, size = _ablation_task(game, settings, middle)
            begin = time.process_time()
            try:
                work(clock)
            except SearchStopped:
                notes.append(f"{spec}/{task}: more than {clock.nodes:,} nodes, stopped")
                size = 0
            seconds = time.process_time() - begin
            rows.append(_create_ablation_row(spec, task, size, seconds, clock.nodes))
    return rows


def _ablation_task(
    game: WordGame, settings: SolverSettings, middle: PositionSet
) -> tuple[Callable[[SearchClock], Any], int]:
    """Return (search to time, number of positions); everything else is set up beforehand."""
    searcher = NegamaxSearcher(
        game.hooks,
        table_bits=settings.table_bits if settings.table else None,
        ordering=settings.ordering,
        symmetry=settings.symmetry,
    )
    searcher.allocate_table()
    if game.spec == "connect4":
        searcher.solve_batch(middle.states[:1], SearchClock())
        return lambda clock: searcher.solve_batch(middle.states, clock), len(middle.positions)
    win, start = game.hooks.win_score, game.initial()
    return lambda clock: searcher.narrow_bounds(start, -win, win, clock, sign_only=True), 1


def _create_ablation_row(spec: str, task: str, size: int, seconds: float, nodes: int) -> Row:
    """Return a row; `ms` and `nodes` are totals, and a stopped search (`size` 0) has rate 0."""
    return measure.create_row(
        spec,
        task,
        "zermelo",
        size / seconds,
        "positions/s" if spec == "connect4" else "solves/s",
        ms=1000 * seconds,
        nodes=nodes,
        stopped=not size,
    )
