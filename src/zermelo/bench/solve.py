"""Exact search: Connect Four scores beside BitBully's, alpha-beta beside OpenSpiel's, our switches.

Ours takes a new generation of its table for each position. BitBully's is cleared before each pass
and not for each position: clearing takes some 50 ms, untimed, but leaves the processor's caches
empty, which slows its short searches up to three times. What it keeps from other positions is in
its favour and small; docs/benchmarks.md has the figures.
"""

import importlib
import random
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from zermelo.bench import measure, positions
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
from zermelo.search.negamax.runner import Runner
from zermelo.search.solver.solver import Settings, Solver

_DEPTH = 8  # of alpha-beta in Connect Four
_MIN_SECONDS = 0.2  # to measure for, what is prepared included
_ABLATED = ("mnk:4x4x4", "mnk:5x4x4")
_SWITCHES = {
    "all on": Settings(),
    "no ordering": Settings(ordering=False),
    "no symmetry": Settings(symmetry=False),
    "no table": Settings(table=False),
    "small table": Settings(table_bits=14),
}

Row = dict[str, Any]
Task = tuple[Callable[[], Any], Callable[[Any], Any]]  # prepare, then work


def run(
    number: int,
    repeat: int,
    parts: Sequence[str],
    file: Path | None,
    progress: Callable[[str], None],
    *,
    max_nodes: int = 20_000_000,
) -> dict[str, Any]:
    """Measure the parts asked for: `number` positions a set, `repeat` runs each.

    With a file its sets take the place of ours. `max_nodes` ends a search with a switch off.
    """
    measure.pin_to_one_core()
    rows: list[Row] = []
    notes: list[str] = []
    if "sets" in parts:
        rows += _sets(_given(number, file), repeat, notes, progress)
    if "alphabeta" in parts:
        rows += _alphabeta(repeat, notes, progress)
    if "switches" in parts:
        rows += _switches(number, max_nodes, notes, progress)
    if "squava" in parts:
        rows += orderings.compare_orderings(min(number, 300), progress)
    return measure.create_report("solve", rows, notes)


def _given(number: int, file: Path | None) -> Iterable[PositionSet]:
    if file is not None:
        return positions.read_positions(file, registry.game("connect4"))
    return (positions.sample_connect_four(name, number) for name in positions.STONE_RANGES)


def _seconds(prepare: Callable[[], Any], work: Callable[[Any], Any], repeat: int) -> float:
    """CPU seconds of `work`, the median of `repeat` runs or, if short, of more; a warm-up first.

    `prepare` makes what `work` takes, outside the time.
    """
    work(prepare())
    times: list[float] = []
    start = time.process_time()
    while len(times) < repeat or time.process_time() - start < _MIN_SECONDS:
        thing = prepare()
        begin = time.process_time()
        work(thing)
        times.append(time.process_time() - begin)
    return statistics.median(times)


# Connect Four: exact scores, the mean over a set.


def _sets(
    sets: Iterable[PositionSet], repeat: int, notes: list[str], progress: Callable[[str], None]
) -> list[Row]:
    game = registry.game("connect4")
    assert isinstance(game, WordGame)
    ours = _Ours(game)
    theirs = _BitBully() if measure.is_installed("bitbully") else None
    if theirs is None:
        notes.append("bitbully is not installed: not measured")
    rows = []
    for some in sets:
        progress(f"connect4, {some.name}")
        answers = ours.answers(some)
        if some.scores is not None:
            _compare(some, answers, some.scores, "the file")
        rows.append(ours.row(some, repeat))
        if theirs is not None:
            progress(f"connect4, {some.name} with bitbully")
            _compare(some, answers, theirs.answers(some), "bitbully")
            rows.append(theirs.row(some, repeat))
    return rows


