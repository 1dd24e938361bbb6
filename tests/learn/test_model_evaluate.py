"""Batches for researchers: `z.model(...).evaluate` and `GameBatch`."""

import functools
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zermelo as z
from support.recipes import write_recipe
from zermelo.learn.hybrid.player import load_hybrid_engine
from zermelo.learn.inference import TEMPERATURE
from zermelo.learn.models.files import shipped_models
from zermelo.learn.networks.weights_file import BadWeights
from zermelo.search.limits import SearchClock

SHIPPED = {model.name: model for model in shipped_models()}


@functools.cache
def load(name: str) -> z.Model:
    return z.model(name)


def sampled(game: z.Game, number: int, plies: int = 9) -> np.ndarray:
    assert isinstance(game, z.WordGame)
    return z.GameBatch(game).sample_states(number, plies, seed=3)


@pytest.mark.parametrize("name", SHIPPED)
def test_shapes_probabilities_and_range(name: str) -> None:
    model = load(name)
    batch = z.GameBatch(model.game)
    states = sampled(model.game, 300)
    result = model.evaluate(states)
    assert len(result) == 300
    assert result.value.shape == (300,)
    assert result.policy is not None
    assert result.policy.shape == (300, model.game.num_actions)
    assert {a.dtype for a in (result.value, result.policy)} == {np.dtype(np.float32)}
    legal = batch.legal_masks(states)
    assert (result.policy[~legal] == 0).all()
    assert (result.policy >= 0).all()
    assert np.allclose(result.policy.sum(1), 1, atol=1e-5)
    assert (np.abs(result.value) <= 1).all()
    assert result.value.std() > 0.1
    assert (result.q is None) == (model.kind == "alphazero")
    if result.q is not None:
        assert np.isneginf(result.q[~legal]).all()
        assert np.isfinite(result.q[legal]).all()
        assert (result.q.argmax(1) == result.policy.argmax(1)).all()
        odds = np.exp((result.q - result.q.max(1, keepdims=True)) / TEMPERATURE)
        assert np.allclose(result.policy, odds / odds.sum(1, keepdims=True), atol=1e-5)


@pytest.mark.parametrize("name", SHIPPED)
def test_positions_states_and_batches_of_every_size_agree(name: str) -> None:
    model = load(name)
    states = sampled(model.game, 300)
    positions = z.GameBatch(model.game).to_positions(states)
    whole = model.evaluate(positions)
    some = model.evaluate(positions[7:20])
    one = model.evaluate(states[13:14])
    alone = model.evaluate(states, with_policy=False)
    assert (alone.policy, np.allclose(alone.value, whole.value)) == (None, True)
    for field in ("value", "policy", "q"):
        expected = getattr(whole, field)
        if expected is not None:
            assert np.allclose(getattr(some, field), expected[7:20], atol=1e-5)
            assert np.allclose(getattr(one, field), expected[13:14], atol=1e-5)


def test_more_states_than_are_encoded_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    from zermelo.learn import inference

    states = sampled(load("tictactoe-dqn").game, 100, 5)
    whole = load("tictactoe-dqn").evaluate(states)
    monkeypatch.setattr(inference, "_MAX_STATES", 30)
    parts = load("tictactoe-dqn").evaluate(states)
    assert np.allclose(parts.value, whole.value, atol=1e-6)
    assert np.allclose(parts.policy, whole.policy, atol=1e-6)
    assert np.allclose(parts.q, whole.q, atol=1e-6)


@pytest.mark.parametrize("name", ["tictactoe-dqn", "gomoku6-dueling"])
def test_q_values_are_those_of_the_player(name: str) -> None:
    model = load(name)
    positions = z.GameBatch(model.game).to_positions(sampled(model.game, 20, 7))
    result = model.evaluate(positions)
    player = z.player(SHIPPED[name].player)
    for position, q, value in zip(positions, result.q, result.value, strict=True):
        candidates = {c.move: c.estimate for c in player.choose(position).candidates}
        limited = {m: float(np.clip(q[position.parse(m)], -1, 1)) for m in candidates}
        assert limited == pytest.approx(candidates, abs=1e-5)
        assert value == pytest.approx(max(candidates.values()), abs=1e-5)


