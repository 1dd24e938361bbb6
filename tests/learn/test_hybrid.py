"""The hybrid: value networks in the search kernel, their learning targets, and the player."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import zermelo as z
from support.learners import GAME, OURS, PUBLISHED, shrink
from zermelo.cli import cli
from zermelo.core.position import Position
from zermelo.games.geometry import list_windows
from zermelo.games.lines.published import PublishedTactics
from zermelo.learn.actors.protocol import RolloutRequest
from zermelo.learn.batch.encoders import Encoder, board_lines, num_line_indices
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.batch.replay import Transitions
from zermelo.learn.config import recipes
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.config.validation import BadRecipe
from zermelo.learn.hybrid.kernel_network import (
    VALUE_SCALE,
    NetworkTactics,
    build_leaf_network,
    build_network_tactics,
)
from zermelo.learn.hybrid.player import load_hybrid_engine
from zermelo.learn.hybrid.rollouts import HybridRollouts, build_shallow_search
from zermelo.learn.hybrid.shallow_search import ShallowSearch, scores_to_values
from zermelo.learn.hybrid.trainer import VALUE_ENCODERS, HybridTrainer, build_value_network
from zermelo.learn.models import files as model_files
from zermelo.learn.networks import weights_file
from zermelo.learn.networks.weights_file import BadWeights
from zermelo.learn.runs import training_loop
from zermelo.learn.runs.rollouts import create_actor_pool
from zermelo.search.explain.analysis import analyze
from zermelo.search.limits import SearchClock
from zermelo.search.negamax import arrays
from zermelo.search.negamax.searcher import NegamaxSearcher

NAMES = {"ours": OURS, "published": PUBLISHED}


def sample_states(number: int, seed: int = 1) -> Any:
    """Return random states whose value needs a search."""
    game_batch = GameBatch(GAME)
    states = game_batch.sample_states(2 * number, 20, seed)
    return np.ascontiguousarray(states[game_batch.needs_search(states)][:number])


def build_searcher(
    hooks: NetworkTactics, weights: Any, table_bits: int = 10, **options: Any
) -> NegamaxSearcher:
    network = build_leaf_network(hooks, weights, **options)
    return NegamaxSearcher(hooks, table_bits=table_bits, symmetry=False, network=network)


def evaluate(searcher: NegamaxSearcher, state: Any) -> int:
    """Return the score of a search of depth 0."""
    far = searcher.hooks.win_score
    return searcher.search(tuple(map(int, state)), 0, -far, far, SearchClock())


@pytest.fixture(scope="module", params=NAMES)
def untrained(request: pytest.FixtureRequest) -> tuple[Recipe, Any, ShallowSearch]:
    """Return a recipe, an untrained network, and searches with that network."""
    recipe = NAMES[request.param]
    torch.manual_seed(3)
    net = build_value_network(recipe, GAME).eval()
    search = build_shallow_search(recipe, GAME)
    search.load(net.export())
    return recipe, net, search


def test_number_of_parameters_of_the_published_network() -> None:
    net = build_value_network(PUBLISHED, GAME)
    assert sum(p.numel() for p in net.parameters()) == 686_081


def test_lines_of_the_board() -> None:
    assert len(board_lines(GAME.grid)) == 20, "5 rows, 5 columns, 10 diagonals of three or more"
    assert num_line_indices(GAME.grid) == 12 * 3**5 + 4 * 3**4 + 4 * 3**3
    # The first row is X O . . X, in base 3: 1 + 2 * 3 + 1 * 81.
    row = GAME.position("XO..X/...../..O../...../.....", to_move=0)
    indices = Encoder("lines", GAME)(np.array([row.state], np.uint64))
    assert indices.shape == (1, 8, 20 + 25)
    assert indices[0, 0, 0] == 88
    # Cells: a1 own stone, b1 stone of the other side, c1 empty.
    begin = num_line_indices(GAME.grid)
    assert (indices[0, 0, 20:23] - begin).tolist() == [0, 18 + 1, 2 * 18 + 2]


def test_kinds_of_cells() -> None:
    """X is to move: c1 completes four and three; c5 would complete a losing three for O."""
    position = GAME.position("XX.X./...../..O../...../OO...", to_move=0)
    indices = Encoder("lines", GAME)(np.array([position.state], np.uint64))[0, 0, 20:]
    kinds = indices - num_line_indices(GAME.grid) - 18 * np.arange(25)
    # 2 for an empty cell, plus 1 and 2 for winning lines of each side, 4 and 8 for losing lines.
    assert kinds[2] == 2 + 1 + 4
    assert kinds[22] == 2 + 8
    assert kinds[12] == 1


def test_symmetric_states_have_the_same_value() -> None:
    torch.manual_seed(3)
    hooks = build_network_tactics(GAME, "lines", OURS.network.hidden)
    searcher = build_searcher(hooks, build_value_network(OURS, GAME).export())
    states = sample_states(10)
    for symmetry in range(8):
        images = GameBatch(GAME).transform(states, np.full(len(states), symmetry))
        for state, image in zip(states, images, strict=True):
            difference = evaluate(searcher, state) - evaluate(searcher, image)
            assert abs(difference) <= 1, "sums in another order"


def test_the_kernel_agrees_with_torch(untrained: tuple[Recipe, Any, ShallowSearch]) -> None:
    recipe, net, search = untrained
    states = sample_states(300)
    encoder = Encoder(VALUE_ENCODERS[recipe.network.kind], GAME)
    with torch.no_grad():
        expected = net(torch.from_numpy(encoder(states))).numpy() * VALUE_SCALE
    searcher = build_searcher(search.hooks, net.export())
    scores = np.array([evaluate(searcher, state) for state in states])
    assert np.abs(scores - expected).max() <= 1.01
    assert len({round(float(v), 3) for v in expected}) > 100, "values differ"


def test_python_agrees_with_the_kernel(untrained: tuple[Recipe, Any, ShallowSearch]) -> None:
    _, net, search = untrained
    hooks, network = search.hooks, build_leaf_network(search.hooks, net.export())
    searcher = build_searcher(hooks, net.export())
    for row in sample_states(3):
        value = hooks.evaluate_network(tuple(map(int, row)), network.weights, network.layers)
        assert abs(int(value) - evaluate(searcher, row)) <= 1


def test_batch_searches_agree_with_single_ones(
    untrained: tuple[Recipe, Any, ShallowSearch],
) -> None:
    _, net, search = untrained
    hooks = search.hooks
    searcher = build_searcher(hooks, net.export(), 16, cache_size=0)
    states = sample_states(6, seed=2)
    for plies in (1, 2, 3):
        scores = searcher.look_ahead_batch(states, plies)
        for state, row in zip(states, scores, strict=True):
            root = tuple(map(int, state))
            searcher.start_generation()
            for action in range(25):
                if action not in hooks.actions(root):
                    assert row[action] == arrays.NO_SCORE
                    continue
                child = hooks.play(root, action)
                over, result = hooks.result(child)
                score = result * hooks.win_score
                if not over:
                    far = hooks.win_score + 1
                    score = searcher.search(child, plies - 1, -far, far, SearchClock())
                assert row[action] == -score + (score > 0) - (score < 0)


def test_the_cache_changes_nothing_and_is_cleared_with_the_weights() -> None:
    torch.manual_seed(3)
    net = build_value_network(OURS, GAME)
    hooks = build_network_tactics(GAME, "lines", OURS.network.hidden)
    states = sample_states(8, seed=4)
    cached = build_searcher(hooks, net.export(), 16)
    uncached = build_searcher(hooks, net.export(), 16, cache_size=0)
    assert (cached.look_ahead_batch(states, 3) == uncached.look_ahead_batch(states, 3)).all()
    lookups, hits = (int(cached.control[at]) for at in (arrays.NETWORK_LOOKUPS, arrays.CACHE_HITS))
    assert lookups == uncached.control[arrays.NETWORK_LOOKUPS]
    assert 0 < hits < lookups
    assert uncached.control[arrays.CACHE_HITS] == 0
    search = build_shallow_search(OURS, GAME)
    search.load(net.export())
    before = search.search(states, 2).q
    torch.manual_seed(4)
    search.load(build_value_network(OURS, GAME).export())
    assert not search._net.estimates.any()
    assert not np.allclose(before, search.search(states, 2).q)


def test_blends() -> None:
    torch.manual_seed(3)
    weights = build_value_network(OURS, GAME).export()
    hooks = build_network_tactics(GAME, "lines", OURS.network.hidden)
    state = tuple(map(int, sample_states(1)[0]))

    def estimate(*blend: int) -> int:
        return evaluate(build_searcher(hooks, weights, blend=blend), state)

    network, heuristic = estimate(1000, 0), estimate(0, 1000)
    assert heuristic == GAME.hooks.evaluate(state)
    assert estimate(600, 400) == (600 * network + 400 * heuristic) // 1000


def test_scores_as_values() -> None:
    far = GAME.hooks.win_score
    scores = np.array([far - 1, far - 5, 3 - far, 0, VALUE_SCALE // 2])
    expected = [0.99, 0.99**5, -(0.99**3), 0.0, 0.5 * 0.99**3]
    assert scores_to_values(scores, 3, 0.99, far) == pytest.approx(expected)


def test_search_targets_are_true(untrained: tuple[Recipe, Any, ShallowSearch]) -> None:
    """A target that claims a proven win or loss agrees with the solver."""
    recipe, _, search = untrained
    targets = search.search(sample_states(25, seed=5), 3)
    transitions = targets.transitions
    gamma = recipe.acting.gamma
    assert (np.abs(targets.q) <= 1).all()
    assert (transitions.discounts == 0).all()
    assert GameBatch(GAME).needs_search(transitions.states).all(), (
        "states that need no search are left out"
    )
    decided = 0
    for state, value in zip(transitions.states, transitions.returns, strict=True):
        plies = np.log(abs(value)) / np.log(gamma) if value else 99
        if abs(plies - round(plies)) < 1e-3 and plies < 7:
            exact = z.solve(Position(GAME, tuple(map(int, state)), None))
            assert exact.value == ("win" if value > 0 else "loss")
            decided += 1
    assert decided > 5


def test_step_transitions_are_seen_by_the_side_to_move() -> None:
    """The reward where the game ends, else the negated, discounted value of the next state."""
    rollouts = HybridRollouts(shrink(PUBLISHED), GAME)
    weights = build_value_network(PUBLISHED, GAME).export()
    rollout = rollouts(weights, RolloutRequest((0, 0), 0.0))
    ends = 0
    columns = (rollout[name] for name in Transitions._fields)
    for state, action, reward, discount, next_state in zip(*columns, strict=True):
        child = GAME.play(tuple(map(int, state)), int(action))
        assert tuple(map(int, next_state)) == child
        over, result = GAME.result(child)
        assert (reward, discount) == ((-result, 0) if over else (0, pytest.approx(-0.95)))
        ends += over
    assert ends == len(rollout["results"]) == 3
    assert set(rollout["results"].tolist()) <= {-1, 0, 1}


def test_targets_of_steps() -> None:
    """The loss is that of the target -g * V'(next state), V' the target network."""
    recipe = shrink(PUBLISHED)
    recipe = replace(recipe, network=replace(recipe.network, dropout=0.0))
    trainer = training_loop.create_trainer(recipe, GAME, 1, create_actor_pool(recipe, 0, None))
    assert isinstance(trainer, HybridTrainer)
    rollout = trainer.rollouts.next(0.0)
    trainer.replay.add(Transitions(*(rollout[name] for name in Transitions._fields)))
    rng_state = trainer.rng.bit_generator.state
    batch = trainer.replay.sample(16, trainer.rng).transitions
    symmetries = trainer.rng.integers(0, 8, 16)
    trainer.rng.bit_generator.state = rng_state
    states, next_states = (
        torch.from_numpy(trainer.encoder(trainer.game_batch.transform(part, symmetries)))
        for part in (batch.states, batch.next_states)
    )
    with torch.no_grad():
        values, next_values = trainer.net(states).numpy(), trainer.target_net(next_states).numpy()
    targets = np.where(batch.discounts == 0, batch.returns, -0.95 * next_values)
    loss, _ = trainer.update(1e-3)
    assert loss == pytest.approx(float(np.square(values - targets).mean()), rel=1e-4)


def test_the_published_evaluation() -> None:
    """200, 20 and 2 by stones in open lines; -100 for losing lines with two; 10 in the centre."""
    hooks = PublishedTactics(GAME)
    one = GAME.position("...../.X.../...../...../.....", to_move=1)
    # The stone is in 2 rows, 2 columns and 2 diagonals of four, and in the centre.
    lines = sum(begin + place * step == 6 for begin, step in _windows() for place in range(4))
    assert hooks.evaluate(one.state) == -(2 * lines + 10)
    without = PublishedTactics(GAME, centre=0)
    assert without.evaluate(one.state) == -2 * lines
    assert hooks != without


def _windows() -> list[tuple[int, int]]:
    return list_windows(GAME.grid, 4)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run with hardly any training."""
    out = tmp_path_factory.mktemp("runs") / "tiny"
    training_loop.train(shrink(OURS), out, seed=2, grade=False)
    return out


