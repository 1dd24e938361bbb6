"""One source of the rules on three back ends: Python ints, compiled uint64, int64 tensors."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zermelo as z
from support.samples import WORDS
from zermelo.core import bitboard
from zermelo.core.bitboard import mix, popcount, scale, select, word
from zermelo.kernels.compiler import compile_kernel, generate_source
from zermelo.kernels.registry import kernel
from zermelo.kernels.source.generator import ModuleGenerator

NUM_STEPS = 400


@kernel("uint64, uint64[:,::1], int64[:,::1]")
def play_random_games(game: z.WordGame, seed: Any, states: Any, steps: Any) -> None:
    """Play random games one after the other.

    Write the state of each step to `states`, and (action, number of legal actions, is over, value)
    to `steps`.
    """
    rng = word(seed)
    state = game.initial()
    for row in range(len(states)):
        game.store(states, row, state)
        over, value = game.result(state)
        mask = game.legal(state)
        rng = mix(word(rng + word(1)))
        action = game.num_actions - 1
        if mask != 0:
            action = select(mask, scale(rng, popcount(mask)))
        steps[row, 0] = action
        steps[row, 1] = popcount(mask)
        steps[row, 2] = over
        steps[row, 3] = value
        state = game.play(state, action)
        if over:
            state = game.initial()


def run_games(run: Any) -> tuple[Any, Any]:
    states, steps = np.zeros((NUM_STEPS, 3), np.uint64), np.zeros((NUM_STEPS, 4), np.int64)
    run(12345, states, steps)
    return states, steps


@pytest.mark.parametrize("spec", WORDS)
def test_compiled_rules_equal_plain_python(spec: str) -> None:
    game = z.game(spec)
    fast, slow = (
        run_games(compile_kernel(play_random_games, game)),
        run_games(lambda *a: play_random_games(game, *a)),
    )
    assert (fast[0] == slow[0]).all()
    assert (fast[1] == slow[1]).all()
    assert fast[1][:, 2].any()


@pytest.mark.parametrize("spec", WORDS)
def test_tensor_rules_equal_plain_python(spec: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed: no tensors to test")
    game = z.game(spec)
    assert isinstance(game, z.WordGame)
    states, steps = run_games(lambda *a: play_random_games(game, *a))
    signed = game.to_signed()
    batch = tuple(torch.from_numpy(states[:, i].astype(np.int64)) for i in range(3))
    over, value = signed.result(batch)
    assert (over.numpy() == steps[:, 2].astype(bool)).all()
    assert (value.numpy() == steps[:, 3]).all()
    assert (bitboard.popcount(signed.legal(batch)).numpy() == steps[:, 1]).all()
    after = signed.play(batch, torch.from_numpy(steps[:, 0]))
    for i, column in enumerate(after):
        expected = [
            game.play(tuple(map(int, s)), int(n[0]))[i] for s, n in zip(states, steps, strict=True)
        ]
        assert (column.numpy().astype(np.uint64) == np.array(expected, np.uint64)).all()


def test_bit_63_works_everywhere() -> None:
    """An 8x8 board uses the sign bit of an int64: h8 is bit 63."""
    torch = pytest.importorskip("torch", reason="torch is not installed: no tensors to test")
    game = z.game("mnk:8x8x5")
    assert isinstance(game, z.WordGame)
    line = game.position(moves="d8 a1 e8 b1 f8 c1 g8 a3 h8")
    assert line.verdict == "X wins"
    state = tuple(torch.tensor([s - (1 << 64) if s >> 63 else s]) for s in line.state)
    over, value = game.to_signed().result(state)
    assert (bool(over), int(value)) == (True, -1)


@kernel("uint64[::1], int64[:,::1]")
def apply_intrinsics(_game: z.WordGame, inputs: Any, outputs: Any) -> None:
    for row in range(len(inputs)):
        x = word(inputs[row])
        outputs[row, 0] = popcount(x)
        outputs[row, 1] = select(x, popcount(x) - 1)
        outputs[row, 2] = select(x, popcount(x) // 2)
        outputs[row, 3] = scale(x, 1000)
        outputs[row, 4] = select(mix(x), 3)


def test_intrinsics_equal_their_python_counterparts() -> None:
    inputs = np.array([1, 2, 3, 1 << 63, (1 << 64) - 1, *map(mix, range(1, 200))], np.uint64)
    fast, slow = (np.zeros((len(inputs), 5), np.int64) for _ in range(2))
    game = z.game("tictactoe")
    compile_kernel(apply_intrinsics, game)(inputs, fast)
    apply_intrinsics(game, [int(x) for x in inputs], slow)
    assert (fast == slow).all()
    from zermelo.kernels import intrinsics

    for x in map(int, inputs):
        for n in range(x.bit_count()):
            assert intrinsics._select_by_halves(np.uint64(x), n) == select(x, n)


def test_tensor_popcount() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed: no tensors to test")
    values = [0, 1, -1, -(1 << 63), (1 << 63) - 1, 0x0123456789ABCDEF]
    assert bitboard.popcount(torch.tensor(values)).tolist() == [
        (v & (1 << 64) - 1).bit_count() for v in values
    ]


def test_words_stay_words() -> None:
    """uint64 and a plain int literal silently make int64: check the compiled types."""
    for spec in ("tictactoe", "squava:pie=true", "connect4", "gomoku:size=8,overline=exact"):
        game = z.game(spec)
        compile_kernel(play_random_games, game)
        module = next(
            m
            for n, m in sys.modules.items()
            if n.startswith("k_") and _text(m) == generate_source(play_random_games, game)
        )
        dispatchers = {n: getattr(module, f"rule_{n}") for n in ("legal", "play", "result")}
        for name, dispatcher in dispatchers.items():
            if not dispatcher.overloads:  # the kernel came from the cache
                _compile_alone(dispatcher, module, name)
            returned = {str(o.signature.return_type) for o in dispatcher.overloads.values()}
            expected = {
                "legal": "uint64",
                "play": "UniTuple(uint64 x 3)",
                "result": "Tuple(bool, int64)",
            }
            assert returned == {expected[name]}


def _text(module: Any) -> str:
    return Path(module.__file__).read_text(encoding="utf-8")


def _compile_alone(dispatcher: Any, module: Any, name: str) -> None:
    import numba

    state = numba.types.UniTuple(numba.uint64, 3)
    is_frozen = "bind = entry(kernel, None," in _text(module)
    first = () if is_frozen else (numba.typeof(_constants(module)),)
    dispatcher.compile((*first, state, numba.int64) if name == "play" else (*first, state))


def _constants(module: Any) -> Any:
    games = ("squava:pie=true", "gomoku:size=8,overline=exact")
    game = next(
        g for g in map(z.game, games) if generate_source(play_random_games, g) == _text(module)
    )
    generator = ModuleGenerator(play_random_games, game)
    return getattr(module, generator.tuple_name)(*generator.generate()[1])


_JOB = """
import numpy as np
import zermelo as z
from zermelo.search.count import count
from zermelo.search.playouts import run_playouts
assert count(z.game("mnk:3x3x3")).states == 5478
assert count(z.game("tictactoe"), symmetric=True).states == 765
print(run_playouts(z.game("tictactoe"), 50), run_playouts(z.game("connect4:5x5"), 20))
"""


def _run_job(**environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", _JOB],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_every_kernel_runs_uncompiled_and_bounds_checked() -> None:
    """Native code, native code with bounds checks, and plain Python print the same."""
    assert _run_job() == _run_job(ZERMELO_BOUNDS="1") == _run_job(ZERMELO_JIT="0")