@pytest.mark.parametrize("name", ["connect4-alphazero", "gomoku6-alphazero"])
def test_policy_and_value_are_those_of_the_player_without_search(name: str) -> None:
    model = load(name)
    positions = z.GameBatch(model.game).to_positions(sampled(model.game, 12))
    result = model.evaluate(positions)
    player = z.player(f"{SHIPPED[name].player},sims=0")
    for position, policy, value in zip(positions, result.policy, result.value, strict=True):
        choice = player.choose(position)
        ranked = sorted(position.actions, key=lambda action: -policy[action])
        assert [position.parse(c.move) for c in choice.candidates] == ranked
        assert choice.estimate == pytest.approx(np.clip(value, -0.99, 0.99), abs=1e-4)


def test_values_are_those_of_the_hybrid_at_its_leaves() -> None:
    model = load("squava-hybrid")
    positions = z.GameBatch(model.game).to_positions(sampled(model.game, 60, 14))
    result = model.evaluate(positions)
    engine, _ = load_hybrid_engine("squava-hybrid", model.game, cache_size=1000)
    engine.start_iteration(1)
    infinity = engine.win_score

    def leaf_value(state: Any) -> float:
        over, value = model.game.result(state)
        if over:
            return float(value)
        score = engine.search(state, 0, -infinity, infinity, SearchClock())
        return float(np.sign(score)) if abs(score) > engine.decisive_score else score / 2000

    for position, value, q in zip(positions, result.value, result.q, strict=True):
        assert value == pytest.approx(leaf_value(position.state), abs=1e-6)
        for action in position.actions:
            child = model.game.play(position.state, action)
            assert q[action] == pytest.approx(-leaf_value(child), abs=1e-6)
    assert 1 in np.abs(result.value), "some are decided"


@pytest.mark.parametrize("name", ["tictactoe-dqn", "connect4-alphazero", "squava-hybrid"])
def test_finished_games_and_no_games(name: str) -> None:
    model = load(name)
    lines = {
        "tictactoe": "a1 a2 b1 b2 c1",
        "connect4": "1 2 1 2 1 2 1",
        "squava": "a1 a2 b1 b2 d1 d2 c1",
    }
    won = model.game.position(moves=lines[model.game.spec])
    result = model.evaluate([won, model.game.start()])
    assert won.is_over
    assert result.value[0] == -1, "the other side has won"
    assert result.policy is not None
    assert not result.policy[0].any()
    assert result.policy[1].sum() == pytest.approx(1, abs=1e-5)
    nothing = model.evaluate([])
    assert nothing.value.shape == (0,)
    assert nothing.policy is not None
    assert nothing.policy.shape == (0, model.game.num_actions)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


def test_own_runs_by_object_folder_file_and_spec(folder: Path) -> None:
    pytest.importorskip("torch", reason="trains a model")
    run = z.train(str(write_recipe(folder)), folder / "run", grade=False)
    states = sampled(z.game("tictactoe"), 5, 5)
    expected = z.model(run).evaluate(states)
    for source in (run.folder, str(run.folder), run.player, run.folder / "final.safetensors"):
        assert np.array_equal(z.model(source).evaluate(states).q, expected.q)
    player = z.player(run.player)
    position = z.GameBatch(z.game("tictactoe")).to_positions(states)[0]
    best = position.parse(player.choose(position).move)
    assert expected.q is not None
    assert expected.q[0].argmax() == best


