"""Vector environments: Gymnasium's checks, its own SyncVectorEnv as an oracle, and training."""

import copy
import dataclasses
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import zermelo as z
import zermelo.envs
from support.extra_turns import ExtraTurns
from support.paths import ROOT
from zermelo.envs import aec_env, gym_env, vector_env
from zermelo.envs.registration import NAMES

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed")

MODES = ("NextStep", "SameStep", "Disabled")
KERNEL_SPECS = (
    "tictactoe",
    "connect4",
    "connect4:rows=4,cols=10,win=3",
    "squava:pie=true",
    "mnk:8x8x5",
    "line:rows=4,cols=6,win=4,lose=2,gravity=true",
    "reversi",
    "reversi:4",
    str(ROOT / "examples" / "domineering.py"),  # the legal moves depend on the player
)
SPECS = (*KERNEL_SPECS, "gomoku:size=9", "connect4:12x9")
OPTIONS: tuple[dict[str, Any], ...] = (
    {"opponent": None},
    {"opponent": "random"},
    {"opponent": "random:seed=3", "seat": 1, "planes": 4},
    {"opponent": "greedy", "seat": "both"},
)


def use_plain_games(envs: Any) -> Any:
    """Return the same environment with its games in plain Python."""
    from zermelo.envs.vector_games import PlainGames

    envs._games = PlainGames(envs._config)
    return envs


def random_steps(envs: Any, steps: int, *, illegal: float = 0.05) -> Iterator[tuple[Any, ...]]:
    """Play random actions, now and then illegal ones, and yield all results with the actions."""
    rng = np.random.default_rng(1)
    seen, info = envs.reset(seed=5)
    yield seen, None, None, None, info, None
    masks = info["action_mask"]
    for _ in range(steps):
        tries_illegal = rng.random(envs.num_envs) < illegal
        chances = rng.random(masks.shape) * (masks ^ tries_illegal[:, None])
        actions = chances.argmax(1)
        result = envs.step(actions)
        masks = result[4]["action_mask"]
        yield *result, actions
        if envs.metadata["autoreset_mode"].value == "Disabled" and result[2].any():
            seen, info = envs.reset(options={"reset_mask": result[2]})
            # SyncVectorEnv's masks are those of the new games only.
            masks = np.where(result[2][:, None], info["action_mask"], masks)
            yield seen, None, None, None, info, None


def assert_same(one: Any, other: Any) -> None:
    """Compare nested results of two environments."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key, value in one.items():
            assert_same(value, other[key])
    elif one is None or other is None:
        assert one is other
    elif one.dtype == object:
        for a, b in zip(one, other, strict=True):
            assert_same(a, b)
    else:
        assert one.dtype == other.dtype
        assert (one == other).all()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.rpartition("/")[2])
def test_kernel_and_plain_games_agree(spec: str, mode: str) -> None:
    """Both forms give the same results step by step, for the same seed and actions."""
    check_agreement(spec, mode, has_kernel=spec in KERNEL_SPECS)


@pytest.mark.parametrize("mode", MODES)
def test_both_forms_agree_on_extra_turns_and_many_actions(mode: str) -> None:
    check_agreement(ExtraTurns(), mode, has_kernel=True)


def check_agreement(spec: Any, mode: str, *, has_kernel: bool) -> None:
    for options in OPTIONS:
        fast = vector_env(spec, 5, autoreset=mode, **options)
        plain = use_plain_games(vector_env(spec, 5, autoreset=mode, **options))
        assert (type(fast._games).__name__ == "KernelGames") == has_kernel
        steps = 40 if has_kernel else 5
        ended = 0
        for one, other in zip(random_steps(fast, steps), random_steps(plain, steps), strict=True):
            assert_same(dict(enumerate(one)), dict(enumerate(other)))
            ended += 0 if one[2] is None else int(one[2].sum())
        assert ended or not has_kernel
        assert (fast._games.seats == plain._games.seats).all()


_JOB = """
from zermelo.envs import vector_env
for options in ({"opponent": "greedy", "seat": "both"}, {"opponent": "random", "planes": 4}):
    envs = vector_env("connect4:4x4", 3, autoreset="SameStep", **options)
    seen, info = envs.reset(seed=1)
    for action in (0, 1, 2, 0, 9, 3, 2, 1):
        seen, rewards, ended, _, info = envs.step([action] * 3)
        print(seen.tolist(), rewards.tolist(), ended.tolist(), info["action_mask"].tolist())
