"""What holds for every game of the registry, over random games."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import zermelo as z
from support.samples import SPECS
from zermelo.core.game import MaskGame
from zermelo.core.notation import format_board
from zermelo.games import registry

seeds = st.integers(0, 2**32)
games = st.sampled_from(SPECS).map(z.game)


def random_line(game: z.Game, seed: int) -> list[z.Position]:
    rng = random.Random(seed)
    line = [game.start()]
    while line[-1].actions:
        line.append(line[-1].play_action(rng.choice(line[-1].actions)))
    return line


def test_every_name_of_the_registry_is_sampled() -> None:
    assert {spec.partition(":")[0] for spec in SPECS} == {e.name for e in registry.entries()}


@given(games, seeds)
def test_legal_actions_are_sorted_and_gone_exactly_at_the_end(game: z.Game, seed: int) -> None:
    for position in random_line(game, seed):
        actions = position.actions
        assert actions == sorted(set(actions))
        assert all(0 <= action < game.num_actions for action in actions)
        assert bool(actions) == (position.outcome is None) == (not position.is_over)


@given(games, seeds)
def test_play_leaves_the_position_as_it_was(game: z.Game, seed: int) -> None:
    for position in random_line(game, seed):
        before = (position.state, position.board, position.player, hash(position.state))
        for action in position.actions:
            position.play_action(action)
        assert (position.state, position.board, position.player, hash(position.state)) == before


@given(games, seeds)
def test_moves_round_trip_as_text(game: z.Game, seed: int) -> None:
    line = random_line(game, seed)
    for position in line:
        assert [position.parse(move) for move in position.legal] == position.actions
    end = line[-1]
    assert end.moves is not None
    assert game.position(moves=" ".join(end.moves)) == end
    assert game.position(moves=",".join(end.moves)).key == end.key


@given(games, seeds)
def test_boards_round_trip(game: z.Game, seed: int) -> None:
    assert game.grid is not None
    for position in random_line(game, seed):
        board = position.board
        assert board is not None
        if "renju" in game.spec and position.is_over and position.winning_line is None:
            continue  # a board does not show which stone was forbidden
        again = game.position(board, position.player)
        assert again.state == position.state
        text = format_board(board, game.grid, position.player)
        assert game.position(text).state == position.state
        assert game.position(text.replace("/", "").replace(".", "-")).state == position.state


@given(games, seeds)
def test_symmetries_commute_with_play(game: z.Game, seed: int) -> None:
    assert isinstance(game, MaskGame)
    symmetries = game.symmetries()
    assert symmetries[0].cells == tuple(range(len(symmetries[0].cells)))
    line = random_line(game, seed)
    for position in line[:: max(1, len(line) // 8)]:
        for symmetry in symmetries:
            image = game.transform(position.state, symmetry)
            assert game.result(image) == game.result(position.state)
            for action in position.actions[::5]:
                one = game.transform(game.play(position.state, action), symmetry)
                assert one == game.play(image, symmetry.actions[action])


@given(games, seeds)
def test_outcome_and_winning_line_agree(game: z.Game, seed: int) -> None:
    line = random_line(game, seed)
    for position in line[:-1]:
        assert position.winning_line is None
    end = line[-1]
    assert end.outcome is not None
    if game.spec.startswith("reversi"):
        assert end.winning_line is None
    elif "renju" not in game.spec:  # there a forbidden move loses without a line
        assert (end.winning_line is None) == (end.outcome is z.Outcome.DRAW)
    if end.winning_line:
        assert end.board is not None
        assert len({end.board[cell] for cell in end.winning_line} - {0}) == 1
        assert end.last_cell in end.winning_line


@given(games, seeds)
def test_a_finished_game_takes_no_move(game: z.Game, seed: int) -> None:
    end = random_line(game, seed)[-1]
    assert end.moves
    with pytest.raises(z.IllegalMove, match="the game is over"):
        end.play(end.moves[0])


@given(games, seeds)
def test_keys_tell_positions_apart(game: z.Game, seed: int) -> None:
    line = random_line(game, seed)
    assert len({position.key for position in line}) == len(line)
