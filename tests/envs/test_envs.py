"""Gymnasium and PettingZoo environments, by the checkers of the libraries and by our own."""

import copy
import pickle
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zermelo as z
from support.paths import ROOT
from support.samples import SPECS
from zermelo.envs import aec_env, gym_env
from zermelo.envs.boards import PlainBoard, create_board
from zermelo.envs.planes import Planes

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed")
pettingzoo_test = pytest.importorskip("pettingzoo.test", reason="PettingZoo is not installed")


@pytest.mark.parametrize("spec", SPECS)
def test_pettingzoo_checks(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        # PettingZoo warns about observations that are dictionaries, except in its own environments.
        warnings.filterwarnings("ignore", category=UserWarning)
        pettingzoo_test.api_test(aec_env(spec), num_cycles=100)
        pettingzoo_test.seed_test(lambda: aec_env(spec), num_cycles=50)
        pettingzoo_test.render_test(lambda render_mode: aec_env(spec, render_mode=render_mode))
    assert "Passed" in capsys.readouterr().out


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("options", [{}, {"seat": 1, "planes": 4, "shaping": "threats"}])
def test_gymnasium_checks(spec: str, options: dict[str, Any]) -> None:
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", message=".*env.spec.*|.*spec.*|.*minimum value.*|.*maximum value.*"
        )
        check_env(gym_env(spec, render_mode="rgb_array", **options), skip_close_check=True)
        check_env(gym_env(spec, render_mode="ansi", **options), skip_close_check=True)


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("raw", [False, True])
def test_an_aec_environment_follows_the_game(spec: str, raw: bool) -> None:
    env, game, rng = aec_env(spec, raw=raw), z.game(spec), random.Random(1)
    for _ in range(3):
        env.reset()
        position = game.start()
        while not position.is_over:
            seen, _, terminated, _, _ = env.last()
            assert not terminated
            assert env.agent_selection == ("player_1", "player_2")[position.player]
            assert seen["action_mask"].nonzero()[0].tolist() == position.actions
            board = np.array(position.board).reshape(seen["observation"].shape[1:])
            own = 1 if position.player == 0 else -1
            assert (seen["observation"] == [board == own, board == -own]).all()
            other = ("player_2", "player_1")[position.player]
            idle = env.observe(other)
            assert (idle["observation"] == seen["observation"][::-1]).all()
            assert not idle["action_mask"].any()
            action = rng.choice(position.actions)
            env.step(action)
            position = position.play_action(action)
        outcome = position.outcome
        assert outcome is not None
        value = {None: 0, 0: 1, 1: -1}[outcome.winner]
        assert env.rewards == {"player_1": value, "player_2": -value}
        assert all(env.terminations.values())


def test_an_observation_is_a_copy() -> None:
    env = aec_env("tictactoe")
    env.reset()
    first = env.last()[0]
    first["observation"][:] = 7
    first["action_mask"][:] = 0
    assert env.last()[0]["action_mask"].all()
    assert not env.last()[0]["observation"].any()


def test_copies_are_independent_environments() -> None:
    env = aec_env("tictactoe")
    env.reset()
    env.step(0)
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):  # noqa: S301 - our own
        twin.step(1)
        assert twin.last()[0]["observation"].sum() == 2
        assert env.last()[0]["observation"].sum() == 1
        twin.reset()
        assert not twin.last()[0]["observation"].any()


def test_a_plain_game_with_a_board(tmp_path: Path) -> None:
    path = tmp_path / "plain.py"
    path.write_text(PLAIN)
    env = aec_env(str(path))
    env.reset()
    env.step(0)
    assert env.last()[0]["observation"].tolist() == [[[0, 0]], [[1, 0]]]
    assert gym_env(str(path), opponent="random").reset(seed=1)[0].shape == (2, 1, 2)
    with pytest.raises(z.BadSpec, match="it must be 2 for"):
        aec_env(str(path), planes=4)


