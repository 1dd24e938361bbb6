"""Patterns and the potential made of them, against drawings and against a slow count."""

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


def counted(spec: str, board: str) -> dict[str, int]:
    """The patterns of X."""
    game = z.game(spec)
    state = game.position(board, 0, unchecked=True).state
    found = shaping.Patterns(game)(np.array([state], np.uint64))[0, 0]  # type: ignore[arg-type]
    return dict(zip(shaping.VALUES, found.tolist(), strict=True))


def naive_patterns(game: Any, own: set[Cell], free: set[Cell]) -> list[int]:
    """By trying stones: a three can win, an open two can become an open three."""

    def lines(length: int) -> Any:
        for row, col in itertools.product(range(game.rows), range(game.cols)):
            for way, (down, right) in enumerate(DIRECTIONS):
                cells = [(row + down * i, col + right * i) for i in range(length)]
                if all(0 <= r < game.rows and 0 <= c < game.cols for r, c in cells):
                    yield way, cells

    def threes(stones: set[Cell], free: set[Cell]) -> dict[Any, set[Cell]]:
        """(direction, stones of a three) → the cells that complete it."""
        found: dict[Any, set[Cell]] = {}
        for way, cells in lines(game.win):
            gaps = [c for c in cells if c not in stones]
            if len(gaps) == 1 and gaps[0] in free:
                held = frozenset(c for c in cells if c in stones)
                found.setdefault((way, held), set()).add(gaps[0])
        return found

    here = threes(own, free)
    whole = [key for key, gaps in here.items() if len(gaps) == 2]
    twos = {
        (way, stones - {cell})
        for cell in free
        for (way, stones), gaps in threes(own | {cell}, free - {cell}).items()
        if len(gaps) == 2 and cell in stones and game.win > 2
    }
    forks = [c for c in own if len({way for way, stones in here if c in stones}) > 1]
    return [len(twos), len(here) - len(whole), len(whole), len(forks)]


def cells_of(game: Any, board: tuple[int, ...], stone: int) -> set[Cell]:
    return {divmod(i, game.cols) for i, c in enumerate(board) if c == stone}  # type: ignore[misc]


def positions(spec: str, number: int = 80) -> tuple[Any, np.ndarray]:
    game = z.game(spec)
    return game, GameBatch(game).sampled(number, game.grid.size, 3)  # type: ignore[arg-type,union-attr]


# By drawings; a board of 6x6 with one row of X and O, the rest free.


@pytest.mark.parametrize(
    ("row", "wanted"),
    [
        ("......", {}),
        (".XX...", {"open two": 1}),
        ("..XX..", {"open two": 1}),  # the same stones count once
        (".X.X..", {"open two": 1}),
        ("X..X..", {}),
        ("XX....", {}),  # the edge is no open end
        ("OXX...", {}),
        ("O.XX.O", {}),  # no room for an open three
        ("O.XX..", {"open two": 1}),
        ("XX.X..", {"half-open three": 1}),
        ("X.XX..", {"half-open three": 1, "open two": 1}),  # c and d are an open two, too
        ("OXXX..", {"half-open three": 1}),
        ("XXX...", {"half-open three": 1}),
        ("OXXXO.", {}),
        (".XXX..", {"open three": 1}),
        ("..XXX.", {"open three": 1}),
        ("O.XXX.", {"open three": 1}),
        ("XX.XX.", {"half-open three": 2}),  # different stones count each
        (".XXX.X", {"open three": 1, "half-open three": 1}),
        ("X.X.X.", {"open two": 1}),  # c and e within b-f; a has no cell before it
    ],
)
def test_patterns_of_a_row(row: str, wanted: dict[str, int]) -> None:
    board = f"....../....../{row}/....../....../......"
    found = counted("gomoku6", board)
    assert {name: number for name, number in found.items() if number} == wanted


def test_forks_of_a_drawing() -> None:
    #   a b c d e f
    # 1 . . . . . .
    # 2 . X X X . .    an open three …
    # 3 . X . . . .
    # 4 . X . . . .    … and another one down from b2: one fork, on b2
    # 5 . . . . . .
    board = "....../.XXX../.X..../.X..../....../......"
    assert counted("gomoku6", board) == {
        "open two": 1,  # b4 and d2 with c3 free: a5 and e1 are free, too
        "half-open three": 0,
        "open three": 2,
        "fork": 1,
    }
    # Two threes in one row are no fork: one stone answers both.
    assert counted("gomoku6", "XX.XX./" + "....../" * 4 + "......")["fork"] == 0
    # A three that nothing can complete makes none either.
    assert counted("gomoku6", "OXXXO./.X..../.X..../O...../....../......")["fork"] == 0