"""


def test_the_kernel_runs_uncompiled_and_bounds_checked() -> None:
    """Native code, native code with bounds checks, and plain Python print the same."""
    results = {
        subprocess.run(
            [sys.executable, "-c", _JOB],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for environment in ({}, {"ZERMELO_BOUNDS": "1"}, {"ZERMELO_JIT": "0"})
    }
    assert len(results) == 1


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("options", OPTIONS)
def test_gymnasium_sync_vector_env_agrees(options: dict[str, Any], mode: str) -> None:
    """Gymnasium's own vector form of our single environment is the oracle."""
    # In SyncVectorEnv, every environment would begin with the same seat and the same fixed seed.
    options = options | {"seat": {"both": 1}.get(seat := options.get("seat", 0), seat)}
    if options["opponent"] == "random:seed=3":
        options["opponent"] = "random"
    ours = vector_env("connect4", 4, autoreset=mode, **options)
    theirs = gymnasium.vector.SyncVectorEnv(
        [lambda: gym_env("connect4", **options)] * 4, autoreset_mode=mode
    )
    for name in ("observation", "action", "single_observation", "single_action"):
        assert getattr(ours, f"{name}_space") == getattr(theirs, f"{name}_space")
    assert ours.metadata["autoreset_mode"] is theirs.metadata["autoreset_mode"]
    steps = zip(random_steps(ours, 60), random_steps(theirs, 60), strict=True)
    for (seen, *rest, info, _), (their_seen, *their_rest, their_info, _) in steps:
        assert_same(seen, their_seen)
        for value, their_value in zip(rest, their_rest, strict=True):
            assert_same(value, their_value)
        marked = their_info["_action_mask"]  # after a reset with a mask, only these games
        assert_same(info["action_mask"][marked], their_info["action_mask"][marked])
        assert ("final_obs" in info) == ("final_obs" in their_info)
        if "final_obs" in info:
            assert_same(info["final_obs"], their_info["final_obs"])
            assert_same(info["_final_obs"], their_info["_final_obs"])
            finals, their_finals = info["final_info"], their_info["final_info"]
            for row in info["_final_info"].nonzero()[0]:
                winner = their_finals["winner"][row]
                assert finals["winner"][row] == (-1 if winner is None else winner)
                their_illegal = their_finals.get("_illegal", np.zeros(4, bool))[row]
                assert finals["illegal"][row] == their_illegal


def test_gymnasium_checks() -> None:
    """All functions of Gymnasium's checker that accept a vector environment pass."""
    from gymnasium.utils import env_checker, passive_env_checker

    for options in OPTIONS:
        envs = vector_env("connect4", 3, **options)
        passive_env_checker.check_observation_space(envs.observation_space)
        passive_env_checker.check_action_space(envs.action_space)
        env_checker.check_reset_seed_determinism(envs)
        env_checker.check_reset_options(envs)
        env_checker.check_reset_return_type(envs)
        for seen, rewards, ended, truncated, info, actions in random_steps(envs, 20):
            assert seen in envs.observation_space
            if actions is not None:
                assert actions in envs.action_space
                assert (rewards.dtype, rewards.shape) == (np.float64, (3,))
                assert ended.dtype == truncated.dtype == np.bool_
                assert not truncated.any()
            assert info["action_mask"].shape == (3, 7)
        check_reuse = getattr(env_checker, "check_returned_data_not_reused", None)
        if check_reuse:  # since Gymnasium 1.4
            check_reuse(vector_env("connect4", 1, **options))
            check_reuse(vector_env("connect4", 1, autoreset="SameStep", **options))


def test_gymnasium_vector_wrappers_accept_it() -> None:
    from gymnasium.wrappers import vector as wrappers

    envs = wrappers.RecordEpisodeStatistics(vector_env("tictactoe", 4, opponent="random"))
    lengths = [
        length
        for *_, info, _ in random_steps(envs, 30)
        for length in info.get("episode", {}).get("l", np.zeros(0))[info.get("_episode", [])]
    ]
    assert lengths
    assert all(1 <= length <= 5 for length in lengths)


