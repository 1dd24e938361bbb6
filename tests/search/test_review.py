"""Reviews and puzzles, in Python and on the command line; the studio's tests check its JSON."""

import threading

import pytest

import zermelo as z
from support.commands import command
from zermelo.core.errors import BadSpec
from zermelo.search.explain.puzzles import NoPuzzle
from zermelo.search.explain.review import iter_review

GAME = "b2 b1 b3 a1 c3"  # O's edge loses, X misses the win, X misses O's threat


def test_a_review_finds_the_planted_mistakes() -> None:
    match = z.match("tictactoe", GAME)
    records = z.review(match, z.Limit(seconds=5))
    assert [r.move for r in records] == [None, *GAME.split()]
    assert [r.player for r in records] == [None, 0, 1, 0, 1, 0]
    assert [r.estimate for r in records] == [0, 0, 1, 0, 0, -1]
    assert [r.mistake for r in records] == [None, None, "mistake", "mistake", None, "mistake"]
    assert all(r.exact for r in records)
    for ply, record in enumerate(records):
        assert (record.better is None) == (record.mistake is None)
        if record.better is not None:
            assert record.better.move in z.solve(match.position_at(ply - 1)).best
            assert record.better.reasons
    assert records == z.review(match.positions, z.Limit(seconds=5))


def test_a_review_from_a_board_and_of_a_finished_game() -> None:
    board = z.game("tictactoe").position("XX./OO./...")
    records = z.review([board, board.play("c1")])
    assert [(r.ply, r.move, r.estimate) for r in records] == [(0, None, 1), (1, "c1", 1)]
    over = z.match("tictactoe", "a1 a2 b1 b2 c1")
    assert [r.ply for r in z.review(over)] == [0, 1, 2, 3, 4, 5]
    assert z.review([over.position]) == []


def test_a_review_by_estimates_and_its_limits() -> None:
    # A stone in the corner instead of the block: a slip, since 40 nodes a move prove little.
    match = z.match("gomoku", "h8 a1 h9 a2 h10")
    records = z.review(match, z.Limit(nodes=40))
    assert not records[1].exact
    assert len(records) == 6
    stop = threading.Event()
    stream = iter_review(match, z.Limit(seconds=1, stop=stop))
    assert next(stream).ply == 0
    stop.set()
    assert len(list(stream)) <= 1


def test_review_on_the_command_line() -> None:
    code, text, _ = command("review", "tictactoe", "--moves", GAME)
    lines = text.splitlines()
    assert (code, len(lines)) == (0, 7)
    assert "mistake: better a1" in lines[2]
    assert lines[-1] == "3 mistakes; O to move"
    code, text, _ = command("review", "tictactoe", "--moves", GAME, "--seconds", "5", "--json")
    assert '"mistake": "mistake"' in text
    code, _, error = command("review", "tictactoe", "--moves", "b2 b2")
    assert (code, "taken" in error) == (2, True)
    assert command("review", "tictactoe")[0] == 2


@pytest.mark.parametrize(("game", "plies"), [("tictactoe", 3), ("squava", 5), ("connect4", 7)])
def test_a_puzzle_has_one_solution(game: str, plies: int) -> None:
    puzzle = z.puzzle(game, plies, seed=3)
    solution = z.solve(puzzle.position)
    assert (solution.value, solution.plies) == ("win", plies)
    assert solution.best == (puzzle.solution,)
    assert z.puzzle(z.game(game), plies, seed=3) == puzzle
    assert z.puzzle(game, plies, seed=4) != puzzle


def test_puzzles_that_do_not_exist() -> None:
    for plies in (0, 4, 11):
        with pytest.raises(BadSpec, match=f"plies is {plies}"):
            z.puzzle("connect4", plies)
    for game in ("gomoku", "reversi"):
        with pytest.raises(NoPuzzle, match="there are no puzzles"):
            z.puzzle(game)
    with pytest.raises(NoPuzzle, match="no win in 9 plies"):
        z.puzzle("tictactoe", 9)


def test_puzzle_on_the_command_line() -> None:
    code, text, _ = command("puzzle", "tictactoe", "--seed", "3")
    assert code == 0
    assert "to move wins in 2 moves, and only one first move wins" in text
    code, text, _ = command("puzzle", "tictactoe", "--plies", "3", "--seed", "3", "--json")
    assert f'"solution": "{z.puzzle("tictactoe", 3, 3).solution}"' in text
    code, _, error = command("puzzle", "tictactoe", "--plies", "4")
    assert (code, "which is even" in error) == (2, True)