PLAIN = """
from zermelo.core.notation import Grid
num_actions = 2
grid = Grid(1, 2)
def initial(): return ()
def player(state): return len(state) % 2
def actions(state): return [a for a in range(2) if a not in state]
def play(state, action): return (*state, action)
def result(state): return len(state) == 2, 0
def board(state):
    return tuple(1 - 2 * (state.index(c) % 2) if c in state else 0 for c in range(2))
"""


def test_an_illegal_action_loses() -> None:
    env = aec_env("tictactoe")
    env.reset()
    env.step(4)
    env.step(4)
    assert env.rewards == {"player_1": 0, "player_2": -1}
    assert all(env.terminations.values())
    assert env.infos["player_2"]["illegal"]
    env.step(None)
    env.step(None)
    assert env.agents == []


@pytest.mark.parametrize("action", [-1, 9, 1.5, "b2", None])
def test_a_value_that_is_not_an_action_is_refused(action: Any) -> None:
    env = aec_env("tictactoe")
    env.reset()
    with pytest.raises(z.ZermeloError, match="of tictactoe: give an int from 0 to 8"):
        env.step(action)


def test_calls_out_of_order_are_refused() -> None:
    env = aec_env("tictactoe")
    for call in (lambda: env.step(0), env.last):
        with pytest.raises(z.ZermeloError, match=r"call env\.reset"):
            call()


def test_bad_options() -> None:
    for make in (
        lambda: aec_env("tictactoe", render_mode="film"),
        lambda: aec_env("tictactoe", planes=3),
        lambda: gym_env("tictactoe", seat=2),
        lambda: gym_env("tictactoe", render_mode="film"),
        lambda: gym_env("tictactoe", shaping="magic"),
        lambda: gym_env("tictactoe", opponent="nobody"),
        lambda: gym_env("nothing"),
    ):
        with pytest.raises(z.ZermeloError):
            make()


def test_four_planes_mark_the_cells_that_win_immediately() -> None:
    """X wins on c1, O on c2.

    X X .
    O O .
    . . .
    """
    planes = Planes(z.game("tictactoe"), 4)
    seen = planes.observe(z.game("tictactoe").position("XX./OO./...").state, 0)
    assert seen[2].nonzero() == (0, 2)
    assert seen[3].nonzero() == (1, 2)
    other = planes.observe(z.game("tictactoe").position("XX./OO./...").state, 1)
    assert (other == seen[[1, 0, 3, 2]]).all()


def test_four_planes_follow_gravity_and_lines_that_lose() -> None:
    connect4 = z.game("connect4")
    seen = Planes(connect4, 4).observe(connect4.position(moves="1 7 2 7 3 7").state, 0)
    assert seen[2].nonzero() == (5, 3)
    assert seen[3].nonzero() == (2, 6)
    squava = z.game("squava")
    state = squava.position(moves="a1 a5 b1 b5 d1 e5").state
    assert Planes(squava, 4).observe(state, 0)[2].nonzero() == (0, 2)
    assert not Planes(squava, 4).observe(state, 0)[3].any(), "c5 would make three and lose"


def test_both_forms_of_a_board_agree() -> None:
    rng = random.Random(1)
    for spec in ("connect4", "reversi", "squava:pie=true", "mnk:8x8x5"):
        game = z.game(spec)
        fast, plain = create_board(game, 2), PlainBoard(game, 2)
        position = game.start()
        while position.actions:
            action = rng.choice(position.actions)
            assert fast.play(action) == plain.play(action)
            position = position.play_action(action)
            assert fast.state == plain.state == position.state
            assert (fast.action_mask() == plain.action_mask()).all() or position.is_over
            assert (fast.observe(for_mover=True) == plain.observe(for_mover=True)).all()
            assert (fast.observe(for_mover=False) == plain.observe(for_mover=False)).all()


