"""The engine for large boards: its proofs against the textbook, its tactics."""

import functools
import random
from typing import Any

import numpy as np
import pytest

import zermelo as z
from zermelo.core.player import Limit
from zermelo.core.position import Position
from zermelo.games.lines.large import BoardLineGame
from zermelo.games.lines.renju import RenjuGame
from zermelo.search import textbook
from zermelo.search.large.alphabeta_kernel import DECISIVE_SCORE, WIN_SCORE, search
from zermelo.search.large.engine import BoardEngine
from zermelo.search.limits import SearchClock, SearchStopped

SMALL = [
    ({"rows": 4, "cols": 4, "win": 3}, 5),
    ({"rows": 4, "cols": 5, "win": 4}, 10),
    ({"rows": 5, "cols": 5, "win": 4, "lose": 3}, 13),
    ({"rows": 4, "cols": 5, "win": 3, "overline": "exact"}, 8),
    ({"rows": 5, "cols": 4, "win": 3, "lose": 2, "overline": "exact"}, 4),
    ({"rows": 4, "cols": 5, "win": 4, "gravity": True}, 8),
    ({"rows": 5, "cols": 4, "win": 4, "lose": 3, "gravity": True}, 6),
]


def _random_states(game: Any, stones: int, count: int, seed: int = 1) -> list[Any]:
    """Return states of random games that are not over."""
    rng = random.Random(seed)
    states: list[Any] = []
    while len(states) < count:
        state = game.initial()
        for _ in range(stones + rng.randrange(4)):
            if not game.result(state)[0]:
                state = game.play(state, rng.choice(game.actions(state)))
        if not game.result(state)[0]:
            states.append(state)
    return states


def _truth(game: Any, state: Any) -> int:
    """Return the score by a textbook search to the end."""
    value = textbook.TextbookSearch(game, method="both", distance=True).solve(state)
    sign = (value > 0) - (value < 0)
    return sign * (WIN_SCORE - (textbook.WIN_SCORE - abs(value))) if value else 0


def _search(
    engine: BoardEngine, state: Any, depth: int, low: int = -WIN_SCORE, high: int = WIN_SCORE
) -> int:
    engine.start_iteration(depth)
    return engine.search(state, depth, low, high, SearchClock())


@pytest.mark.parametrize(("rules", "stones"), SMALL)
def test_what_is_proven_is_true(rules: dict[str, Any], stones: int) -> None:
    game = BoardLineGame(**rules)
    wide, narrow = BoardEngine(game, width=25), BoardEngine(game, width=2)
    rng = random.Random(2)
    for state in _random_states(game, stones, 40):
        truth = _truth(game, state)
        for depth in range(5):
            score = _search(wide, state, depth)
            if truth and WIN_SCORE - abs(truth) <= depth:
                assert score == truth
            elif abs(score) > DECISIVE_SCORE:
                assert score * truth > 0
                assert abs(score) <= abs(truth)
            score = _search(narrow, state, depth)
            if abs(score) > DECISIVE_SCORE:
                assert score * truth > 0
            for engine in (wide, narrow):
                low = rng.choice((truth, rng.randrange(-WIN_SCORE, WIN_SCORE))) - rng.randrange(3)
                high = low + rng.choice((1, rng.randrange(1, WIN_SCORE)))
                score = _search(engine, state, depth, low, high)
                if score > max(low, DECISIVE_SCORE):
                    assert truth >= score
                if score < min(high, -DECISIVE_SCORE):
                    assert truth <= score
        assert _search(wide, state, game.cells) == truth
        assert not wide.hit_horizon
        for low in (truth - 1, truth, truth + 1, rng.randrange(-WIN_SCORE, WIN_SCORE)):
            score = _search(wide, state, game.cells, low, low + 1)
            assert truth <= score <= low or truth >= score > low


def test_only_moves_that_lose_by_themselves() -> None:
    """X can only make a losing three, so the game ends before O carries out a threat."""
    game = BoardLineGame(4, 5, 4, lose=3)
    position = game.position("XOX.O/XOXXO/O.OX./XOX.O", to_move=0)
    engine = BoardEngine(game)
    assert _search(engine, position.state, 2) == 1 - WIN_SCORE
    assert len(engine.principal_variation(position.state)) == 1


def _gomoku(moves: str, spec: str = "gomoku") -> Position:
    return z.game(spec).position(moves=moves)


def _engine(position: Position, **switches: int) -> BoardEngine:
    assert isinstance(position.game, BoardLineGame)
    return BoardEngine(position.game, **switches)


def _best(position: Position, depth: int, **switches: int) -> tuple[int, str]:
    """Return the score and the first move of the line."""
    engine = _engine(position, **switches)
    score = _search(engine, position.state, depth)
    line = engine.principal_variation(position.state)
    for action in line:
        position = position.play_action(action)
    if abs(score) > DECISIVE_SCORE:
        assert len(line) == WIN_SCORE - abs(score)
        assert position.is_over
    return score, position.to_move_text(line[0]) if line else ""


