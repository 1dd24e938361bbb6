"""AlphaZero's two back ends: rules on tensors as in kernels, and searches that agree."""

import functools
from typing import Any

import numpy as np
import pytest

import zermelo as z
from zermelo.games.lines.small import WordLineGame
from zermelo.learn.alphazero import search_kernel as k
from zermelo.learn.alphazero.search_cpu import KernelSearch
from zermelo.learn.alphazero.search_options import UNKNOWN
from zermelo.learn.batch.game_batch import GameBatch

torch = pytest.importorskip("torch", reason="torch is not installed: no tensors to test")
PRESETS = ("tictactoe", "connect4", "gomoku6", "squava", "reversi:6")
# The same rules in one compilation.
LINES = {
    "tictactoe": WordLineGame(3, 3, 3, spec="shared tictactoe"),
    "connect4": WordLineGame(6, 7, 4, gravity=True, spec="shared connect4"),
    "gomoku6": WordLineGame(6, 6, 4, spec="shared gomoku6"),
    "squava": WordLineGame(5, 5, 4, lose=3, spec="shared squava"),
}
RULES = (
    *PRESETS,
    "squava:pie=true",
    "connect4:8x8",
    "gomoku:size=8,overline=exact",
    "line:rows=4,cols=6,win=4,lose=2,gravity=true",
    "reversi",
)
MOVES = 1_000_000


def game_of(spec: str, *, shared: bool = True) -> z.WordGame:
    game = LINES.get(spec) if shared else None
    game = game or z.game(spec)  # type: ignore[assignment]
    assert isinstance(game, z.WordGame)
    return game


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


class Exact:
    """A small random network whose sums are whole numbers: the same answer in every batch."""

    def __init__(self, game: Any, seed: int) -> None:
        rng = np.random.default_rng(seed)
        inputs, hidden = 2 * game.grid.size, 32
        self.first = rng.integers(-8, 9, (inputs, hidden)).astype(np.float32)
        self.second = rng.integers(-127, 128, (hidden, game.num_actions + 1)).astype(np.float32)
        self.judged = 0

    def __call__(self, planes: Any) -> tuple[Any, Any]:
        self.judged += len(planes)
        flat = planes.reshape(len(planes), -1)
        found = np.maximum(flat @ self.first, 0) @ self.second / 8192
        return np.ascontiguousarray(found[:, :-1]), np.clip(found[:, -1] / 4, -1, 1)

    def on_tensors(self, planes: Any) -> tuple[Any, Any]:
        logits, value = self(planes.numpy().astype(np.float32))
        return torch.from_numpy(logits), torch.from_numpy(value)


def words_of(states: Any) -> tuple[Any, ...]:
    return tuple(torch.from_numpy(states.astype(np.int64)).unbind(1))


def noise_for(rule: str, shape: tuple[int, int], rng: np.random.Generator) -> Any:
    drawn = (
        rng.gumbel(size=shape) if rule == "gumbel" else rng.dirichlet([0.5] * shape[1], shape[0])
    )
    return drawn.astype(np.float32)


def agree(game: Any, rule: Any, number: int, simulations: int) -> None:
    from zermelo.learn.alphazero.search_gpu import Search
    from zermelo.learn.alphazero.tensor_games import TensorGame

    network, rng = Exact(game, 1), np.random.default_rng(2)
    states = GameBatch(game).sample_states(number, game.grid.size, 3)
    limits = {"considered": 8, "deepest": 6, "rule": rule}
    search = KernelSearch(game, network, number + 1, simulations, **limits)
    tensors = Search(
        TensorGame(game),
        network.on_tensors,
        number,
        simulations,
        room=simulations + 10,
        **limits,
    )
    for noise in (noise_for(rule, (number, game.num_actions), rng), None):
        mine = search(states, noise)
        its = tensors(words_of(states), noise=None if noise is None else torch.from_numpy(noise))
        assert (mine.actions == its.actions.numpy()).all()
        assert (mine.visits == its.visits.numpy()).all()
        assert (mine.proven == its.proven.numpy()).all()
        np.testing.assert_allclose(mine.policy, its.policy.numpy(), atol=1e-4)
        np.testing.assert_allclose(mine.value, its.value.numpy(), atol=1e-4)
        assert (mine.visits.sum(1) == simulations).all()
    assert {-1, 1, UNKNOWN} <= set(mine.proven)


