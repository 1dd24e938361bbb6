"""Reversi: published counts and endgames, a naive oracle, passes, boards and patterns."""

import random
import time
from typing import Any

import numpy as np
import pytest

import zermelo as z
from support import truth
from zermelo.core.bitboard import bits, popcount
from zermelo.core.game import WordGame
from zermelo.core.player import Limit
from zermelo.core.position import Position
from zermelo.games.reversi import patterns
from zermelo.games.reversi.rules import Reversi
from zermelo.search.count import count
from zermelo.search.limits import SearchClock
from zermelo.search.negamax.searcher import NegamaxSearcher
from zermelo.search.solver.solver import Solver


def test_perft() -> None:
    """Published perft of Othello, where a pass is a ply; see for example the table of Edax."""
    expected = [4, 12, 56, 244, 1396, 8200, 55092, 390216]
    assert count(z.game("reversi"), max_ply=8).perft(8) == expected


class NaiveReversi:
    """Discs in a dictionary; every direction is followed step by step."""

    def __init__(self, size: int) -> None:
        middle = size // 2
        self.size, self.player = size, 0
        self.discs = {
            (middle - 1, middle - 1): 1,
            (middle, middle): 1,
            (middle - 1, middle): 0,
            (middle, middle - 1): 0,
        }

    def flips(self, cell: tuple[int, int], player: int) -> list[tuple[int, int]]:
        flipped = []
        if cell in self.discs:
            return []
        for down in (-1, 0, 1):
            for right in (-1, 0, 1):
                row, col = cell[0] + down, cell[1] + right
                between = []
                while (down or right) and self.discs.get((row, col)) == 1 - player:
                    between.append((row, col))
                    row, col = row + down, col + right
                if self.discs.get((row, col)) == player:
                    flipped += between
        return flipped

    def cells(self, player: int) -> list[int]:
        every = ((r, c) for r in range(self.size) for c in range(self.size))
        return [r * self.size + c for r, c in every if self.flips((r, c), player)]

    def actions(self) -> list[int]:
        own = self.cells(self.player)
        return own or ([self.size**2] if self.cells(1 - self.player) else [])

    def play(self, action: int) -> None:
        if action < self.size**2:
            cell = divmod(action, self.size)
            for flipped in self.flips(cell, self.player):
                self.discs[flipped] = self.player
            self.discs[cell] = self.player
        self.player = 1 - self.player


@pytest.mark.parametrize("size", [4, 6, 8])
def test_the_rules_equal_the_naive_rules(size: int) -> None:
    game, rng = z.game(f"reversi:{size}"), random.Random(5)
    passes = 0
    for _ in range(40):
        position, naive = game.start(), NaiveReversi(size)
        while actions := naive.actions():
            assert position.actions == actions
            action = rng.choice(actions)
            passes += action == size**2
            naive.play(action)
            position = position.play_action(action)
            board = [0] * size**2
            for (row, col), owner in naive.discs.items():
                board[row * size + col] = 1 - 2 * owner
            assert position.board == tuple(board)
            assert position.player == naive.player
        assert position.is_over
        black = sum(position.board or ())
        winner = (
            z.Outcome.DRAW if not black else (z.Outcome.FIRST if black > 0 else z.Outcome.SECOND)
        )
        assert position.outcome is winner
        assert isinstance(game, Reversi)
        assert game.diff(position.state) == (black if position.player == 0 else -black)
    assert passes


def test_4x4_is_lost_by_8() -> None:
    """Brute force with a memo over all states: the second player wins 11-3."""
    game = z.game("reversi:4")
    assert isinstance(game, Reversi)
    memo: dict[tuple[int, ...], int] = {}

    def best(state: tuple[int, ...]) -> int:
        if state not in memo:
            replies = [-best(game.play(state, action)) for action in game.actions(state)]
            memo[state] = max(replies) if replies else game.diff(state)
        return memo[state]

    assert best(game.initial()) == -8


def test_a_pass_is_forced_and_written() -> None:
    game = z.game("reversi:4")
    rng = random.Random(1)
    for _ in range(200):
        position = game.start()
        while position.actions and position.legal != ["pass"]:
            position = position.play_action(rng.choice(position.actions))
        if position.legal == ["pass"]:
            break
    assert position.legal == ["pass"]
    assert position.play("pass").player == 1 - position.player
    assert position.play("pass").board == position.board
    with pytest.raises(z.IllegalMove, match="a side that can move may not pass"):
        game.start().play("pass")


@pytest.mark.parametrize(
    ("move", "part"),
    [("d4", "the cell is taken"), ("a1", "it flips no disc"), ("i9", "outside the 8x8 board")],
)
def test_illegal_moves(move: str, part: str) -> None:
    with pytest.raises(z.IllegalMove, match=part):
        z.game("reversi").start().play(move)