@pytest.mark.parametrize("depth", [0, 1, 2, 4])
def test_it_wins_now_and_sees_two_threats(depth: int) -> None:
    # An open four h8-k8, black to move, then white: an immediate win, and no defence.
    black = _gomoku("h8 a1 i8 a3 j8 a5 k8 a7")
    assert _best(black, depth)[0] == WIN_SCORE - 1
    white = _gomoku("h8 a1 i8 a3 j8 a5 k8")
    assert _best(white, depth)[0] == 2 - WIN_SCORE


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_an_open_three_wins_in_three(depth: int) -> None:
    score, move = _best(_gomoku("h8 a1 i8 a3 j8 a5"), depth)
    assert score == WIN_SCORE - 3
    assert move in ("g8", "k8")


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_a_four_is_blocked_and_an_open_three_stopped(depth: int) -> None:
    four = _gomoku("h8 g8 i8 a1 j8 a3 k8")
    score, move = _best(four, depth)
    assert move == "l8"
    assert abs(score) < DECISIVE_SCORE
    three = _gomoku("h8 a1 i8 a3 j8")
    score, move = _best(three, max(2, depth))
    assert move in ("f8", "g8", "k8", "l8")
    assert abs(score) < DECISIVE_SCORE


def test_two_threes_are_proven_lost() -> None:
    """White has no four, so every one of over 200 moves loses: all are accounted for."""
    position = _gomoku("h8 a1 i8 a3 j8 c15 h9 o1 h10")
    score, _ = _best(position, 4)
    assert score == 4 - WIN_SCORE or score == 6 - WIN_SCORE
    # A window that does not ask for a proof gets an estimate.
    engine = _engine(position)
    assert _search(engine, position.state, 4, -100, 100) == -8000


def test_threats_beyond_the_horizon() -> None:
    """A win by two consecutive fours, searched with depth 0."""
    position = _gomoku("h8 g8 i8 a1 j8 a3 l9 k13 k10 a5 k11 a7")
    assert _best(position, 0)[0] == WIN_SCORE - 5  # k8, and after l8 the open four k9
    blind = _engine(position, max_fours=0)
    assert (
        blind._search_alphabeta(position.state, 0, -WIN_SCORE, WIN_SCORE, SearchClock())
        < DECISIVE_SCORE
    )


@pytest.mark.parametrize("depth", [0, 2, 3])
def test_no_win_through_a_forbidden_point(depth: int) -> None:
    # Black's i8 would make five and six: four stones on each side in one line, and one gap.
    moves = "f8 a1 g8 a3 h8 a5 j8 a7 k8 a9 l8 c1"
    six = _gomoku(moves, "gomoku:renju=true")
    assert "i8" in six.forbidden
    free = _gomoku(moves)
    assert _best(free, depth) == (WIN_SCORE - 1, "i8")
    assert _best(six, depth)[0] < WIN_SCORE - 1
    # Two fours of black win in Gomoku, and lose in renju.
    fours = "f8 e8 g8 a1 h8 a3 i5 i4 i6 a5 i7 a7"
    assert _best(_gomoku(fours), depth) == (WIN_SCORE - 3, "i8")
    renju = _gomoku(fours, "gomoku:renju=true")
    assert "i8" in renju.forbidden
    _, move = _best(renju, max(depth, 1))
    assert move != "i8"


def test_white_wins_where_black_may_not_block() -> None:
    """White's four i9-i12 is open at i8 only, where black would make two fours itself."""
    moves = "f8 e8 g8 i9 h8 i10 j7 i11 k6 i12 i13 m4 l5 a3"
    position = _gomoku(moves, "gomoku:renju=true")
    assert "i8" in position.forbidden
    score, move = _best(position, 2)
    assert score == 2 - WIN_SCORE
    assert move != "i8"


def test_renju_proofs_are_won_by_play() -> None:
    """What is proven at depth 2 on a small board, a textbook search confirms."""
    game = RenjuGame(6, "gomoku:size=6,renju=true")
    engine = BoardEngine(game, width=36)
    proven = 0
    for state in _random_states(game, 27, 30):
        score = _search(engine, state, 2)
        if abs(score) > DECISIVE_SCORE:
            proven += 1
            assert score * _truth(game, state) > 0
    assert proven > 3


@pytest.mark.parametrize("spec", ["gomoku", "gomoku:renju=true", "connect4:10x10"])
def test_slices_do_not_change_the_search(spec: str) -> None:
    class SmallSlices(SearchClock):
        def next_slice(self, min_nodes: int = 0) -> int:
            del min_nodes
            return 7

    game = z.game(spec)
    assert isinstance(game, BoardLineGame)
    one, other = BoardEngine(game), BoardEngine(game)
    for state in _random_states(game, 12, 3):
        whole, sliced = SearchClock(), SmallSlices()
        assert one.search(state, 3, -WIN_SCORE, WIN_SCORE, whole) == other.search(
            state, 3, -WIN_SCORE, WIN_SCORE, sliced
        )
        assert whole.nodes == sliced.nodes
        assert one.principal_variation(state) == other.principal_variation(state)


