"""AlphaZero's two back ends: kernels and tensors have the same rules and the same searches."""

import functools
from typing import Any

import numpy as np
import pytest

import zermelo as z
from zermelo.games.lines.small import WordLineGame
from zermelo.learn.alphazero import search_kernel as kernels
from zermelo.learn.alphazero.search_cpu import KernelSearch
from zermelo.learn.alphazero.search_parameters import UNPROVEN
from zermelo.learn.alphazero.selection import ACTION, FIRST_EDGE, NUM_EDGES
from zermelo.learn.batch.game_batch import GameBatch

torch = pytest.importorskip("torch", reason="torch is not installed: no tensors to test")
PRESETS = ("tictactoe", "connect4", "gomoku6", "squava", "reversi:6")
# The same rules, which share one compilation.
SHARED_GAMES = {
    "tictactoe": WordLineGame(3, 3, 3, spec="shared tictactoe"),
    "connect4": WordLineGame(6, 7, 4, gravity=True, spec="shared connect4"),
    "gomoku6": WordLineGame(6, 6, 4, spec="shared gomoku6"),
    "squava": WordLineGame(5, 5, 4, lose=3, spec="shared squava"),
}
SPECS = (
    *PRESETS,
    "squava:pie=true",
    "connect4:8x8",
    "gomoku:size=8,overline=exact",
    "line:rows=4,cols=6,win=4,lose=2,gravity=true",
    "reversi",
)
NUM_MOVES = 1_000_000


def load_game(spec: str, *, shared: bool = True) -> z.WordGame:
    game = SHARED_GAMES.get(spec) if shared else None
    game = game or z.game(spec)  # type: ignore[assignment]
    assert isinstance(game, z.WordGame)
    return game


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


class ExactNetwork:
    """A small random network with integer weights: the same output in every batch."""

    def __init__(self, game: Any, seed: int) -> None:
        rng = np.random.default_rng(seed)
        inputs, hidden = 2 * game.grid.size, 32
        self.first = rng.integers(-8, 9, (inputs, hidden)).astype(np.float32)
        self.second = rng.integers(-127, 128, (hidden, game.num_actions + 1)).astype(np.float32)
        self.num_evaluations = 0

    def __call__(self, planes: Any) -> tuple[Any, Any]:
        self.num_evaluations += len(planes)
        flat = planes.reshape(len(planes), -1)
        outputs = np.maximum(flat @ self.first, 0) @ self.second / 8192
        return np.ascontiguousarray(outputs[:, :-1]), np.clip(outputs[:, -1] / 4, -1, 1)

    def evaluate_tensors(self, planes: Any) -> tuple[Any, Any]:
        logits, value = self(planes.numpy().astype(np.float32))
        return torch.from_numpy(logits), torch.from_numpy(value)


def to_tensors(states: Any) -> tuple[Any, ...]:
    return tuple(torch.from_numpy(states.astype(np.int64)).unbind(1))


def sample_noise(rule: str, shape: tuple[int, int], rng: np.random.Generator) -> Any:
    noise = (
        rng.gumbel(size=shape) if rule == "gumbel" else rng.dirichlet([0.5] * shape[1], shape[0])
    )
    return noise.astype(np.float32)


def assert_searches_agree(game: Any, rule: Any, number: int, simulations: int) -> None:
    from zermelo.learn.alphazero.search_gpu import TensorSearch
    from zermelo.learn.alphazero.tensor_games import TensorGame

    network, rng = ExactNetwork(game, 1), np.random.default_rng(2)
    states = GameBatch(game).sample_states(number, game.grid.size, 3)
    options = {"considered": 8, "max_depth": 6, "rule": rule}
    kernel_search = KernelSearch(game, network, number + 1, simulations, **options)
    tensor_search = TensorSearch(
        TensorGame(game),
        network.evaluate_tensors,
        number,
        simulations,
        max_nodes=simulations + 10,
        **options,
    )
    for noise in (sample_noise(rule, (number, game.num_actions), rng), None):
        ours = kernel_search(states, noise)
        tensor_noise = None if noise is None else torch.from_numpy(noise)
        theirs = tensor_search(to_tensors(states), tensor_noise)
        assert (ours.actions == theirs.actions.numpy()).all()
        assert (ours.visits == theirs.visits.numpy()).all()
        assert (ours.proven_value == theirs.proven_value.numpy()).all()
        np.testing.assert_allclose(ours.policy, theirs.policy.numpy(), atol=1e-4)
        np.testing.assert_allclose(ours.value, theirs.value.numpy(), atol=1e-4)
        assert (ours.visits.sum(1) == simulations).all()
    assert {-1, 1, UNPROVEN} <= set(ours.proven_value)