def _compare(some: PositionSet, ours: list[int], theirs: list[int], whose: str) -> None:
    """What answers differently is not the same task."""
    for number, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        if one != other:
            moves = " ".join(some.positions[number].moves or ())
            msg = f"set {some.name}, position {moves}: {one} by us, {other} by {whose}"
            raise ZermeloError(msg)


class _Ours:
    """Our kernel, many positions a call."""

    def __init__(self, game: WordGame) -> None:
        self.game = game
        self.runner = Runner(game.hooks, table_bits=Settings().table_bits)
        self.runner.table[:] = 0  # every page of it is there before the clock starts

    def answers(self, some: PositionSet) -> list[int]:
        """Connect Four's score: 22 minus the stones that the winner will have played, signed."""
        found = []
        scores = self.runner.scores(some.states, SearchClock())
        for position, score in zip(some.positions, scores, strict=True):
            stones = sum(map(abs, position.board or ())) + self.game.hooks.win_score - abs(score)
            size = (len(position.board or ()) + 3) // 2 - (stones + 1) // 2
            found.append(size * sign(score))
        return found

    def row(self, some: PositionSet, repeat: int) -> Row:
        """Time and nodes."""
        import numpy as np

        states = np.array(some.states, np.uint64)
        clock = SearchClock()
        self.runner.scores(states, clock)
        seconds = _seconds(SearchClock, lambda clock: self.runner.scores(states, clock), repeat)
        return _row("connect4", some.name, "zermelo", len(states), seconds, clock.nodes)


class _BitBully:
    """Its core without an opening book; of its methods, that which is fastest by far."""

    def __init__(self) -> None:
        self.core = importlib.import_module("bitbully.bitbully_core")
        self.solver = self.core.BitBullyCore()
        assert not self.solver.isBookLoaded()

    def answers(self, some: PositionSet) -> list[int]:
        """It scores as we do."""
        return [int(self.solver.nullWindow(board)) for board in self._boards(some)]

    def row(self, some: PositionSet, repeat: int) -> Row:
        """Time and nodes, with the table cleared before each pass."""
        boards = self._boards(some)

        def work(_: None) -> None:
            for board in boards:
                self.solver.nullWindow(board)

        def prepare() -> None:
            self.solver.resetTranspositionTable()
            self.solver.resetNodeCounter()

        seconds = _seconds(prepare, work, repeat)
        nodes = int(self.solver.getNodeCounter())
        return _row("connect4", some.name, "bitbully", len(boards), seconds, nodes)

    def _boards(self, some: PositionSet) -> list[Any]:
        boards = []
        for number in range(len(some.positions)):
            board = self.core.BoardCore()
            assert board.play(some.line(number))
            boards.append(board)
        return boards


def _row(game: str, name: str, system: str, number: int, seconds: float, nodes: int) -> Row:
    """A set's row: `ms` and `nodes` are means for a position."""
    return measure.create_row(
        game,
        f"solve {name}",
        system,
        number / seconds,
        "positions/s",
        ms=1000 * seconds / number,
        nodes=nodes / number,
        nodes_per_second=nodes / seconds,
    )


# Alpha-beta as OpenSpiel has it in Python.


class _Blind(LineTactics):
    """Beyond the horizon all is 0."""

    evaluate = SolverHooks.evaluate


def _alphabeta(repeat: int, notes: list[str], progress: Callable[[str], None]) -> list[Row]:
    """Tic-tac-toe to the end; Connect Four to a depth, where all is equal or all is different."""
    connect4 = registry.game("connect4")
    assert isinstance(connect4, WordLineGame)
    rng = random.Random(1)
    deep = f"search depth {_DEPTH}"
    tasks = (
        ("tictactoe", "solve start", _our_start(), _open_spiel("tic_tac_toe")),
        ("connect4", deep, _our_depth(_Blind(connect4)), _open_spiel("connect_four", lambda _: 0)),
        # Leaves at random cost next to nothing and are told apart as by an estimate.
        (
            "connect4",
            f"{deep} with estimates",
            _our_depth(connect4.hooks),
            _open_spiel("connect_four", lambda _: rng.random()),
        ),
    )
    rows = []
    for name, task, ours, theirs in tasks:
        progress(f"{name}, {task}")
        rows.append(_solves(name, task, "zermelo", _seconds(*ours, repeat)))
        if theirs is not None:
            progress(f"{name}, {task} with open_spiel")
            rows.append(_solves(name, task, "open_spiel", _seconds(*theirs, repeat)))
    if not measure.is_installed("open_spiel"):
        notes.append("open_spiel is not installed: not measured")
    return rows


