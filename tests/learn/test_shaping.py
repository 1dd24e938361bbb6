"""Patterns and their potential, compared with drawn boards and with a slow count."""

import itertools
from typing import Any

import numpy as np
import pytest

import zermelo as z
from support.naive import DIRECTIONS
from zermelo.core.errors import BadSpec
from zermelo.grading.graph import GameGraph
from zermelo.learn.batch import inspect, shaping
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.config.schedules import LinearSchedule

SPECS = (
    "gomoku6",
    "squava",
    "connect4",
    "tictactoe",
    "mnk:8x8x5",
    "mnk:5x5x3",
    "line:rows=8,cols=8,win=8",
    "line:rows=4,cols=5,win=2",
    "gomoku:size=8,overline=exact",
    "squava:pie=true",
)
Cell = tuple[int, int]


def count_patterns(spec: str, board: str) -> dict[str, int]:
    """Return the counts of the patterns of X."""
    game = z.game(spec)
    state = game.position(board, 0, unchecked=True).state
    counts = shaping.PatternCounter(game)(np.array([state], np.uint64))[0, 0]  # type: ignore[arg-type]
    return dict(zip(shaping.PATTERN_VALUES, counts.tolist(), strict=True))


def naive_patterns(game: Any, own: set[Cell], free: set[Cell]) -> list[int]:
    """Count by trying stones: a three can win, an open two can become an open three."""

    def lines(length: int) -> Any:
        for row, col in itertools.product(range(game.rows), range(game.cols)):
            for direction, (down, right) in enumerate(DIRECTIONS):
                cells = [(row + down * i, col + right * i) for i in range(length)]
                if all(0 <= r < game.rows and 0 <= c < game.cols for r, c in cells):
                    yield direction, cells

    def threes(stones: set[Cell], free: set[Cell]) -> dict[Any, set[Cell]]:
        """Map (direction, stones of a three) to the cells that complete it."""
        completions: dict[Any, set[Cell]] = {}
        for direction, cells in lines(game.win):
            gaps = [c for c in cells if c not in stones]
            if len(gaps) == 1 and gaps[0] in free:
                three = frozenset(c for c in cells if c in stones)
                completions.setdefault((direction, three), set()).add(gaps[0])
        return completions

    here = threes(own, free)
    open_threes = [key for key, gaps in here.items() if len(gaps) == 2]
    open_twos = {
        (direction, stones - {cell})
        for cell in free
        for (direction, stones), gaps in threes(own | {cell}, free - {cell}).items()
        if len(gaps) == 2 and cell in stones and game.win > 2
    }
    forks = [c for c in own if len({d for d, stones in here if c in stones}) > 1]
    return [len(open_twos), len(here) - len(open_threes), len(open_threes), len(forks)]


def cells_of(game: Any, board: tuple[int, ...], stone: int) -> set[Cell]:
    return {divmod(i, game.cols) for i, c in enumerate(board) if c == stone}  # type: ignore[misc]


def sample_positions(spec: str, number: int = 80) -> tuple[Any, np.ndarray]:
    game = z.game(spec)
    return game, GameBatch(game).sample_states(number, game.grid.size, 3)  # type: ignore[arg-type,union-attr]


# Drawn boards: 6x6 with one row of X and O, the rest empty.


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("......", {}),
        (".XX...", {"open two": 1}),
        ("..XX..", {"open two": 1}),  # the same stones count once
        (".X.X..", {"open two": 1}),
        ("X..X..", {}),
        ("XX....", {}),  # the edge is not an open end
        ("OXX...", {}),
        ("O.XX.O", {}),  # no room for an open three
        ("O.XX..", {"open two": 1}),
        ("XX.X..", {"half-open three": 1}),
        ("X.XX..", {"half-open three": 1, "open two": 1}),  # c and d are also an open two
        ("OXXX..", {"half-open three": 1}),
        ("XXX...", {"half-open three": 1}),
        ("OXXXO.", {}),
        (".XXX..", {"open three": 1}),
        ("..XXX.", {"open three": 1}),
        ("O.XXX.", {"open three": 1}),
        ("XX.XX.", {"half-open three": 2}),  # different stones count separately
        (".XXX.X", {"open three": 1, "half-open three": 1}),
        ("X.X.X.", {"open two": 1}),  # c and e within b-f; a has no cell before it
    ],
)
def test_patterns_of_a_row(row: str, expected: dict[str, int]) -> None:
    board = f"....../....../{row}/....../....../......"
    counts = count_patterns("gomoku6", board)
    assert {name: number for name, number in counts.items() if number} == expected


def test_forks_of_a_drawn_board() -> None:
    #   a b c d e f
    # 1 . . . . . .
    # 2 . X X X . .    an open three …
    # 3 . X . . . .
    # 4 . X . . . .    … and another one down from b2: one fork, on b2
    # 5 . . . . . .
    board = "....../.XXX../.X..../.X..../....../......"
    assert count_patterns("gomoku6", board) == {
        "open two": 1,  # b4 and d2 with c3 free: a5 and e1 are also free
        "half-open three": 0,
        "open three": 2,
        "fork": 1,
    }
    # Two threes in one row are not a fork: one stone blocks both.
    assert count_patterns("gomoku6", "XX.XX./" + "....../" * 4 + "......")["fork"] == 0
    # Neither is a three that cannot be completed.
    assert count_patterns("gomoku6", "OXXXO./.X..../.X..../O...../....../......")["fork"] == 0


