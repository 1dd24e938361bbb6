"""Players, roster and matches."""

import pytest

import zermelo as z
from zermelo import roster


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
    with pytest.raises(z.IllegalMove, match="no move to choose: X wins"):
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


def test_an_illegal_move_changes_nothing() -> None:
    match = z.match(z.game("tictactoe"), "a1")
    with pytest.raises(z.IllegalMove):
        match.play("a1")
    assert match.moves == ["a1"]


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ("nobody", "unknown player 'nobody': there is human, random"),
        ("randm", "did you mean random?"),
        ("random:speed=1", "there is no parameter 'speed'; it has seed"),
        ("random:seed=x", "seed is 'x': it must be a whole number"),
        ("random:7", "'7' says nothing here"),
        ("random:seed=1,seed=2", "gives seed twice"),
        ("human", "sits at a screen"),
    ],
)
def test_bad_player_specs(spec: str, part: str) -> None:
    with pytest.raises(z.BadSpec) as caught:
        z.player(spec)
    assert part in str(caught.value)


def test_every_player_of_the_roster_can_be_made() -> None:
    for entry in roster.entries():
        if entry.factory:
            assert z.player(entry.name).choose(z.game("tictactoe").start()).move
