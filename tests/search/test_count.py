"""Counts: published numbers, and the kernel against plain Python."""

import numpy as np
import pytest

import zermelo as z
from zermelo.core.symmetry import byte_tables
from zermelo.kernels.compiler import compile_kernel
from zermelo.search.count import _CountOptions, _python_layers, _StateTable, count, expand_layer


def test_tictactoe() -> None:
    """Well-known counts; see for example the OEIS entry A008907 and 255,168 games."""
    counts = count(z.game("tictactoe"))
    assert counts.states == 5478
    assert counts.games == {"total": 255168, "first": 131184, "second": 77904, "draw": 46080}
    assert counts.by_ply == [1, 9, 72, 252, 756, 1260, 1520, 1140, 390, 78]
    assert sum(counts.perft(9)) + 1 == 549946
    assert count(z.game("tictactoe"), symmetric=True).states == 765


def test_connect4_perft() -> None:
    """Move sequences as published for 6 x 7 Connect Four."""
    expected = [7, 49, 343, 2401, 16807, 117649, 823536, 5673234]
    assert count(z.game("connect4"), max_ply=8).perft(8) == expected
    merged = count(z.game("connect4"), max_ply=8, symmetric=True)
    assert merged.perft(8) == expected
    # Positions at each ply as counted by J. Tromp (OEIS A212693).
    assert count(z.game("connect4"), max_ply=8).by_ply == [
        1,
        7,
        49,
        238,
        1120,
        4263,
        16422,
        54859,
        184275,
    ]


def test_4x4x4_states() -> None:
    assert count(z.game("mnk:4x4x4")).states == 9_722_011


@pytest.mark.parametrize(
    ("spec", "plies"),
    [
        ("tictactoe", None),
        ("squava", 4),
        ("squava:pie=true", 4),
        ("connect4:4x4", 8),
        ("line:rows=3,cols=3,win=3,lose=2,pie=true", None),
        ("gomoku:size=5,overline=exact", 3),
    ],
)
def test_the_kernel_equals_plain_python(spec: str, plies: int | None) -> None:
    game = z.game(spec)
    layers = _python_layers(game, _CountOptions(plies, states=True, paths=True, symmetries=()))
    expected = [layer for layer, _ in layers if layer is not None]
    assert list(count(game, max_ply=plies).layers) == expected


def test_symmetric_counts_are_orbits() -> None:
    """There is one canonical state for each orbit of the symmetry group."""
    game = z.game("mnk:3x4x3")
    assert isinstance(game, z.WordGame)
    symmetries = game.symmetries()
    seen, classes = set(), set()
    pending = [game.initial()]
    while pending:
        state = pending.pop()
        if state in seen:
            continue
        seen.add(state)
        images = {(s.transform(state[0]), s.transform(state[1]), state[2]) for s in symmetries}
        classes.add(min(images))
        pending += [game.play(state, a) for a in game.actions(state)]
    assert count(game).states == len(seen)
    assert count(game, symmetric=True).states == len(classes)


def test_too_many_states_are_refused_with_a_bound() -> None:
    with pytest.raises(z.TooLarge, match=r"more than 10,000 states and at most 3\^42"):
        count(z.game("connect4"), max_states=10_000)


def test_a_number_of_paths_beyond_64_bits_is_noticed() -> None:
    """2^63 paths to the empty board make four times as many to a corner, up to symmetry."""
    game = z.game("tictactoe")
    table, symmetry_tables = _StateTable(game), np.array(byte_tables(game.symmetries()), np.uint64)
    states, sums = np.zeros((1, 3), np.uint64), np.zeros(4, np.uint64)
    expand = compile_kernel(expand_layer, game)
    for num_paths, used in ((1 << 61, 3), (1 << 63, -1)):
        table.take()
        paths = np.array([num_paths], np.uint64)
        arrays = (table.keys, table.paths, 0, symmetry_tables, sums)
        assert expand(states, paths, 0, 1, 0, *arrays) == used