def test_a_run_plays(trained: Path) -> None:
    player = z.player(f"hybrid:{trained},depth=2")
    choice = player.choose(GAME.start())
    assert choice.move in GAME.start().legal
    win_in_one = GAME.position(moves="a1 e5 b1 e4 d1 e2")
    assert player.choose(win_in_one).move == "c1", "the search sees a win without the network"
    again = z.player(f"hybrid:{trained},depth=2").choose(GAME.start())
    assert (again.move, again.estimate) == (choice.move, choice.estimate)
    assert z.player(f"hybrid:{trained}").prepare(GAME).net.blend == (1000, 0)
    z.player(f"hybrid:{trained}").choose(GAME.start(), z.Limit(depth=1))


def test_the_analysis_splits_its_estimates(trained: Path) -> None:
    position = GAME.position(moves="a1 c3 e5 b2")
    player = z.player(f"hybrid:{trained},depth=1,blend=0.5")
    analysis = analyze(position, z.Limit(seconds=5), player=player)
    fields = analysis.to_dict()
    assert fields["source"] == "hybrid"
    assert fields["verdict"]["exact"] is True
    num_estimates = 0
    for row in fields["candidates"]:
        parts = row["parts"]
        assert set(parts) == {"network", "heuristic", "blend"}
        if not row["exact"] and len(row["pv"]) == 1:
            # One ply deep and not forced: the estimate is the blend itself.
            assert row["estimate"] == pytest.approx(parts["blend"], abs=0.002)
            num_estimates += 1
    assert num_estimates > 5
    plain = analyze(position, z.Limit(seconds=1)).to_dict()
    assert "parts" not in plain["candidates"][0]