@pytest.mark.parametrize("rule", ["gumbel", "puct"])
@pytest.mark.parametrize("spec", PRESETS)
def test_the_searches_agree(spec: str, rule: Any) -> None:
    agree(game_of(spec), rule, 200, 32)


@pytest.mark.proof
@pytest.mark.parametrize("rule", ["gumbel", "puct"])
@pytest.mark.parametrize("spec", PRESETS)
def test_the_searches_agree_at_length(spec: str, rule: Any) -> None:
    agree(game_of(spec, shared=False), rule, 2000, 100)


@pytest.mark.parametrize("spec", RULES)
def test_tensors_know_what_kernels_know(spec: str) -> None:
    """A million random moves in all: what is legal, won at once or forced, and what comes of it."""
    from zermelo.learn.alphazero.tensor_games import TensorGame

    game = game_of(spec)
    assert game.grid is not None
    number = MOVES // len(RULES)
    game_batch, tensors, search = (
        GameBatch(game),
        TensorGame(game),
        KernelSearch(game, Exact(game, 1), number, 0),
    )
    states = game_batch.sample_states(number, game.grid.size, 4)
    legal = game_batch.legal_masks(states)
    words = words_of(states)
    assert (tensors.legal(words).numpy() == legal).all()
    assert not tensors.result(words)[0].any()

    judged, found = tensors.judge(words), search(states)
    assert (judged.value.numpy() == found.proven).all()
    edges = search._nodes[:number]
    moves = np.zeros_like(legal)
    for place in range(edges[:, k.COUNT].max()):
        rows = np.flatnonzero(edges[:, k.COUNT] > place)
        moves[rows, search._edges[edges[rows, k.FIRST] + place, k.ACTION].astype(int)] = True
    assert (judged.moves.numpy() == moves).all()

    actions = (np.random.default_rng(5).random(legal.shape) * legal).argmax(1)
    after, rewards, over = game_batch.step(states, actions)
    played = tensors.play(words, torch.from_numpy(actions))
    ended, value = tensors.result(played)
    assert (torch.stack(played, 1).numpy() == after.astype(np.int64)).all()
    assert (ended.numpy() == over).all()
    assert (value.numpy() == -rewards).all()


def test_only_leaves_that_are_open_are_judged() -> None:
    """Fewer games than there is room for; what is known costs no evaluation."""
    game = game_of("tictactoe")
    network = Exact(game, 1)
    search = KernelSearch(game, network, 10, 64)
    won = np.array([game.position(moves="a1 a2 b1 b2").state], np.uint64)
    found = search(won)
    assert network.judged == 1
    assert found.actions.tolist() == [2]
    assert found.policy[0, 2] == 1
    assert found.proven.tolist() == [1]


@pytest.mark.parametrize("rule", ["gumbel", "puct"])
def test_the_kernels_run_uncompiled(rule: Any) -> None:
    game = game_of("connect4")
    states = GameBatch(game).sample_states(4, 30, 6)
    search = KernelSearch(game, Exact(game, 1), 4, 20, rule=rule)
    fast = search(states)
    search._plant, search._simulate, search._answer = (
        functools.partial(kernel, game.hooks) for kernel in (k.plant, k.simulate, k.answer)
    )
    slow = search(states)
    assert (fast.actions == slow.actions).all()
    assert (fast.visits == slow.visits).all()
    np.testing.assert_allclose(fast.policy, slow.policy, atol=1e-4)