@pytest.mark.parametrize(
    ("board", "part"),
    [
        ("...." * 4, "add X or O"),
        ("...." * 4 + " X", "b2 is empty"),
        ("X..../"[:4] + "/.OX./.XO./.... X", None),
        ("...X/.OX./.XO./.... X", None),
        ("X.../..../..../.... X", "b2 is empty"),
        ("XX../.OX./.XO./...X O", None),
    ],
)
def test_boards(board: str, part: str | None) -> None:
    game = z.game("reversi:4")
    if part is None:
        assert game.position(board).player == "XO".index(board[-1])
    else:
        with pytest.raises(z.BadBoard, match=part):
            game.position(board)


def test_a_disc_that_is_not_connected_cannot_arise() -> None:
    rows = ["X.....", "......", "..OX..", "..XO..", "......", "......"]
    with pytest.raises(z.BadBoard, match="the disc on a1 is not connected to the middle"):
        z.game("reversi:6").position("/".join(rows) + " X")


def test_bad_sizes() -> None:
    with pytest.raises(z.BadSpec, match="size is 5: it must be 4, 6 or 8"):
        z.game("reversi:5")


def late(size: int, free: int, rng: random.Random) -> tuple[int, ...]:
    """Return a state of a random game with `free` cells left."""
    game = z.game(f"reversi:{size}")
    while True:
        position = game.start()
        while position.actions and (position.board or ()).count(0) > free:
            position = position.play_action(rng.choice(position.actions))
        if position.actions:
            return tuple(position.state)


@pytest.mark.parametrize("size", [4, 6, 8])
def test_the_solver_flips_the_same_discs_as_the_rules(size: int) -> None:
    game, rng = z.game(f"reversi:{size}"), random.Random(6)
    assert isinstance(game, Reversi)
    for _ in range(30):
        state = game.initial()
        while actions := game.actions(state):
            for action in actions:
                assert game.hooks.play_index(state, action) == game.play(state, action)
            state = game.play(state, rng.choice(actions))


@pytest.mark.parametrize("size", [4, 6, 8])
def test_scores_of_the_last_four_cells_equal_minimax(size: int) -> None:
    game, rng = z.game(f"reversi:{size}"), random.Random(7)
    assert isinstance(game, Reversi)

    def best(state: tuple[int, ...]) -> int:
        replies = [-best(game.play(state, action)) for action in game.actions(state)]
        return max(replies) if replies else game.diff(state)

    for _ in range(100):
        state = late(size, 4, rng)
        score = best(state)
        assert game.hooks.resolve_in_window(state, -65, 65) == (True, score)
        alpha = rng.randrange(-64, 64)
        bound = game.hooks.resolve_in_window(state, alpha, alpha + 1)[1]
        assert (bound > alpha) == (score > alpha)
        assert bound <= score if bound > alpha else bound >= score
    assert game.hooks.resolve_in_window(late(size, 5, rng), -65, 65)[0] is False


def known_endgames() -> list[tuple[tuple[int, ...], int]]:
    """Return states with 13 and 14 cells left and their scores for the side to move."""
    endgames = []
    for line in truth.lines("reversi/endgame_13_14.txt"):
        board, side, _best, score = line.split()
        state = z.game("reversi").position(f"{board} {side[0].translate(SIDES)}", unchecked=True)
        endgames.append((tuple(state.state), int(score) if side == "Black" else -int(score)))
    return endgames


SIDES = str.maketrans("BW", "XO")


def test_known_endgames() -> None:
    known = known_endgames()[:25]
    assert scores(z.game("reversi"), [state for state, _ in known]) == [score for _, score in known]


@pytest.mark.proof
def test_all_known_endgames() -> None:
    known, game = known_endgames(), z.game("reversi")
    scores(game, [known[0][0]])  # compiled
    begin = time.process_time()
    assert scores(game, [state for state, _ in known]) == [score for _, score in known]
    assert (time.process_time() - begin) / len(known) < 0.05


def scores(game: z.Game, states: list[tuple[int, ...]]) -> list[int]:
    assert isinstance(game, WordGame)
    return NegamaxSearcher(game.hooks, table_bits=20).solve_batch(states, SearchClock())


class WinnerTakesEmpties(patterns.PatternHooks):
    """Reversi where empty cells count for the winner, as in the FFO positions."""

    def final_score(self, mine: Any, theirs: Any) -> Any:
        diff = popcount(mine) - popcount(theirs)
        left = self.cells - popcount(mine | theirs)
        return diff + left * ((diff > 0) - (diff < 0))


