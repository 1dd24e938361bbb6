"""Many positions at once: `solve_many`, `analyze_many`, and the pool of solvers behind `solve`."""

import csv
import random
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import zermelo as z
from support import truth
from support.positions import late_state, reachable_states
from support.user_games import MATCHES
from zermelo.search.limits import SearchClock
from zermelo.search.negamax import arrays
from zermelo.search.negamax.searcher import NegamaxSearcher, Unsolved
from zermelo.search.solver import solution, state_batch
from zermelo.search.solver.solution import DEFAULT_SOLVERS, solver_for
from zermelo.search.solver.solver import Solver
from zermelo.search.solver.solver_pool import SolverPool
from zermelo.search.state_arrays import canonicalise, to_array
from zermelo.search.tablebase.files import tablebase_path
from zermelo.search.tablebase.tablebase import Tablebase

CONNECT4 = z.game("connect4:4x5")


def random_positions(game: z.Game, number: int, seed: int = 1) -> list[z.Position]:
    """Return positions from random play; some of them are finished games."""
    rng = random.Random(seed)
    positions = []
    while len(positions) < number:
        position = game.start()
        while not position.is_over:
            position = position.play_action(rng.choice(position.actions))
            if rng.random() < 0.2:
                break
        positions.append(position)
    return positions


def late_positions(spec: str, free: int, number: int) -> list[z.Position]:
    game, rng = z.game(spec), random.Random(1)
    assert isinstance(game, z.WordGame)
    return [z.Position(game, late_state(game, free, rng), None) for _ in range(number)]


def summary(found: z.Solution) -> dict[str, Any]:
    """The fields that do not depend on the way to the solution."""
    names = ("position", "value", "estimate", "plies", "exact", "diff", "wins", "source")
    return {name: getattr(found, name) for name in names}


def complete(found: z.Solution) -> z.Solution:
    return replace(found, nodes=0, seconds=0.0)


SETS = {
    "connect4": lambda: late_positions("connect4", 14, 15),
    "connect4:4x5": lambda: random_positions(CONNECT4, 60),
    "reversi:4": lambda: random_positions(z.game("reversi:4"), 25),
    "squava": lambda: late_positions("squava", 11, 10),
    "squava:pie=true": lambda: late_positions("squava:pie=true", 10, 5),
    "mnk:4x4x3": lambda: random_positions(z.game("mnk:4x4x3"), 40),
}


@pytest.mark.parametrize("spec", SETS)
@pytest.mark.parametrize("goal", ["exact", "wdl"])
def test_values_and_distances_are_those_of_solve(spec: str, goal: str) -> None:
    positions = SETS[spec]()
    found = z.solve_many(positions, goal)
    for one, position in zip(found, positions, strict=True):
        assert summary(one) == summary(z.solve(position, goal))
        assert one.position is position
        assert position.is_over or (one.best, one.pv, one.complete) == ((), (), False)
    assert len({one.value for one in found}) > 1


def test_goal_win() -> None:
    positions = SETS["connect4:4x5"]()
    for one, position in zip(z.solve_many(positions, "win"), positions, strict=True):
        alone = z.solve(position, "win")
        assert (one.wins, one.value, one.exact) == (alone.wins, alone.value, alone.exact)


def test_solutions_can_be_compared_replaced_and_written_as_json() -> None:
    position = CONNECT4.start().play("1").play("1")
    (one,) = z.solve_many([position])
    same = z.Solution(position, one.value, plies=one.plies, exact=True, nodes=one.nodes,
                      seconds=one.seconds, complete=False)  # fmt: skip
    assert (one, repr(one), hash(one)) == (same, repr(same), hash(same))
    assert replace(one, nodes=3).nodes == 3
    assert one.to_dict() == same.to_dict()


@pytest.mark.parametrize("spec", ["connect4:4x5", "mnk:4x4x3", "reversi:4"])
def test_with_moves_all_is_as_solve_says(spec: str) -> None:
    positions = SETS[spec]()[:12]
    found = z.solve_many(positions, moves=True, threads=2)
    for one, position in zip(found, positions, strict=True):
        alone = z.solve(position)
        assert complete(one) == complete(alone)
        assert one.nodes == alone.nodes
    assert found[0].best