@pytest.mark.parametrize("rule", ["gumbel", "puct"])
@pytest.mark.parametrize("spec", PRESETS)
def test_the_searches_agree(spec: str, rule: Any) -> None:
    assert_searches_agree(load_game(spec), rule, 200, 32)


@pytest.mark.proof
@pytest.mark.parametrize("rule", ["gumbel", "puct"])
@pytest.mark.parametrize("spec", PRESETS)
def test_the_searches_agree_at_length(spec: str, rule: Any) -> None:
    assert_searches_agree(load_game(spec, shared=False), rule, 2000, 100)


@pytest.mark.parametrize("spec", SPECS)
def test_the_rules_on_tensors_agree_with_the_kernels(spec: str) -> None:
    """A million random moves in all: legal moves, immediate wins, forced moves and results."""
    from zermelo.learn.alphazero.tensor_games import TensorGame

    game = load_game(spec)
    assert game.grid is not None
    number = NUM_MOVES // len(SPECS)
    game_batch, tensors, search = (
        GameBatch(game),
        TensorGame(game),
        KernelSearch(game, ExactNetwork(game, 1), number, 0),
    )
    states = game_batch.sample_states(number, game.grid.size, 4)
    legal = game_batch.legal_masks(states)
    words = to_tensors(states)
    assert (tensors.legal(words).numpy() == legal).all()
    assert not tensors.result(words)[0].any()

    resolution, result = tensors.resolve(words), search(states)
    assert (resolution.value.numpy() == result.proven_value).all()
    nodes, edges = search._arrays.nodes[:number], search._arrays.edges
    moves = np.zeros_like(legal)
    for place in range(nodes[:, NUM_EDGES].max()):
        rows = np.flatnonzero(nodes[:, NUM_EDGES] > place)
        moves[rows, edges[nodes[rows, FIRST_EDGE] + place, ACTION].astype(int)] = True
    assert (resolution.moves.numpy() == moves).all()

    actions = (np.random.default_rng(5).random(legal.shape) * legal).argmax(1)
    after, rewards, over = game_batch.step(states, actions)
    played = tensors.play(words, torch.from_numpy(actions))
    ended, value = tensors.result(played)
    assert (torch.stack(played, 1).numpy() == after.astype(np.int64)).all()
    assert (ended.numpy() == over).all()
    assert (value.numpy() == -rewards).all()


def test_only_open_leaves_are_evaluated() -> None:
    """With fewer games than `max_games`; a known value needs no evaluation."""
    game = load_game("tictactoe")
    network = ExactNetwork(game, 1)
    search = KernelSearch(game, network, 10, 64)
    won = np.array([game.position(moves="a1 a2 b1 b2").state], np.uint64)
    result = search(won)
    assert network.num_evaluations == 1
    assert result.actions.tolist() == [2]
    assert result.policy[0, 2] == 1
    assert result.proven_value.tolist() == [1]


@pytest.mark.parametrize("rule", ["gumbel", "puct"])
def test_the_kernels_run_uncompiled(rule: Any) -> None:
    game = load_game("connect4")
    states = GameBatch(game).sample_states(4, 30, 6)
    search = KernelSearch(game, ExactNetwork(game, 1), 4, 20, rule=rule)
    compiled = search(states)
    search._reset_trees, search._simulate, search._read_results = (
        functools.partial(kernel, game.hooks)
        for kernel in (kernels.reset_trees, kernels.simulate, kernels.read_results)
    )
    uncompiled = search(states)
    assert (compiled.actions == uncompiled.actions).all()
    assert (compiled.visits == uncompiled.visits).all()
    np.testing.assert_allclose(compiled.policy, uncompiled.policy, atol=1e-4)