def test_next_step_autoreset() -> None:
    envs = vector_env("tictactoe", 2, opponent=None)
    envs.reset()
    for actions in ([0, 0], [3, 1], [1, 2], [4, 3]):
        envs.step(np.array(actions))
    seen, rewards, ended, _, info = envs.step(np.array([2, 5]))  # X wins the first game on row 1
    assert rewards.tolist() == [1.0, 0.0]
    assert ended.tolist() == [True, False]
    assert info["winner"].tolist() == [0, -1]
    assert seen.sum(axis=(1, 2, 3)).tolist() == [5, 5]
    assert info["action_mask"].sum(1).tolist() == [0, 4]
    seen, rewards, ended, _, info = envs.step(np.array([8, 8]))  # the first action is ignored
    assert rewards.tolist() == [0.0, 0.0]
    assert not ended.any()
    assert seen.sum(axis=(1, 2, 3)).tolist() == [0, 6]
    assert info["action_mask"].sum(1).tolist() == [9, 3]
    assert "final_obs" not in info


def test_same_step_autoreset() -> None:
    envs = vector_env("tictactoe", 2, opponent=None, autoreset="SameStep")
    assert envs.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.SAME_STEP
    envs.reset()
    for actions in ([0, 0], [3, 1], [1, 2], [4, 3]):
        info = envs.step(np.array(actions))[4]
        assert "final_obs" not in info
    seen, rewards, ended, _, info = envs.step(np.array([2, 5]))
    assert rewards.tolist() == [1.0, 0.0]
    assert ended.tolist() == [True, False]
    assert seen.sum(axis=(1, 2, 3)).tolist() == [0, 5]
    assert info["final_obs"][0].sum() == 5
    assert info["final_obs"][1] is None
    assert info["final_info"]["winner"][0] == 0
    assert info["_final_info"].tolist() == [True, False]
    assert info["winner"].tolist() == [-1, -1]


def test_disabled_autoreset_waits_for_a_reset() -> None:
    envs = vector_env("tictactoe", 2, opponent="random", autoreset="Disabled")
    envs.reset(seed=1)
    illegal = envs.step(np.array([99, 0]))
    assert illegal[2].tolist() == [True, False]
    with pytest.raises(z.ZermeloError, match="game 0 is over"):
        envs.step(np.array([0, 1]))
    seen, _ = envs.reset(options={"reset_mask": np.array([True, False])})
    assert seen.sum(axis=(1, 2, 3)).tolist() == [0, 2]
    with pytest.raises(z.ZermeloError, match="reset_mask must be an array of 2 booleans"):
        envs.reset(options={"reset_mask": [1, 0]})


@pytest.mark.parametrize("action", [4, 9, -1, 64, 2**40, -(2**40)])
def test_an_illegal_action_loses(action: int) -> None:
    for plain in (False, True):
        envs = vector_env("tictactoe", 2, opponent="random")
        if plain:
            use_plain_games(envs)
        envs.reset(seed=2)
        envs.step(np.array([4, 4]))
        free = int(envs.action_masks()[1].argmax())
        _, rewards, ended, _, info = envs.step(np.array([action, free]))
        assert rewards[0] == -1
        assert ended.tolist() == [True, False]
        assert info["illegal"].tolist() == [True, False]
        assert info["winner"].tolist() == [1, -1]
        assert not info["action_mask"][0].any()


def test_seeds_repeat_and_do_not_depend_on_the_number_of_games() -> None:
    def observations(num_envs: int, seed: Any) -> Any:
        envs = vector_env("connect4", num_envs, opponent="random", seat=1)
        seen, info = envs.reset(seed=seed)
        history = [seen[:3]]
        for _ in range(12):
            actions = info["action_mask"].argmax(1)
            seen, *_, info = envs.step(actions)
            history.append(seen[:3])
        return np.stack(history)

    few = observations(3, 7)
    assert (few == observations(3, 7)).all()
    assert (few == observations(64, 7)).all()
    assert (few == observations(3, [7, 8, 9])).all()
    assert (few != observations(3, 8)).any()
    assert (observations(3, None) != observations(3, None)).any()


def test_a_seed_in_the_opponents_spec_overrides_the_seed_of_reset() -> None:
    for plain in (False, True):
        envs = vector_env("gomoku6", 3, opponent="random:seed=3", seat=1)
        if plain:
            use_plain_games(envs)
        one, other = (envs.reset(seed=seed)[0] for seed in (1, 2))
        assert (one == other).all()
        assert (one[0] != one[1]).any()
        single = gym_env("gomoku6", opponent="random:seed=3", seat=1)
        assert (single.reset(seed=7)[0] == one[0]).all()