def test_own_tables_and_own_games(folder: Path) -> None:
    """A tabular learner of a game in a file: the file is loaded only if the user names it."""
    pytest.importorskip("torch", reason="trains a model")
    path = Path(__file__).parents[2] / "examples" / "domineering.py"
    recipe = write_recipe(
        folder,
        ("game = ", 'kind = "tabular"\ngame = '),
        ('"tictactoe"', f'"{path}"'),
        name="tabular",
    )
    run = z.train(str(recipe), folder / "tabular", grade=False)
    states = sampled(run.game, 5, 5)
    value = z.model(run).evaluate(states).value
    assert np.array_equal(z.model(run.folder, game=run.game).evaluate(states).value, value)
    assert np.array_equal(z.model(run.folder, game=str(path)).evaluate(states).value, value)
    with pytest.raises(BadWeights, match="not built in: add game="):
        z.model(run.folder)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: z.model("nothing"), "there is no model 'nothing'"),
        (lambda: z.model(3), "a model is the name of a shipped model, .* not int"),
        (lambda: z.model("tictactoe-dqn", game="connect4"), "trained for tictactoe, not for conn"),
        (lambda: z.model("tictactoe-dqn", game="gomoku"), "cannot be used for gomoku: models are"),
        (
            lambda: load("tictactoe-dqn").evaluate(z.game("tictactoe").start()),
            "evaluate takes a list of positions, not one position",
        ),
        (lambda: load("tictactoe-dqn").evaluate(["a1"]), "evaluate takes .* item 0 is 'a1'"),
        (
            lambda: load("tictactoe-dqn").evaluate([z.game("connect4").start()]),
            "takes positions of tictactoe, but one of them is of connect4",
        ),
        (
            lambda: load("tictactoe-dqn").evaluate(np.zeros((4, 2), np.uint64)),
            r"states of tictactoe are a uint64 array \[n, 3\], not uint64 \[4, 2\]",
        ),
        (
            lambda: load("tictactoe-dqn").evaluate(np.zeros((4, 3))),
            r"array \[n, 3\], not float64 \[4, 3\]",
        ),
        (lambda: z.GameBatch("connect4"), "takes a bitboard game, .* not str"),
        (lambda: z.GameBatch(z.game("gomoku")), "not gomoku"),
        (
            lambda: z.GameBatch(z.game("squava")).step(np.zeros((4, 3), np.uint64), [0, 1]),
            r"4 states need as many actions, not \[2\]",
        ),
        (lambda: z.GameBatch(z.game("squava")).legal_masks([1, 2]), r"not list \[2\]"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(call: Any, message: str) -> None:
    with pytest.raises(z.ZermeloError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


def test_neither_models_nor_batches_import_torch() -> None:
    code = (
        "import sys, zermelo as z\n"
        "for name in ('tictactoe-dqn', 'squava-hybrid', 'gomoku6-alphazero'):\n"
        "    model = z.model(name)\n"
        "    model.evaluate(z.GameBatch(model.game).sample_states(5, 4, 1))\n"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# Batches of games.


def test_a_batch_plays_like_positions() -> None:
    game = z.game("connect4")
    assert isinstance(game, z.WordGame)
    batch, rng = z.GameBatch(game), np.random.default_rng(1)
    states = batch.initial_states(50)
    positions = batch.to_positions(states)
    while positions:
        legal = batch.legal_masks(states)
        assert [np.flatnonzero(row).tolist() for row in legal] == [p.actions for p in positions]
        actions = np.array([rng.choice(p.actions) for p in positions])
        states, rewards, over = batch.step(states, actions)
        pairs = zip(positions, actions.tolist(), strict=True)
        positions = [p.play_action(a) for p, a in pairs]
        assert np.array_equal(batch.to_states(positions), states)
        assert over.tolist() == [p.is_over for p in positions]
        assert rewards.tolist() == [-game.result(p.state)[1] for p in positions]
        states = states[~over]
        positions = [p for p in positions if not p.is_over]


def test_symmetries_of_a_batch() -> None:
    game = z.game("gomoku6")
    assert isinstance(game, z.WordGame)
    batch = z.GameBatch(game)
    states = batch.sample_states(40, 10, seed=1)
    numbers = np.arange(40) % batch.num_symmetries
    images = batch.transform(states, numbers)
    least, symmetries = batch.canonicalise(states)
    assert np.array_equal(batch.canonicalise(images)[0], least)
    legal, image_legal = batch.legal_masks(states), batch.legal_masks(images)
    moved = np.take_along_axis(image_legal, batch.action_maps[numbers], 1)
    assert np.array_equal(moved, legal)
    assert not np.array_equal(images, states)
    least_legal = batch.legal_masks(least).astype(np.float32)
    assert np.array_equal(batch.map_back(least_legal, symmetries), legal)