def test_gym_steps() -> None:
    env = gym_env("tictactoe", opponent="random:seed=1")
    seen, info = env.reset(seed=1)
    assert seen.shape == (2, 3, 3)
    assert info["action_mask"].all()
    assert info["winner"] is None
    seen, reward, terminated, truncated, info = env.step(4)
    assert seen.sum() == 2
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert env.action_masks().sum() == 7
    _, reward, terminated, _, info = env.step(4)
    assert (reward, terminated, info["illegal"], info["winner"]) == (-1.0, True, True, 1)
    with pytest.raises(z.ZermeloError, match=r"call env\.reset"):
        env.step(0)
    assert env.render()
    assert not env.action_masks().any()
    env.reset()
    for action in (None, 1.5, "3", True):
        with pytest.raises(z.ZermeloError, match="is not an action"):
            env.step(action)


def test_gym_second_seat_sees_the_first_move_and_seeds_repeat() -> None:
    def game(seed: int) -> list[Any]:
        env = gym_env("connect4", seat=1)
        seen, info = env.reset(seed=seed)
        assert seen[1].sum() == 1
        rewards, done = [], False
        while not done:
            action = int(info["action_mask"].nonzero()[0][0])
            _, reward, done, _, info = env.step(action)
            rewards.append(reward)
        assert rewards[-1] == {0: -1.0, 1: 1.0, None: 0.0}[info["winner"]]
        assert (info["winning_line"] is None) == (info["winner"] is None)
        return [rewards, env.render()]

    assert game(3) == game(3)
    assert len({str(game(seed)) for seed in range(5)}) > 1


@pytest.mark.parametrize("gamma", [1.0, 0.9])
def test_shaping_does_not_change_the_return(gamma: float) -> None:
    """Potential shaping adds -f(start) to every discounted return, and here f(start) is 0."""
    plain, shaped = (
        gym_env("tictactoe", opponent="random:seed=5", shaping=s, gamma=gamma)
        for s in (None, "threats")
    )
    rng = random.Random(2)
    difference = 0.0
    for episode in range(30):
        _, info = plain.reset(seed=episode)
        shaped.reset(seed=episode)
        totals, done, discount = [0.0, 0.0], False, 1.0
        while not done:
            action = int(rng.choice(info["action_mask"].nonzero()[0]))
            _, reward, done, _, info = plain.step(action)
            totals[0] += discount * reward
            shaped_reward = shaped.step(action)[1]
            totals[1] += discount * shaped_reward
            difference += abs(shaped_reward - reward)
            discount *= gamma
        assert totals[0] == pytest.approx(totals[1])
    assert difference > 1


def test_shaping_by_a_function() -> None:
    env = gym_env("tictactoe", opponent="random:seed=1", shaping=lambda p: len(p.legal) / 10)
    env.reset(seed=1)
    assert env.step(4)[1] == pytest.approx(0.7 - 0.9)


@pytest.mark.parametrize("name", ["breakthrough", "dots_and_boxes", "hex", "nim"])
def test_examples_are_environments(name: str) -> None:
    spec = str(ROOT / "examples" / f"{name}.py")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PettingZoo warns about observations that are dicts
        pettingzoo_test.api_test(aec_env(spec), num_cycles=40)
    env = gym_env(spec, opponent="random")
    observation, info = env.reset(seed=1)
    over, reward = False, 0.0
    while not over:
        assert env.observation_space.contains(observation)
        legal = np.flatnonzero(info["action_mask"])
        observation, reward, over, _, info = env.step(int(legal[-1]))
    assert reward in (-1.0, 0.0, 1.0)


def test_a_game_without_a_grid_shows_its_own_planes() -> None:
    env = aec_env(str(ROOT / "examples" / "nim.py"), render_mode="rgb_array")
    env.reset()
    heaps = env.observe("player_1")["observation"]
    assert heaps.shape == (2, 3, 7)
    assert heaps[0].sum(1).tolist() == [3, 5, 7]
    assert (heaps[1] == 1).all(), "it is this player's turn"
    assert (env.observe("player_2")["observation"][1] == 0).all()
    with pytest.raises(z.ZermeloError, match="render it as ansi"):
        env.render()
    with pytest.raises(z.BadSpec, match="leave it out"):
        aec_env(str(ROOT / "examples" / "nim.py"), planes=4)
