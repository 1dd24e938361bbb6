"""Kernels compiled by other processes: what is waited for comes first, and nothing is lost."""

import functools
import os
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from pathlib import Path

import pytest

import zermelo as z
from zermelo.core.game import WordGame
from zermelo.kernels import cache, compiler, compiler_pool, observer
from zermelo.kernels.compiler_pool import LATER, SOON, URGENT, Compilation, CompilerPool
from zermelo.search import count, playouts


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CompilerPool]:
    """A pool of one process, with an empty cache."""
    monkeypatch.setenv("ZERMELO_CACHE", str(tmp_path))
    pool = CompilerPool(1)
    compiler._compile_once.cache_clear()
    yield pool
    compiler.use_pool(None)
    pool.close()
    compiler._compile_once.cache_clear()


def word_game(spec: str) -> WordGame:
    game = z.game(spec)
    assert isinstance(game, WordGame)
    return game


def plan(spec: str) -> Compilation:
    return compiler.plan_compilation(count.insert_states, word_game(spec))


def test_another_process_compiles(pool: CompilerPool) -> None:
    compilation = plan("connect4")
    assert not cache.is_compiled(compilation.text)
    submitted = pool.submit(compilation)
    assert submitted.elapsed_share < 1
    submitted.done.result(timeout=60)
    assert cache.is_compiled(compilation.text)
    assert submitted.elapsed_share == 1
    assert pool.submit(plan("connect4"), LATER) is submitted


def test_sizes_that_share_a_kernel_share_its_compilation(pool: CompilerPool) -> None:
    first = pool.submit(plan("mnk:5x5x4"))
    assert pool.submit(plan("mnk:4x5x4")) is first
    assert first.games == {"mnk:5x5x4", "mnk:4x5x4"}


def test_the_most_urgent_compilation_comes_first(pool: CompilerPool) -> None:
    pool._num_threads = 1  # so that none starts before all are submitted
    later, soon = pool.submit(plan("connect4"), LATER), pool.submit(plan("reversi"), SOON)
    urgent = pool.submit(plan("mnk:5x5x4"), URGENT)
    pool.submit(plan("connect4"), URGENT)
    order = [pool._next() for _ in range(4)]
    assert order == [urgent, later, soon, None]
    assert [c.is_urgent for c in (urgent, later, soon)] == [True, True, False]


def test_kernels_of_this_process_come_from_the_pool(
    pool: CompilerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_compilation: Compilation) -> None:
        pytest.fail("compiled in this process")

    monkeypatch.setattr(observer, "_observer", fail)
    compiler.use_pool(pool)
    assert z.count(z.game("mnk:4x3x3"), max_ply=2).perft(2) == [12, 132]
    kernels = {compilation.kernel for compilation in pool.compilations()}
    assert {"expand_layer"} <= kernels
    assert all(compilation.done.done() for compilation in pool.compilations())


def test_tiny_games_run_uncompiled_until_they_are_compiled(pool: CompilerPool) -> None:
    compiler.use_pool(pool)
    game = word_game("tictactoe")
    begin = time.monotonic()
    run = compiler.compile_kernel(playouts.count_playouts, game)
    assert time.monotonic() - begin < 1
    assert isinstance(run, functools.partial)
    assert run.func is playouts.count_playouts
    (compilation,) = pool.compilations()
    compilation.done.result(timeout=60)
    assert compiler.compile_kernel(playouts.count_playouts, game) is not run


def test_a_killed_process_is_replaced_by_this_one(pool: CompilerPool) -> None:
    compilation = pool.submit(
        compiler.plan_compilation(playouts.count_playouts, word_game("squava"))
    )
    while not (pool._processes and compilation.begin):
        time.sleep(0.01)
    next(iter(pool._processes)).kill()
    compilation.done.result(timeout=60)
    assert not cache.is_compiled(compilation.text)
    compiler.use_pool(pool)
    compiler.compile_kernel(playouts.count_playouts, word_game("squava"))
    assert cache.is_compiled(compilation.text)


def test_idle_processes_end(pool: CompilerPool) -> None:
    pool.submit(plan("connect4")).done.result(timeout=60)
    deadline = time.monotonic() + 20
    while pool._processes and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not pool._processes
    pool.submit(plan("reversi")).done.result(timeout=60)


def test_a_closed_pool_ends_what_waits_for_it(pool: CompilerPool) -> None:
    compilation = pool.submit(plan("connect4"))
    pool.close()
    with pytest.raises(CancelledError):
        compilation.done.result(timeout=10)


def test_the_share_of_a_compilation_is_estimated_by_time() -> None:
    compilation = Compilation("\n@helper\n@helper", (), "solve", {"connect4"})
    assert compilation.elapsed_share == 0
    assert compilation.expected_seconds == 2 * compiler_pool._SECONDS_PER_FUNCTION
    compilation.begin = time.monotonic() - compilation.expected_seconds / 2
    assert 0.5 <= compilation.elapsed_share < 0.7
    compilation.begin -= 100
    assert compilation.elapsed_share == 0.95
    assert compiler_pool.available_cores() <= (os.cpu_count() or 1)