@pytest.mark.parametrize("spec", SPECS)
def test_patterns_are_those_of_a_slow_count(spec: str) -> None:
    game, states = positions(spec, 25)
    found = shaping.Patterns(game)(states)
    for row, state in enumerate(map(tuple, states.tolist())):
        board = game.board(state)
        free = cells_of(game, board, 0)
        for side in range(2):
            stone = 1 if (game.player(state) == 0) == (side == 0) else -1
            wanted = naive_patterns(game, cells_of(game, board, stone), free)
            assert found[row, side].tolist() == wanted, (state, side)
    if spec != "line:rows=8,cols=8,win=8":
        assert found.any()


@pytest.mark.parametrize("spec", SPECS)
def test_patterns_with_their_cells_are_as_many(spec: str) -> None:
    game, states = positions(spec)
    found = shaping.Patterns(game)(states)
    for row, (mine, theirs, _player) in enumerate(states.tolist()):
        free = game.full ^ (mine | theirs)
        for side, own in enumerate((mine, theirs)):
            kinds = [pattern.kind for pattern in inspect.patterns(game, own, free)]
            assert [kinds.count(kind) for kind in shaping.VALUES] == found[row, side].tolist()


@pytest.mark.parametrize("spec", SPECS)
def test_a_board_that_is_turned_is_worth_the_same(spec: str) -> None:
    game, states = positions(spec)
    potential = shaping.make("patterns", GameBatch(game))
    before = potential(states)
    for symmetry in game.symmetries():
        images = np.array([game.moved(s, symmetry) for s in map(tuple, states.tolist())], np.uint64)
        np.testing.assert_array_equal(potential(images), before)
    handed = states[:, [1, 0, 2]].copy()
    handed[:, 2] ^= np.uint64(1)
    np.testing.assert_allclose(potential(handed), -before, atol=1e-12)


def test_what_patterns_are_worth() -> None:
    game = z.game("gomoku6")
    board = "....../.XXX../.X..../.X..../....../.OO..."
    states = np.array([game.position(board, p, unchecked=True).state for p in (0, 1)], np.uint64)
    potential = shaping.make("patterns", GameBatch(game))  # type: ignore[arg-type]
    worth = 0.03 + 2 * 0.4 + 0.3 - 0.03  # X's open two, threes and fork; O's open two
    np.testing.assert_allclose(potential(states), [worth, -worth])


def test_a_potential_fades() -> None:
    game, states = positions("gomoku6")
    potential = shaping.make("patterns", GameBatch(game), LinearSchedule(1.0, 0.0, until=0.5))
    full = potential(states)
    assert full.any()
    potential.fade(0.25)
    assert potential.weight == 0.5
    np.testing.assert_allclose(potential(states), full / 2)
    potential.fade(0.9)
    assert not potential(states).any()
    potential.weight = 2.0
    np.testing.assert_allclose(potential(states), 2 * full)


def test_shaping_that_does_not_fit_says_so() -> None:
    with pytest.raises(BadSpec, match="it can be patterns"):
        shaping.make("luck", GameBatch(z.game("gomoku6")))  # type: ignore[arg-type]
    with pytest.raises(BadSpec, match="line games up to 64 cells, not in reversi"):
        shaping.make("patterns", GameBatch(z.game("reversi")))  # type: ignore[arg-type]


# The penalty, which is no potential.


def test_a_move_that_changes_nothing_is_penalised() -> None:
    game = z.game("gomoku6")
    game_batch, count = GameBatch(game), shaping.Patterns(game)  # type: ignore[arg-type]
    before = game.position("....../.X..../....../....../....../.....O").state
    states = np.array([before] * 2, np.uint64)
    actions = np.array([game.parse_action(move) for move in ("c2", "f1")])
    after, _, _ = game_batch.step(states, actions)
    assert shaping.idle_penalty(count, states, after, 0.02).tolist() == [0.0, -0.02]


def idle_values(graph: GameGraph, size: float) -> dict[Any, dict[int, float]]:
    """Q of tic-tac-toe with the penalty, undiscounted, by recursion."""
    game: Any = graph.game
    count = shaping.Patterns(game)
    pairs = [(s, c) for s, after in graph.children.items() for c in after.values()]
    states, after = (np.array(column, np.uint64) for column in zip(*pairs, strict=True))
    fees = dict(zip(pairs, shaping.idle_penalty(count, states, after, size), strict=True))
    found: dict[Any, dict[int, float]] = {}
    for state, children in graph.children.items():
        found[state] = {}
        for action, child in children.items():
            later = max(found[child].values(), default=0.0)
            found[state][action] = -game.result(child)[1] + fees[state, child] - later
    return found


def test_a_small_penalty_chooses_among_equals_and_a_large_one_changes_the_game() -> None:
    graph = GameGraph.build(z.game("tictactoe"))
    assert graph is not None

    def mistakes(size: float) -> int:
        """States where what is best with the penalty is a mistake without it."""
        found = idle_values(graph, size)
        return sum(
            graph.evaluate_moves(state).is_mistake(action)
            for state in graph.nonterminal
            for action, value in found[state].items()
            if value > max(found[state].values()) - 1e-9
        )

    assert mistakes(0.0) == 0
    assert mistakes(0.09) == 0  # at most five moves each: below a half
    assert mistakes(2.0) > 0