def ffo(name: str) -> list[tuple[tuple[int, ...], dict[str, int]]]:
    """Return states and the score of each move, with empty cells counted for the winner."""
    endgames = []
    for line in truth.lines(f"reversi/{name}"):
        board, *moves = (part.strip() for part in line.split(";"))
        state = z.game("reversi").position(board, unchecked=True).state
        pairs = (move.lower().split(":") for move in moves if move)
        endgames.append((tuple(state), {move: int(score) for move, score in pairs}))
    return endgames


def test_known_endgames_of_the_ffo() -> None:
    """The two ways of counting agree except where a cell stays empty, in two known positions."""
    known = ffo("endgame_ffo_1_19.obf")
    solved = scores(z.game("reversi"), [state for state, _ in known])
    differing = {
        n: score
        for n, (score, (_, m)) in enumerate(zip(solved, known, strict=True), 1)
        if score != max(m.values())
    }
    assert differing == {5: 31, 11: 29}  # one cell stays empty: 32 and 30


@pytest.mark.proof
def test_every_move_of_the_ffo() -> None:
    game = Reversi(spec="awarded")
    game.hooks = WinnerTakesEmpties(game)
    for state, expected in ffo("endgame_ffo_1_19.obf"):
        children = [game.play(state, game.parse_action(state, move)) for move in expected]
        assert [-score for score in scores(game, children)] == list(expected.values())


@pytest.mark.proof
def test_ffo_40_takes_seconds() -> None:
    """20 cells left: a2 wins by 38, and no other move does."""
    [(state, expected)] = ffo("endgame_ffo_40.obf")
    game = z.game("reversi")
    assert isinstance(game, Reversi)
    solver = Solver(game)
    begin = time.process_time()
    assert solver.score(state) == max(expected.values()) == 38
    assert time.process_time() - begin < 10
    assert solver.best_actions(state, 38) == [game.parse_action(state, "a2")]


def test_the_evaluation_is_the_sum_of_the_weights_of_all_lines() -> None:
    """Lines are read cell by cell. Symmetries change nothing, and the compiled form agrees."""
    game, rng = z.game("reversi"), random.Random(8)
    assert isinstance(game, Reversi)
    hooks = game.hooks
    assert isinstance(hooks, patterns.PatternHooks)
    searcher = NegamaxSearcher(hooks, table_bits=16)
    families = patterns.list_families()
    assert sorted(len(lines) for lines in families) == [2, *[4] * 9]
    starts = [sum(3 ** len(lines[0]) for lines in families[:n]) for n in range(len(families))]
    for free in range(5, 60, 3):
        state = late(8, free, rng)
        moves = len(bits(game.mobility(*state[:2]))) - len(bits(game.mobility(state[1], state[0])))
        parts = moves * hooks.weights[-2].astype(int) + hooks.weights[-1]
        for start, lines in zip(starts, families, strict=True):
            for line in lines:
                digits = [(state[0] >> cell & 1) + 2 * (state[1] >> cell & 1) for cell in line]
                parts += hooks.weights[start + sum(d * 3**n for n, d in enumerate(digits))]
        shares = [np.interp(64 - free, patterns.KNOTS, knot) for knot in np.eye(3)]
        expected = float(parts @ shares) / patterns.WEIGHTS_PER_DISC
        estimate = hooks.evaluate(state)
        assert abs(estimate - max(-63, min(63, expected))) <= 0.51
        images = [game.transform(state, symmetry) for symmetry in game.symmetries()]
        assert {hooks.evaluate(image) for image in images} == {estimate}
        assert searcher.search(state, 0, -65, 65, SearchClock()) == estimate


def test_weights_change_sign_when_the_colours_are_swapped() -> None:
    number, sign = patterns.weight_classes()
    assert len(number) == len(sign) == sum(3 ** len(lines[0]) for lines in patterns.list_families())
    weights = patterns.PatternHooks(Reversi()).weights
    for index in range(3**8):  # the edge's family is the first
        swapped = sum((0, 2, 1)[index // 3**n % 3] * 3**n for n in range(8))
        assert (weights[index] == -weights[swapped]).all()
    assert patterns.FILE.stat().st_size < 60_000


@pytest.mark.parametrize("size", [4, 6])
def test_other_sizes_have_no_patterns(size: int) -> None:
    game = z.game(f"reversi:{size}")
    assert isinstance(game, Reversi)
    assert not isinstance(game.hooks, patterns.PatternHooks)
    assert z.player("minimax:depth=3").choose(game.start()).move in game.start().legal


def test_a_depth_limited_search_is_exact_when_few_cells_are_left() -> None:
    state, expected = ffo("endgame_ffo_1_19.obf")[0]
    game = z.game("reversi")
    position = Position(game, state, None)
    analysis = z.player("alphabeta:seconds=60").choose(position, Limit(nodes=2_000_000))
    assert (analysis.move, analysis.exact, analysis.diff) == ("g8", True, expected["g8"])
