"""Players, their registry and matches."""

import pytest

import zermelo as z
from support.piece_games import BOXES, BOXES_MOVERS, BOXES_WIN
from zermelo.matches.match import Match
from zermelo.players.registry import list_players


def test_a_seed_gives_the_same_game() -> None:
    def moves(seed: int) -> list[str]:
        match, player = z.match(z.game("squava")), z.player(f"random:seed={seed}")
        while match.outcome is None:
            match.reply(player)
        return match.moves

    assert moves(1) == moves(1) != moves(2)


def test_random_chooses_every_move() -> None:
    position, player = z.game("connect4").start(), z.player("random:seed=1")
    assert {player.choose(position).move for _ in range(200)} == set("1234567")


def test_choosing_in_a_finished_game_is_refused() -> None:
    end = z.game("tictactoe").position(moves="a1 a2 b1 b2 c1")
    with pytest.raises(z.IllegalMove, match="no move to choose, because the game is over: X wins"):
        z.player("random").choose(end)


def test_undo_and_resign() -> None:
    match = z.match(z.game("tictactoe"), "a1 b1 c1")
    assert match.undo(2).moves == ["a1"]
    match.resign()
    assert match.outcome is z.Outcome.FIRST
    assert match.verdict == "X wins: O resigned"
    with pytest.raises(z.IllegalMove, match="the game is over"):
        match.play("b1")
    assert match.undo(0).player == 1
    assert match.outcome is None
    match.undo(99)
    assert match.moves == []


def test_redo_plays_again_what_was_taken_back() -> None:
    match = z.match(z.game("tictactoe"), "a1 b1 c1")
    assert match.redo().moves == ["a1", "b1", "c1"]
    match.undo(2)
    with pytest.raises(z.IllegalMove):
        match.play("a1")
    assert match.num_redoable == 2  # a move that is refused forgets nothing
    assert match.redo().moves == ["a1", "b1"]
    assert match.redo(99).moves == ["a1", "b1", "c1"]
    match.undo(2)
    match.play("c3")
    assert match.redo().moves == ["a1", "c3"]
    match.undo()
    match.resign()
    assert match.redo().moves == ["a1"]


def test_undo_and_redo_to_ones_own_turn() -> None:
    match = z.match(z.game("tictactoe"), "a1 b1 c1")
    assert (match.undo_to_turn([1]), match.moves) == (2, ["a1"])
    assert (match.undo_to_turn([1]), match.moves) == (0, ["a1"])
    assert (match.redo_to_turn([0]), match.moves) == (1, ["a1", "b1"])
    assert (match.redo_to_turn([0]), match.moves) == (1, ["a1", "b1", "c1"])
    assert match.redo_to_turn([0]) == 0


def test_the_seconds_of_each_move() -> None:
    match = z.match(z.game("tictactoe"), "a1")
    match.play("b1")
    known, took = match.move_seconds
    assert known is None
    assert took is not None
    assert 0 <= took < 5
    match.undo()
    assert match.move_seconds == [None]
    match.redo()
    assert match.move_seconds == [None, took]
    assert 0 <= match.seconds < 5


def test_a_finished_game_cannot_be_resigned() -> None:
    match = z.match(z.game("tictactoe"), "a1 a2 b1 b2 c1")
    with pytest.raises(z.IllegalMove, match="the game is over: X wins"):
        match.resign()
    assert match.outcome is z.Outcome.FIRST


def test_an_illegal_move_changes_nothing() -> None:
    match = z.match(z.game("tictactoe"), "a1")
    with pytest.raises(z.IllegalMove):
        match.play("a1")
    assert match.moves == ["a1"]


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ("nobody", "unknown player 'nobody': choose from human, random"),
        ("randm", "did you mean random?"),
        ("random:speed=1", "unknown parameter 'speed': choose from seed"),
        ("random:seed=x", "seed is 'x': it must be a whole number"),
        ("random:7", "'7' has no meaning here"),
        ("random:seed=1,seed=2", "gives seed twice"),
        ("human", "needs a screen"),
    ],
)
def test_bad_player_specs(spec: str, part: str) -> None:
    with pytest.raises(z.BadSpec) as caught:
        z.player(spec)
    assert part in str(caught.value)


@pytest.mark.parametrize("name", [entry.name for entry in list_players() if entry.factory])
def test_every_registered_player_can_be_created(name: str) -> None:
    if name == "openspiel":
        pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: no players of its own")
    game = z.game({"hybrid": "squava", "alphazero": "gomoku6"}.get(name, "tictactoe"))
    assert z.player(name).choose(game.start()).move


def test_undo_and_redo_stop_at_a_turn_even_if_a_side_moves_again() -> None:
    match = Match(BOXES, BOXES_WIN)
    assert match.movers == BOXES_MOVERS
    assert match.position.movers == BOXES_MOVERS
    assert match.verdict == "O wins, 3 to 1"
    assert match.undo_to_turn({0}) == 1
    assert match.undo_to_turn({0}) == 3  # two moves of O, and the move of X before them
    assert match.position.player == 0
    assert match.redo_to_turn({0}) == 3
    assert match.undo_to_turn({1}) == 1  # the second move of O, who moved again
    assert match.position.player == 1


def test_the_verdict_of_a_game_with_scores_has_the_margin() -> None:
    """By default; Boxes itself says how many boxes each side has."""
    boxes = type(z.game(BOXES))
    plain = type("Plain", (boxes,), {"remark": z.Game.remark, "spec": "plain"})()
    assert Match(plain, BOXES_WIN).verdict == "O wins by 2 points"
    assert Match(plain, BOXES_WIN[:-1]).verdict == "X to move"