def test_a_random_opponent_is_uniform() -> None:
    """The opponent's first replies in 7,000 games: every column about 1,000 times."""
    seen, _ = vector_env("connect4", 7000, opponent="random", seat=1).reset(seed=1)
    counts = seen[:, 1].sum(axis=(0, 1))
    assert counts.sum() == 7000
    assert (abs(counts - 1000) < 5 * 30).all()


def test_the_greedy_opponent_plays_only_what_the_greedy_player_would() -> None:
    """X threatens a row in c1; greedy takes its own win in c2 instead of the block.

    X X .
    O O .
    . . .
    """
    envs = vector_env("tictactoe", 1, opponent="greedy", seat=0)
    envs.reset(seed=1)
    envs._games._states[0] = z.game("tictactoe").position("XX./OO./...").state
    _, rewards, ended, _, info = envs.step(np.array([8]))
    assert (rewards[0], ended[0], info["winner"][0]) == (-1.0, True, 1)


def test_the_agent_has_both_seats_by_turns() -> None:
    envs = vector_env("connect4", 4, opponent="random", seat="both", autoreset="SameStep")
    seen, info = envs.reset(seed=1)
    assert info["seat"].tolist() == [0, 1, 0, 1]
    assert seen.sum(axis=(1, 2, 3)).tolist() == [0, 1, 0, 1]
    _, _, _, _, info = envs.step(np.full(4, 99))
    assert info["seat"].tolist() == [1, 0, 1, 0]
    assert info["final_info"]["seat"].tolist() == [0, 1, 0, 1]


def test_returned_arrays_are_new_unless_copy_is_false() -> None:
    def results(copies: bool) -> list[Any]:
        envs = vector_env("connect4", 2, opponent="random", copy=copies)
        first = envs.reset(seed=1)[0]
        return [first, envs.step(np.array([3, 3]))[0]]

    kept = results(copies=True)
    assert kept[0].sum() == 0
    assert kept[1].sum() == 4
    reused = results(copies=False)
    assert reused[0] is reused[1]
    assert (reused[1] == kept[1]).all()


def test_any_player_or_function_can_be_the_opponent() -> None:
    def first_move(position: z.Position) -> str:
        return position.legal[0]

    for opponent in (first_move, "minimax:depth=2", z.player("lookahead:2"), "level:2,seed=1"):
        envs = vector_env(z.game("tictactoe"), 2, opponent=opponent)
        assert type(envs._games).__name__ == "PlainGames"
        envs.reset(seed=1)
        seen = envs.step(np.array([4, 8]))[0]
        assert (seen.sum(axis=(2, 3)) == 1).all()
        if opponent is first_move:
            assert seen[:, 1, 0, 0].tolist() == [1, 1]


def test_an_opponent_is_reseeded() -> None:
    def replies() -> Any:
        envs = vector_env("gomoku6", 2, opponent=z.player("level:1"), seat=1)
        return [envs.reset(seed=seed)[0].tolist() for seed in (1, 2, 3, 1)]

    one, other = replies(), replies()
    assert one == other
    assert one[0] == one[3]
    assert len({str(seen) for seen in one}) > 1


@pytest.mark.parametrize("name", NAMES)
def test_registered_names(name: str) -> None:
    single = gymnasium.make(name)
    seen, info = single.reset(seed=1)
    assert seen in single.observation_space
    assert single.step(int(info["action_mask"].argmax()))[1] == 0.0
    envs = gymnasium.make_vec(name, num_envs=3, opponent="greedy", seat=1)
    assert type(envs).__name__ == "GameVectorEnv"
    seen, info = envs.reset(seed=1)
    assert (seen[:, 1].sum(axis=(1, 2)) >= 1).all()
    assert envs.game == z.game(NAMES[name])
    seen, _, _, _, _ = envs.step(info["action_mask"].argmax(1))
    assert seen in envs.observation_space


def test_no_module_hides_the_function() -> None:
    """Importing a module `zermelo.envs.vector_env` would replace the function of that name."""
    gymnasium.make_vec("Zermelo/TicTacToe-v0", num_envs=1)
    assert zermelo.envs.vector_env is vector_env


def test_gymnasium_finds_the_module_itself() -> None:
    assert gymnasium.make("zermelo.envs:Zermelo/TicTacToe-v0").reset(seed=1)[0].shape == (2, 3, 3)