def test_order_duplicates_mirror_images_and_mixed_games(tmp_path: Path) -> None:
    (tmp_path / "matches.py").write_text(MATCHES)
    matches = z.game(str(tmp_path / "matches.py")).start()
    column, mirror = (CONNECT4.position(moves=moves) for moves in ("1 2", "5 4"))
    tictactoe, other = z.game("tictactoe").start(), column.play("2").play("1")
    finished = z.game("tictactoe").position("XXX/OO./...")
    positions = [mirror, matches, column, finished, tictactoe, other, column, matches, mirror]
    random.Random(3).shuffle(positions)
    for moves in (False, True):
        found = z.solve_many(iter(positions), moves=moves, threads=3)
        assert [one.position for one in found] == positions
        assert [(one.value, one.plies) for one in found] == [
            (alone.value, alone.plies) for alone in map(z.solve, positions)
        ]
    assert z.solve_many([]) == []
    by_position = {one.position: one for one in z.solve_many([column, mirror])}
    assert by_position[column].nodes == by_position[mirror].nodes > 0


def test_threads_change_nothing_but_the_time() -> None:
    positions = late_positions("connect4", 16, 40)
    alone = [replace(s, seconds=0) for s in z.solve_many(positions)]
    for threads in (2, 5, 64):
        together = z.solve_many(positions, threads=threads)
        assert [replace(s, seconds=0) for s in together] == alone


def test_nodes_are_those_of_a_new_searcher() -> None:
    """Whatever was solved before: earlier searches have no influence."""
    positions = late_positions("connect4", 18, 12)
    game = positions[0].game
    assert isinstance(game, z.WordGame)
    roots = canonicalise(game, to_array(game, positions))
    for one, root in zip(z.solve_many(positions), roots, strict=True):
        clock = SearchClock()
        NegamaxSearcher(game.hooks, table_bits=16).solve_batch(root, clock)
        (again,) = z.solve_many([one.position])
        assert one.nodes == again.nodes == clock.nodes


