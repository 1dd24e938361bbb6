"""The compiler and its cache: no stale results, clear errors, no needless compilations."""

import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import zermelo as z
from zermelo.core.errors import KernelError
from zermelo.kernels.compiler import compile_kernel, generate_source
from zermelo.kernels.registry import kernel
from zermelo.search.count import expand_layer
from zermelo.search.playouts import count_playouts

_RULES = '''
from zermelo import Word, WordGame
from helper import take

class Nim(WordGame):
    """Take up to {most} of {heap} stones; the last stone wins. A state is (stones, player)."""
    num_words, num_boards, num_actions = 2, 0, {most}
    spec = "nim"
    one: Word = 1
    def initial(self): return ({heap}, 0)
    def legal(self, state): return (self.one << state[0]) - self.one & {mask}
    def play(self, state, action): return (state[0] - take(action), state[1] ^ self.one)
    def result(self, state): return state[0] == 0, -1 * (state[0] == 0)
'''
_HELPER = (
    "from zermelo.core.bitboard import word\n\ndef take(action): return word(action + {offset})\n"
)
_RUN = """
from rules import Nim
from zermelo.search.count import count
print(count(Nim()).games["total"])
"""


def _games_of_nim(folder: Path, heap: int, most: int, offset: int = 1) -> int:
    text = _RULES.format(heap=heap, most=most, mask=(1 << most) - 1)
    (folder / "rules.py").write_text(text)
    (folder / "helper.py").write_text(_HELPER.format(offset=offset))
    environment = {**os.environ, "ZERMELO_CACHE": str(folder / "cache"), "PYTHONPATH": str(folder)}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    done = subprocess.run(
        [sys.executable, "-c", _RUN], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_an_edit_changes_results_in_the_next_process(tmp_path: Path) -> None:
    """Edit a rule, a constant and a function in another file, and undo the edits."""
    assert _games_of_nim(tmp_path, heap=5, most=2) == 8  # Fibonacci
    assert _games_of_nim(tmp_path, heap=6, most=2) == 13
    assert _games_of_nim(tmp_path, heap=6, most=3) == 24  # tribonacci
    assert _games_of_nim(tmp_path, heap=6, most=1, offset=2) == 1
    assert _games_of_nim(tmp_path, heap=5, most=2) == 8
    modules = list((tmp_path / "cache").glob("k_*.nbc"))  # not the modules of the check of rules
    assert len(modules) == 4
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").rglob("*.nb*")}
    assert _games_of_nim(tmp_path, heap=5, most=2) == 8
    after = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").rglob("*.nb*")}
    assert before == after, "a warm cache compiles nothing"


def test_the_intrinsics_are_part_of_the_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    from zermelo.kernels.source import generator

    game = z.game("tictactoe")
    before = generate_source(count_playouts, game)
    monkeypatch.setattr(generator, "_intrinsics_digest", lambda: "edited")
    assert generate_source(count_playouts, game) != before


def test_other_sizes_share_a_compilation() -> None:
    texts = {
        generate_source(expand_layer, z.game(f"mnk:{n}x{m}x{k}"))
        for n, m, k in ((4, 4, 4), (5, 7, 3), (8, 8, 8))
    }
    assert len(texts) == 1
    presets = {
        generate_source(expand_layer, z.game(s))
        for s in ("tictactoe", "connect4", "gomoku6", "squava")
    }
    assert len(presets) == 4
    assert generate_source(expand_layer, z.game("mnk:6x6x4")) == generate_source(
        expand_layer, z.game("gomoku6")
    )


def test_a_damaged_cache_file_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from zermelo.kernels import cache

    monkeypatch.setenv("ZERMELO_CACHE", str(tmp_path))
    text = "bind = 'damage test'\n"
    assert cache.load(text).bind == "damage test"
    (path,) = tmp_path.glob("k_*.py")
    path.write_text("raise SystemExit")
    del sys.modules[path.stem]
    assert cache.load(text).bind == "damage test"
    assert path.read_text() == text


class _UncompilableGame(z.WordGame):
    spec, num_actions, num_words = "uncompilable", 1, 2
    unannotated = 3

    def initial(self) -> Any:
        return (0, 0)

    def legal(self, state: Any) -> Any:
        return state[0] + self.unannotated

    def play(self, state: Any, action: Any) -> Any:
        return os.urandom(action), state

    def result(self, state: Any) -> Any:
        return state[0] == 1, 0


@kernel("int64")
def _legal_once(game: z.WordGame, _number: Any) -> Any:
    return game.legal(game.initial())


@kernel("int64")
def _play_once(game: z.WordGame, number: Any) -> Any:
    return game.play(game.initial(), number)


def test_errors_name_what_cannot_be_compiled() -> None:
    with pytest.raises(
        KernelError, match=r"_UncompilableGame\.unannotated is read by a rule: annotate it"
    ):
        compile_kernel(_legal_once, _UncompilableGame())
    with pytest.raises(KernelError, match="uses os, which cannot be compiled"):
        compile_kernel(_play_once, _UncompilableGame())


def test_a_call_with_other_types_is_an_error_and_not_a_compilation() -> None:
    with pytest.raises(TypeError, match="No matching definition"):
        compile_kernel(count_playouts, z.game("tictactoe"))("seed", 1.5, None, None, None, None)


_CELLS = 3


def _add_cells(number: Any) -> Any:
    return number + _CELLS


@kernel("int64")
def _add_twice(_game: z.WordGame, number: Any) -> Any:
    return _add_cells(number) + _CELLS


def test_two_constants_of_one_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sources come from several modules, and the generated module has one name for a constant."""
    game = z.game("tictactoe")
    assert compile_kernel(_add_twice, game)(4) == 10
    elsewhere = {**_add_cells.__globals__, "_CELLS": 5}
    foreign = types.FunctionType(_add_cells.__code__, elsewhere, "_add_cells")
    monkeypatch.setitem(globals(), "_add_cells", foreign)
    with pytest.raises(KernelError, match="uses two constants called _CELLS"):
        generate_source(_add_twice, game)


class _Doubled(z.WordGame):
    """Two rules that hooks override in `_TripledHooks`."""

    spec, num_actions, num_words = "doubled", 1, 2
    factor: int = 2
    offset: int = 100

    def initial(self) -> Any:
        return (0, 0)

    def legal(self, state: Any) -> Any:
        return state[0]

    def play(self, state: Any, action: Any) -> Any:
        del action
        return state

    def result(self, state: Any) -> Any:
        return state[0] == 1, 0

    def scaled(self, number: Any) -> Any:
        return self.factor * number

    def shifted(self, number: Any) -> Any:
        return self.scaled(number) + self.offset


class _TripledHooks(z.SolverHooks):
    factor: int = 3

    def scaled(self, number: Any) -> Any:
        return self.factor * number + 1


@kernel("int64", common=False)
def _shift(game: z.WordGame | z.SolverHooks, number: Any) -> Any:
    return game.shifted(number) + game.offset  # type: ignore[union-attr]


def test_hooks_come_before_their_game() -> None:
    """A kernel that is compiled for hooks finds methods and constants there first."""
    game = _Doubled()
    assert compile_kernel(_shift, game)(4) == 2 * 4 + 200
    hooks = _TripledHooks(game)
    assert compile_kernel(_shift, hooks)(4) == 3 * 4 + 1 + 200
    assert compile_kernel(_shift, z.SolverHooks(game))(4) == 2 * 4 + 200


@kernel("int64", common=False)
def _read_one(game: z.WordGame, _number: Any) -> Any:
    return game.one  # type: ignore[attr-defined]


@kernel("int64", common=False)
def _read_full(game: z.WordGame, _number: Any) -> Any:
    return game.full  # type: ignore[attr-defined]


def test_kernels_of_one_name_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """numba identifies named tuples by name, so the generated names contain the kernel's module."""
    game = z.game("mnk:3x4x3")  # its constants are passed at run time, in a named tuple
    for module, function in (("one.module", _read_one), ("other.module", _read_full)):
        monkeypatch.setattr(function, "__module__", module)
        for name in ("__name__", "__qualname__"):
            monkeypatch.setattr(function, name, "same_name")
    assert compile_kernel(_read_one, game)(0) == 1
    assert compile_kernel(_read_full, game)(0) == (1 << 12) - 1