@pytest.mark.parametrize("rules", [SMALL[1][0], SMALL[6][0]])
def test_the_kernel_runs_uncompiled(rules: dict[str, Any]) -> None:
    game = BoardLineGame(**rules)
    engine, plain = BoardEngine(game, width=6), BoardEngine(game, width=6)
    plain._kernel = functools.partial(search, game)
    for state in _random_states(game, 6, 4):
        fast, slow = SearchClock(), SearchClock()
        assert engine.search(state, 3, -WIN_SCORE, WIN_SCORE, fast) == plain.search(
            state, 3, -WIN_SCORE, WIN_SCORE, slow
        )
        assert fast.nodes == slow.nodes
        assert np.array_equal(engine._cell_values, plain._cell_values)
        assert np.array_equal(engine._totals, plain._totals)


def test_a_search_that_was_stopped_leaves_no_trace() -> None:
    position = _gomoku("h8 i9 h9 h10 g8 i8")
    engine = _engine(position)
    expected = _search(engine, position.state, 3)
    with pytest.raises(SearchStopped):
        engine.search(position.state, 6, -WIN_SCORE, WIN_SCORE, SearchClock(Limit(nodes=500)))
    assert _search(engine, position.state, 3) == expected


def test_the_first_stone_goes_to_the_centre() -> None:
    assert _best(z.game("gomoku").start(), 1)[1] == "h8"


def test_the_estimate_tells_open_lines_from_closed_ones() -> None:
    def evaluate(row: str) -> int:
        cells = tuple({"X": 1, "O": -1}.get(c, 0) for c in "." * 105 + row + "." * 105)
        game = z.game("gomoku")
        engine = BoardEngine(game)
        engine._search_alphabeta(
            game.from_board(cells, 0, checked=False), 0, -WIN_SCORE, WIN_SCORE, SearchClock()
        )
        return int(engine._totals[0, -1])

    rows = (
        ".....XXXX......",
        "....OXXXX......",
        ".....XXX.......",
        "....OXXX.......",
        ".....XX........",
    )
    values = [evaluate(row) for row in (*rows, "....OXX........")]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == len(values)


LOSING_FOUR = (
    "b6 f2 f4 c4 d6 f3 h7 e8 b1 c7 a1 i3 g7 b8 b5 i6 a8 d4 d1 e6 h6 e5 b7 d7 g1 c2 f5 d2 d3 c3 c5 "
    "h2 b2 c6 a6 a7 h1 i8 i1 a2"
)


def test_a_line_does_not_go_on_after_a_block_that_loses() -> None:
    """After e1 X threatens c1 and f1, and O's c1 would make four in a row, which loses."""
    position = z.game("line:rows=8,cols=9,win=5,lose=4").position(moves=LOSING_FOUR)
    solution = z.solve(position, limit=Limit(nodes=100_000))
    assert (solution.value, solution.plies, solution.best) == ("win", 3, ("e1",))
    assert position.play("e1").play("c1").is_over
    end = position
    for move in solution.pv:
        end = end.play(move)
    assert len(solution.pv) == 3
    assert end.outcome is z.Outcome.FIRST
    analysis = z.analyze(position, Limit(nodes=100_000))
    for candidate in analysis.candidates:
        for reason in candidate.reasons:
            position.game.position(moves=[*LOSING_FOUR.split(), *reason.line])


def test_a_bound_on_the_distance_is_not_taken_for_the_distance() -> None:
    """Every move loses. A threat search alone proves some losses, with a bound on the distance."""
    game = z.game("line:rows=5,cols=14,win=6,lose=4,overline=exact")
    board = "OXXXOXX.OOXOOO/XXOO.O..X.XXOX/XOOOXOOXOOXXXO/XXOXXXOXXOOXXO/OO..XXXOXO.OOO X"
    solution = z.solve(game.position(board, unchecked=True), limit=Limit(nodes=100_000))
    assert solution.complete
    assert (solution.value, solution.plies) == ("loss", 5)
    assert set(solution.best) == {"h1", "h2", "c5"}


def test_every_action_can_win_for_both_sides() -> None:
    """In five columns, a list of win checks with both sides' wins has more than five entries."""
    position = z.game("line:rows=16,cols=5,win=2,gravity=true").position(moves="1 5")
    analysis = z.analyze(position, Limit(nodes=10_000))
    values = {candidate.move: candidate.value for candidate in analysis.candidates}
    assert values == {"1": "win", "2": "win", "3": "loss", "4": "loss", "5": "loss"}