def test_the_command_shows_the_parts(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = f"hybrid:{trained},depth=1"
    cli(
        ["analyze", "squava", "--moves", "a1 c3", "--player", spec, "--seconds", "2"],
        standalone_mode=False,
    )
    output = capsys.readouterr().out
    assert "network" in output
    assert "heuristic" in output


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ("hybrid:depth=0", "depth is 0: it must be 1 or more"),
        ("hybrid:blend=2", "blend is 2: it must be from 0"),
        ("hybrid:nowhere", "there is no model 'nowhere'"),
        ("hybrid:tictactoe-dqn", "it plays as dqn:tictactoe-dqn"),
    ],
)
def test_bad_specs_are_refused(spec: str, part: str) -> None:
    with pytest.raises(z.ZermeloError, match=part):
        z.player(spec).choose(GAME.start())


def test_files_that_do_not_fit_are_refused(trained: Path, tmp_path: Path) -> None:
    with pytest.raises(BadWeights, match="was trained for squava, not for tictactoe"):
        z.player(f"hybrid:{trained}").choose(z.game("tictactoe").start())
    with pytest.raises(BadWeights, match="it plays as hybrid:"):
        z.player(f"dqn:{trained}").choose(GAME.start())
    weights, metadata = weights_file.read(trained / model_files.FINAL)
    for name, change, part in (
        ("hidden", [128], "two layer widths"),
        ("hidden", [10**9, 5], "two layer widths"),
        ("depth", "4", "depth must be at least 1"),
        ("shares", [2, 0], "two numbers from 0 to 1"),
        ("hidden", [64, 32], "but this network expects"),
    ):
        path = tmp_path / "changed.safetensors"
        shape = metadata["shape"] | {name: change}
        weights_file.write(path, weights, metadata | {"shape": shape})
        with pytest.raises(BadWeights, match=part):
            z.player(f"hybrid:{path}").choose(GAME.start())


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        (
            'kind = "lines"',
            'kind = "mlp"',
            "a recipe of kind value cannot use a network of kind mlp",
        ),
        ('kind = "lines"', 'kind = "rings"', "'rings'"),
        ("[64, 64]", "[64]", "two widths"),
        ('targets = "search"', 'targets = "hope"', "it must be search or steps"),
        ("depth = 2", "depth = 0", "must be 1 or more"),
    ],
)
def test_bad_recipes_are_refused(old: str, new: str, part: str, tmp_path: Path) -> None:
    source = Path(recipes.__file__).parent / "cookbook" / "squava-hybrid.toml"
    text = source.read_text()
    assert old in text
    path = tmp_path / "bad.toml"
    path.write_text(text.replace(old, new))
    with pytest.raises((BadRecipe, z.ZermeloError), match=part):
        recipes.load(str(path))


def test_the_model_card_has_both_grades(tmp_path: Path) -> None:
    run = training_loop.train(replace(shrink(OURS), name="graded"), tmp_path / "run", seed=1)
    card = json.loads((run.folder / "card.json").read_text())
    assert set(card["grades"]) == {"raw", "search"}
    assert card["grades"]["search"]["positions"] == 500
    assert "with its search" in (run.folder / "card.md").read_text()
    assert run.player == f"hybrid:{run.folder}"


def test_an_engine_without_a_cache(trained: Path) -> None:
    engine, depth = load_hybrid_engine(str(trained), GAME, cache_size=0)
    assert depth == OURS.searching.play_depth
    assert len(engine.net.estimates) == 0
