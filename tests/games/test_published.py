"""The published ordering and evaluation of Squava, against their definitions cell by cell."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

import zermelo as z
from support.naive import DIRECTIONS, NaiveLines
from zermelo.games.lines.published import PublishedTactics
from zermelo.games.lines.small import WordLineGame

SIZE, WIN, LOSE = 5, 4, 3
Board = tuple[int, ...]  # +1 the mover, -1 the opponent, 0 free


def squava() -> WordLineGame:
    game = z.game("squava")
    assert isinstance(game, WordLineGame)
    return game


def lines(length: int) -> Iterator[list[int]]:
    """Every line of `length` cells on the board."""
    for row in range(SIZE):
        for col in range(SIZE):
            for down, right in DIRECTIONS:
                cells = [(row + down * i, col + right * i) for i in range(length)]
                if all(0 <= r < SIZE and 0 <= c < SIZE for r, c in cells):
                    yield [r * SIZE + c for r, c in cells]


def makes_line(board: Board, cell: int, side: int, length: int) -> bool:
    """Whether a stone of a side on `cell` is in a line of at least `length`."""
    return any(
        cell in line and all(board[c] == side for c in line if c != cell) for line in lines(length)
    )


def published_rank(board: Board, cell: int) -> int:
    """The score of a move as published, counted on the board before the stone is placed."""
    if makes_line(board, cell, 1, WIN):
        return 15_000
    if makes_line(board, cell, 1, LOSE):
        return -10_000
    row, col = divmod(cell, SIZE)
    rank = 10 * (4 - abs(row - 2) - abs(col - 2))
    if makes_line(board, cell, -1, WIN):
        rank += 5_000
    for line in lines(WIN):
        stones = [board[c] for c in line]
        if cell in line and -1 not in stones:
            rank += 5 * stones.count(1)
    for line in lines(LOSE):
        stones = [board[c] for c in line]
        if cell in line and stones.count(-1) == 2 and 1 not in stones:
            rank += 50
    return rank


def published_evaluation(board: Board, centre: int) -> int:
    """The estimate for the side to move as published."""
    score = 0
    for side in (1, -1):
        for line in lines(WIN):
            stones = [board[c] for c in line]
            if -side not in stones:
                score += side * {0: 0, 1: 2, 2: 20, 3: 200}[stones.count(side)]
        for line in lines(LOSE):
            stones = [board[c] for c in line]
            if -side not in stones and stones.count(side) == 2:
                score -= side * 100
        inner = [row * SIZE + col for row in (1, 2, 3) for col in (1, 2, 3)]
        score += side * centre * sum(board[c] == side for c in inner)
    return score


def random_positions(number: int) -> Iterator[tuple[Any, Board]]:
    """Running positions of random games without moves that lose at once, seen by the mover."""
    game, rng, count = squava(), random.Random(9), 0
    while True:
        naive, state = NaiveLines(SIZE, SIZE, WIN, LOSE), game.initial()
        while naive.result() is None:
            mover = 1 - 2 * naive.player
            board = tuple(mover * stone for stone in naive.board())
            yield state, board
            count += 1
            if count == number:
                return
            actions = naive.actions()
            safe = [a for a in actions if not makes_line(board, a, 1, LOSE)]
            action = rng.choice(safe or actions)
            naive.play(action)
            state = game.play(state, action)


def test_the_ordering_is_as_published() -> None:
    hooks = PublishedTactics(squava())
    ranks = set()
    for state, board in random_positions(600):
        for cell in (c for c in range(SIZE * SIZE) if board[c] == 0):
            expected = published_rank(board, cell)
            assert hooks.rank_move(state, cell) == expected, (state, cell)
            ranks.add(expected)
    assert {15_000, -10_000} < ranks
    assert any(rank >= 5_000 for rank in ranks - {15_000}), "some moves block"


def test_the_ordering_of_a_drawing() -> None:
    """Lines are counted without the new stone; a winning or losing move gets its score alone.

       a b c d e      X moves
    1  X X . X .      c1 wins
    2  . . . . .
    3  O O . O .      c3 blocks, and completes two losing lines of O
    4  . . . . .
    5  X . . X X      c5 makes three and loses
    """
    board = squava().position("XX.X./...../OO.O./...../X..XX", to_move=0, unchecked=True)
    hooks = PublishedTactics(squava())
    rank = {move: hooks.rank_move(board.state, board.parse(move)) for move in board.legal}
    assert (rank["c1"], rank["c5"]) == (15_000, -10_000)
    # The centre; two losing lines; one line each with a1, e5 and a5, and two with none.
    assert rank["c3"] == 5_000 + 40 + 2 * 50 + 3 * 5
    assert rank["c4"] == 30, "its open lines are empty"


@pytest.mark.parametrize("centre", [10, 0])
def test_the_evaluation_is_as_published(centre: int) -> None:
    hooks = PublishedTactics(squava(), centre)
    estimates = set()
    for state, board in random_positions(400):
        expected = published_evaluation(board, centre)
        assert hooks.evaluate(state) == expected, state
        estimates.add(expected)
    assert len(estimates) > 100