@pytest.mark.parametrize("spec", SPECS)
def test_patterns_agree_with_a_slow_count(spec: str) -> None:
    game, states = sample_positions(spec, 25)
    counts = shaping.PatternCounter(game)(states)
    for row, state in enumerate(map(tuple, states.tolist())):
        board = game.board(state)
        free = cells_of(game, board, 0)
        for side in range(2):
            stone = 1 if (game.player(state) == 0) == (side == 0) else -1
            expected = naive_patterns(game, cells_of(game, board, stone), free)
            assert counts[row, side].tolist() == expected, (state, side)
    if spec != "line:rows=8,cols=8,win=8":
        assert counts.any()


@pytest.mark.parametrize("spec", SPECS)
def test_listed_patterns_agree_with_the_counts(spec: str) -> None:
    game, states = sample_positions(spec)
    counts = shaping.PatternCounter(game)(states)
    for row, (mine, theirs, _player) in enumerate(states.tolist()):
        free = game.full ^ (mine | theirs)
        for side, own in enumerate((mine, theirs)):
            kinds = [pattern.kind for pattern in inspect.find_patterns(game, own, free)]
            assert [kinds.count(kind) for kind in shaping.PATTERN_VALUES] == counts[
                row, side
            ].tolist()


@pytest.mark.parametrize("spec", SPECS)
def test_the_potential_is_invariant_under_symmetries(spec: str) -> None:
    game, states = sample_positions(spec)
    potential = shaping.build_potential("patterns", GameBatch(game))
    before = potential(states)
    for symmetry in game.symmetries():
        images = np.array(
            [game.transform(s, symmetry) for s in map(tuple, states.tolist())], np.uint64
        )
        np.testing.assert_array_equal(potential(images), before)
    swapped = states[:, [1, 0, 2]].copy()
    swapped[:, 2] ^= np.uint64(1)
    np.testing.assert_allclose(potential(swapped), -before, atol=1e-12)


def test_the_potential_adds_up_the_pattern_values() -> None:
    game = z.game("gomoku6")
    board = "....../.XXX../.X..../.X..../....../.OO..."
    states = np.array([game.position(board, p, unchecked=True).state for p in (0, 1)], np.uint64)
    potential = shaping.build_potential("patterns", GameBatch(game))  # type: ignore[arg-type]
    value = 0.03 + 2 * 0.4 + 0.3 - 0.03  # X's open two, threes and fork; O's open two
    np.testing.assert_allclose(potential(states), [value, -value])


def test_a_potential_fades() -> None:
    game, states = sample_positions("gomoku6")
    potential = shaping.build_potential(
        "patterns", GameBatch(game), LinearSchedule(1.0, 0.0, until=0.5)
    )
    full = potential(states)
    assert full.any()
    potential.fade(0.25)
    assert potential.weight == 0.5
    np.testing.assert_allclose(potential(states), full / 2)
    potential.fade(0.9)
    assert not potential(states).any()
    potential.weight = 2.0
    np.testing.assert_allclose(potential(states), 2 * full)


def test_shaping_that_does_not_fit_a_game_is_refused() -> None:
    with pytest.raises(BadSpec, match="the only possible value is 'patterns'"):
        shaping.build_potential("luck", GameBatch(z.game("gomoku6")))  # type: ignore[arg-type]
    with pytest.raises(BadSpec, match="line games up to 64 cells, not for reversi"):
        shaping.build_potential("patterns", GameBatch(z.game("reversi")))  # type: ignore[arg-type]


# The idle penalty, which is not a potential.


def test_a_move_that_changes_nothing_is_penalised() -> None:
    game = z.game("gomoku6")
    game_batch, counter = GameBatch(game), shaping.PatternCounter(game)  # type: ignore[arg-type]
    before = game.position("....../.X..../....../....../....../.....O").state
    states = np.array([before] * 2, np.uint64)
    actions = np.array([game.parse_action(game.initial(), move) for move in ("c2", "f1")])
    after, _, _ = game_batch.step(states, actions)
    assert shaping.idle_penalty(counter, states, after, 0.02).tolist() == [0.0, -0.02]


def q_with_penalty(graph: GameGraph, size: float) -> dict[Any, dict[int, float]]:
    """Return the undiscounted Q values of tic-tac-toe with the penalty, by recursion."""
    game: Any = graph.game
    counter = shaping.PatternCounter(game)
    pairs = [(s, c) for s, after in graph.children.items() for c in after.values()]
    states, after = (np.array(column, np.uint64) for column in zip(*pairs, strict=True))
    penalties = dict(zip(pairs, shaping.idle_penalty(counter, states, after, size), strict=True))
    q: dict[Any, dict[int, float]] = {}
    for state, children in graph.children.items():
        q[state] = {}
        for action, child in children.items():
            later = max(q[child].values(), default=0.0)
            q[state][action] = -game.result(child)[1] + penalties[state, child] - later
    return q


def test_a_small_penalty_chooses_among_equals_and_a_large_one_changes_the_game() -> None:
    graph = GameGraph.build(z.game("tictactoe"))
    assert graph is not None

    def mistakes(size: float) -> int:
        """Count the best moves with the penalty that are mistakes without it."""
        q = q_with_penalty(graph, size)
        return sum(
            graph.evaluate_moves(state).is_mistake(action)
            for state in graph.nonterminal
            for action, value in q[state].items()
            if value > max(q[state].values()) - 1e-9
        )

    assert mistakes(0.0) == 0
    assert mistakes(0.09) == 0  # at most five moves each: below a half
    assert mistakes(2.0) > 0