def test_a_search_that_takes_too_long_to_the_end_is_continued_by_deepening(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    positions = late_positions("squava", 15, 8)
    expected = [summary(one) for one in z.solve_many(positions)]
    scored = []
    score = Solver.score
    monkeypatch.setattr(state_batch, "FIRST_PROOF_NODES", 300)
    monkeypatch.setattr(Solver, "score", lambda *a: scored.append(a[1]) or score(*a))
    # The kernel checks the limit between slices of at least 1,000 nodes.
    assert [summary(one) for one in z.solve_many(positions)] == expected
    assert 0 < len(scored) < len(positions)


def test_limit_of_nodes_gives_the_same_in_any_number_of_threads() -> None:
    positions = late_positions("connect4", 22, 24)
    limit = z.Limit(nodes=600)  # less than a slice of the kernel
    found = z.solve_many(positions, limit=limit)
    full = z.solve_many(positions)
    assert {one.exact for one in found} == {True, False}
    for one, proven, position in zip(found, full, positions, strict=True):
        if one.exact:
            assert (one.value, one.plies) == (proven.value, proven.plies)
            assert proven.nodes <= 540 or one.best, "by the kernel, or by the estimate"
        else:
            assert proven.nodes > 540
            assert one.value is None
            assert one.depth is not None
            assert -1 < (one.estimate or 0) < 1
            assert one.best[0] in position.legal
    strip = [complete(one) for one in found]
    assert [complete(one) for one in z.solve_many(positions, limit=limit, threads=3)] == strip


def test_limit_of_seconds() -> None:
    positions = [z.game("squava").start(), z.game("gomoku").start(), CONNECT4.start()]
    begin = time.perf_counter()
    found = z.solve_many(positions * 2, limit=z.Limit(seconds=0.1), threads=2)
    assert time.perf_counter() - begin < 5
    assert [one.exact for one in found[:2]] == [False, False]
    assert all(one.estimate is not None and one.depth for one in found[:2])


def test_boards_above_64_cells_need_a_limit() -> None:
    with pytest.raises(Unsolved, match=r"gomoku has more than 64 cells.* set a limit"):
        z.solve_many([CONNECT4.start(), z.game("gomoku").start()])


def test_positions_in_a_tablebase_or_book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game = z.game("tictactoe")
    monkeypatch.setenv("ZERMELO_CACHE", str(tmp_path))
    positions = [z.Position(game, state, None) for state in reachable_states(game)[::9]]
    before = z.solve_many(positions)
    tablebase_path(game).parent.mkdir()
    Tablebase.build(game).write(tablebase_path(game))
    after = z.solve_many(positions)
    assert {one.source for one in before} == {"search", "end"}
    assert {one.source for one in after} == {"table", "end"}, "the pool has seen the new file"
    assert [(a.value, a.plies) for a in after] == [(b.value, b.plies) for b in before]
    assert z.solve(positions[0]).source == "table"
    book = z.game("connect4").start().play("4")
    assert (z.solve_many([book])[0].source, z.solve_many([book])[0].plies) == ("book", 40)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (z.solve_many, "solve_many takes a list of positions, not one position"),
        (lambda _: z.solve_many("connect4"), "takes a list of positions, not str"),
        (lambda _: z.solve_many(7), "takes a list of positions, not int"),
        (lambda p: z.solve_many([p, "1 2"]), "but item 1 is '1 2'"),
        (lambda p: z.solve_many([p], "value"), "goal is 'value': it must be one of exact, wdl"),
        (lambda p: z.solve_many([p], limit=3), "a limit is a zermelo.Limit such as .*, not 3"),
        (lambda p: z.solve_many([p], threads=0), "threads is 0: it must be a whole number from 1"),
        (lambda p: z.solve_many([p], threads=2.0), "threads is 2.0"),
        (lambda p: z.solve_many([p], threads=True), "threads is True"),
        (lambda p: z.analyze_many([p, None]), "analyze_many takes .* item 1 is None"),
        (lambda p: z.analyze_many([p], 3), "a limit is a zermelo.Limit"),
        (lambda p: z.analyze_many([p], threads=-1), "threads is -1"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(call: Any, message: str) -> None:
    with pytest.raises(z.ZermeloError, match=message) as error:
        call(CONNECT4.start())
    assert "\n" not in str(error.value)


def test_progress_and_errors_in_it() -> None:
    positions = late_positions("connect4", 20, 60)
    seen: list[tuple[int, int]] = []
    z.solve_many(positions, threads=2, progress=lambda *numbers: seen.append(numbers))
    assert seen[-1] == (60, 60)
    assert sorted(seen) == seen
    mixed = [*positions[:9], *positions[:9], CONNECT4.start(), z.game("connect4").start()]
    mixed.append(z.game("tictactoe").position("XXX/OO./..."))
    for moves in (False, True):
        z.solve_many(mixed, moves=moves, progress=lambda *numbers: seen.append(numbers))
        assert seen[-1] == (21, 21)

    def fail(solved: int, total: int) -> None:
        raise RuntimeError(total)

    with pytest.raises(RuntimeError, match="60"):
        z.solve_many(positions, progress=fail)


def test_stopping_keeps_what_is_solved() -> None:
    stop = threading.Event()
    easy, hard = late_positions("connect4", 12, 20), z.game("squava").start()
    positions = [*easy, hard, *easy]
    threading.Timer(0.3, stop.set).start()
    begin = time.perf_counter()
    found = z.solve_many(positions, limit=z.Limit(stop=stop))
    assert time.perf_counter() - begin < 5
    assert all(one.exact for one in found[:20] + found[21:])
    assert (found[20].value, found[20].estimate, found[20].depth) == (None, 0.0, None)


def test_ctrl_c_keeps_what_is_solved() -> None:
    """In a process of its own, with the hard position among easy ones, and again afterwards."""
    code = """
import time, zermelo as z
game = z.game("connect4:4x5")
easy = [game.start().play(a).play(b) for a in "12345" for b in "12345"]
z.solve_many(easy)
print("ready", flush=True)
found = z.solve_many([*easy, z.game("squava").start(), *easy], threads=2)
again = z.solve_many(easy)
print([s.exact for s in found].count(True), found[25].value, sum(s.exact for s in again))
"""
    command = [sys.executable, "-c", code]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30)[0] == "50 None 25\n"


def test_published_positions() -> None:
    rows = list(csv.DictReader(truth.lines("connect4/scored_positions.csv")))
    game = z.game("connect4")
    found = z.solve_many([game.position(moves=row["moves"]) for row in rows])
    scores = [one.to_dict()["score"] for one in found]
    assert scores == [int(row["score"]) for row in rows]
    assert len(rows) == 3000


# The pool of solvers.


def test_solve_in_a_loop_builds_one_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[z.Game] = []
    monkeypatch.setattr(
        solution, "DEFAULT_SOLVERS", SolverPool(lambda g: built.append(g) or solver_for(g))
    )
    positions = random_positions(CONNECT4, 20)
    first = [z.solve(p) for p in positions]
    again = [z.solve(p) for p in reversed(positions)][::-1]
    assert built == [CONNECT4]
    assert [replace(s, seconds=0) for s in again] == [replace(s, seconds=0) for s in first]
    alone = [solution.solve(p, solver=solver_for(CONNECT4)) for p in positions]
    assert [replace(s, seconds=0) for s in alone] == [replace(s, seconds=0) for s in first]


def test_the_pool_is_bounded_and_lends_each_solver_once() -> None:
    pool = SolverPool(solver_for)
    with pool.borrow(CONNECT4) as one, pool.borrow(CONNECT4) as other:
        assert one is not other
    with pool.borrow(CONNECT4) as third:
        assert third in (one, other)
    for cols in range(4, 10):
        with pool.borrow(z.game(f"connect4:4x{cols}")):
            pass
    assert len(pool._idle) == 4
    with pool.borrow(CONNECT4) as large:
        large.searcher.control[arrays.PEAK_SLOTS] = 1 << 20
    with pool.borrow(CONNECT4) as next_one:
        assert next_one is not large
    with pytest.raises(RuntimeError), pool.borrow(CONNECT4) as failed:
        raise RuntimeError
    with pool.borrow(CONNECT4) as next_one:
        assert next_one is not failed
    pool.clear()
    assert pool._idle == []


def test_solve_in_several_threads_at_once() -> None:
    positions = random_positions(CONNECT4, 24)
    expected = [replace(z.solve(p), seconds=0) for p in positions]
    results: dict[int, list[z.Solution]] = {}

    def work(number: int) -> None:
        results[number] = [replace(z.solve(p), seconds=0) for p in positions]

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(results.values()) == [expected] * 4
    assert len(DEFAULT_SOLVERS._idle) <= 4


# Analyses.


def test_analyses_are_those_of_analyze(tmp_path: Path) -> None:
    (tmp_path / "matches.py").write_text(MATCHES)
    games = [z.game("tictactoe"), CONNECT4, z.game(str(tmp_path / "matches.py"))]
    positions = [p for game in games for p in random_positions(game, 3)]
    positions.append(z.game("tictactoe").position("XXX/OO./..."))
    random.Random(5).shuffle(positions)
    alone = [replace(z.analyze(p), seconds=0) for p in positions]
    for threads in (1, 3):
        together = z.analyze_many(positions, threads=threads)
        assert [replace(a, seconds=0) for a in together] == alone
    assert z.analyze_many([]) == []
    assert any(c.reasons for a in alone for c in a.candidates)


def test_a_stopped_batch_of_analyses_ends_soon() -> None:
    stop, seen = threading.Event(), []
    positions = [z.game("squava").start()] * 4

    def report(done: int, total: int) -> None:
        seen.append((done, total))
        stop.set()

    begin = time.perf_counter()
    found = z.analyze_many(positions, z.Limit(seconds=20, stop=stop), progress=report)
    assert time.perf_counter() - begin < 10
    assert [a.exact for a in found] == [False] * 4
    assert all(a.move in positions[0].legal for a in found)
    assert seen[0] == (0, 4)