def test_render_and_copies() -> None:
    envs = vector_env("tictactoe", 2, opponent="random", render_mode="ansi")
    envs.reset(seed=1)
    envs.step(np.array([4, 0]))
    assert envs.render()[0] != envs.render()[1]
    assert "X" in envs.render()[0]
    twins = [copy.deepcopy(envs), pickle.loads(pickle.dumps(envs))]  # noqa: S301 - our own
    expected = envs.step(envs.action_masks().argmax(1))[0]
    for twin in twins:
        assert (twin.step(twin.action_masks().argmax(1))[0] == expected).all()
    images = vector_env("tictactoe", 2, render_mode="rgb_array")
    images.reset()
    assert images.render()[0].shape == (72, 72, 3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: vector_env(7, 2), "a game is a spec such as 'tictactoe', or a zermelo.Game, not"),
        (lambda: gym_env(None), "a game is a spec .* not None"),
        (lambda: aec_env(["connect4"]), "a game is a spec .* not"),
        (lambda: vector_env("connect4", 0), "num_envs is 0: it must be an int of 1 or more"),
        (lambda: vector_env("connect4", 2, seat=2), "seat is 2: it must be 0"),
        (lambda: vector_env("connect4", 2, seat=1), "without an opponent"),
        (lambda: vector_env("connect4", 2, opponent=3), "a player is a spec such as"),
        (lambda: gym_env("connect4", opponent=z.Player), "Player is a class"),
        (lambda: vector_env("connect4", 2, autoreset="never"), "autoreset is 'never'"),
        (lambda: vector_env("connect4", 2, planes=3), "planes is 3"),
        (lambda: vector_env("connect4", 2, render_mode="film"), "must be ansi or rgb_array"),
        (lambda: vector_env("line:rows=3,cols=3,win=3,lose=1", 2, opponent="random", seat=1),
         "the first move can end"),
        (lambda: vector_env("connect4", 2).step(np.zeros(2, int)), "call envs.reset"),
        (lambda: vector_env("connect4", 2).action_masks(), "call envs.reset"),
        (lambda: vector_env("connect4", 2).step(np.zeros(3, int)), "array of 2 ints"),
        (lambda: vector_env("connect4", 2).step([0.5, 1.0]), "array of 2 ints"),
        (lambda: vector_env("connect4", 2).reset(seed=-1), "seed is -1"),
        (lambda: vector_env("connect4", 2).reset(seed=[1]), "1 seeds were given for 2 games"),
    ],
)  # fmt: skip
def test_wrong_arguments(make: Any, message: str) -> None:
    with pytest.raises(z.ZermeloError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_single_environments_take_objects() -> None:
    game = z.game("tictactoe")
    env = gym_env(game, opponent=z.player("perfect"))
    env.reset(seed=1)
    assert env.step(4)[0].sum() == 2
    alone = gym_env(game, opponent=None)
    alone.reset()
    alone.step(4)
    assert alone.seat == 1
    assert aec_env(game).game is game


def test_choosing_an_action_equals_choosing_a_move() -> None:
    for spec in ("random", "greedy", "minimax:depth=2"):
        for name in ("connect4", "gomoku6"):
            one, other = (z.player(spec) for _ in range(2))
            one.reseed(3)
            other.reseed(3)
            position = z.game(name).start()
            while not position.is_over and len(position.history or ()) < 12:
                move = one.choose(position).move
                assert position.parse(move) == other.choose_action(position)
                position = position.play(move)


def test_a_player_that_overrides_think_also_chooses_by_it() -> None:
    from zermelo.players.random import RandomPlayer

    class LastMove(RandomPlayer):
        def think(self, position: z.Position, limit: z.Limit) -> Iterator[z.Analysis]:
            for analysis in super().think(position, limit):
                yield dataclasses.replace(analysis, move=position.legal[-1])

    assert LastMove().choose_action(z.game("tictactoe").start()) == 8


def test_masked_ppo_learns_to_beat_the_random_player() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from support import ppo

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    envs = vector_env("tictactoe", 128, opponent="random", seat="both", autoreset="SameStep")
    agent = ppo.Agent(envs)
    assert ppo.win_rate(envs, agent) < 0.65
    ppo.train(envs, agent, num_updates=40)
    assert ppo.win_rate(envs, agent) > 0.8
    torch.set_num_threads(threads)