def _solves(game: str, task: str, system: str, seconds: float) -> Row:
    return measure.create_row(game, task, system, 1 / seconds, "solves/s", ms=1000 * seconds)


def _our_start() -> Task:
    """Exact with distance, which is more than OpenSpiel answers."""
    game = registry.game("tictactoe")
    assert isinstance(game, WordGame)
    solver = Solver(game)
    return solver.forget, lambda _: solver.score(game.initial())


def _our_depth(hooks: SolverHooks) -> Task:
    """A new engine each time: in an old one moves that were best order the search."""

    def prepare() -> WordEngine:
        engine = WordEngine(hooks)
        engine.start_iteration(_DEPTH)
        return engine

    def work(engine: WordEngine) -> None:
        engine.search(hooks.game.initial(), _DEPTH, -engine.far, engine.far, SearchClock())

    return prepare, work


def _open_spiel(name: str, value: Callable[[Any], float] | None = None) -> Task | None:
    """To a depth if there is a value for what lies beyond it, else to the end."""
    if not measure.is_installed("open_spiel"):
        return None
    game = importlib.import_module("pyspiel").load_game(name)
    minimax = importlib.import_module("open_spiel.python.algorithms.minimax")
    depth = 30 if value is None else _DEPTH
    return lambda: None, lambda _: minimax.alpha_beta_search(
        game, value_function=value, maximum_depth=depth
    )


# What each switch of the solver is worth.


def _switches(
    number: int, max_nodes: int, notes: list[str], progress: Callable[[str], None]
) -> list[Row]:
    """Small boards proven drawn, and middle positions of Connect Four, one switch off a time."""
    middle = positions.sample_connect_four("middle", min(number, 50))
    rows = []
    for spec in (*_ABLATED, "connect4"):
        game = registry.game(spec)
        assert isinstance(game, WordGame)
        for name, settings in _SWITCHES.items():
            progress(f"{spec}, {name}")
            task = f"solve {'middle ' if spec == 'connect4' else ''}{name}"
            clock = SearchClock(Limit(nodes=max_nodes))
            work, size = _ablation(game, settings, middle)
            begin = time.process_time()
            try:
                work(clock)
            except SearchStopped:
                notes.append(f"{spec}/{task}: more than {clock.nodes:,} nodes, stopped")
                size = 0
            seconds = time.process_time() - begin
            rows.append(_switched(spec, task, size, seconds, clock.nodes))
    return rows


def _ablation(
    game: WordGame, settings: Settings, middle: PositionSet
) -> tuple[Callable[[SearchClock], Any], int]:
    """What to do, and how many positions that solves; compiled and with all memory touched."""
    runner = Runner(
        game.hooks,
        table_bits=settings.table_bits if settings.table else None,
        ordering=settings.ordering,
        symmetry=settings.symmetry,
    )
    runner.table[:] = 0
    if game.spec == "connect4":
        runner.scores(middle.states[:1], SearchClock())
        return lambda clock: runner.scores(middle.states, clock), len(middle.positions)
    ask = partial(
        runner.bounds, game.initial(), -game.hooks.win_score, game.hooks.win_score, coarse=True
    )
    return lambda clock: ask(clock=clock), 1


def _switched(spec: str, task: str, size: int, seconds: float, nodes: int) -> Row:
    """`ms` and `nodes` are totals; a search that was stopped solved 0 a second."""
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
