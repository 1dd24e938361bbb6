"""TD targets against exact play: if Q is exact, the target of every transition equals it.

The exact Q of tic-tac-toe, computed by plain recursion, takes the place of the network. Every check
that the code passes is then shown to fail for each known mistake.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
import torch

import zermelo as z
from zermelo.grading.graph import GameGraph
from zermelo.learn.batch import shaping
from zermelo.learn.batch.encoders import Encoder
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.batch.policies import Policy, masked_argmax, random_policy
from zermelo.learn.batch.replay import ReplayBatch, Transitions
from zermelo.learn.config.learning import LearningConfig
from zermelo.learn.config.network import NetworkConfig
from zermelo.learn.config.selfplay import ActingConfig
from zermelo.learn.dqn import learner as dqn
from zermelo.learn.dqn.selfplay import Potential, SelfPlay
from zermelo.learn.networks import q_network
from zermelo.learn.networks.q_network import QNetwork

GAMMA = 0.9
HUGE = 50.0  # what a network may return for an illegal action
GAME = z.game("tictactoe")
NUMBERS_DIFFER = "Not equal to tolerance"  # numpy's message: the numbers are wrong, nothing else
POWERS = 3 ** np.arange(9)

Q = dict[Any, np.ndarray]  # [action] by state


@cache
def graph() -> GameGraph:
    graph = GameGraph.build(GAME)
    assert graph is not None
    return graph


@cache
def game_batch() -> GameBatch:
    return GameBatch(GAME)


def state_array(table: Q) -> np.ndarray:
    return np.array(list(table), np.uint64)


def state_tuples(states: Any) -> list[tuple[int, ...]]:
    return [tuple(map(int, row)) for row in states]


# Exact values, straight from the definitions.


def solve_q(potential: Callable[[Any], float] = lambda _state: 0.0) -> Q:
    """Return Q(s, a) = r, or -g * max Q(s', a'), with every reward shaped by the potential."""
    q: Q = {}
    for state, after in graph().children.items():
        if not after:
            continue
        q[state] = np.full(9, HUGE)
        for action, child in after.items():
            over, value = GAME.result(child)
            reward = -value if over else 0
            reward += -potential(state) - GAMMA * (0 if over else potential(child))
            later = 0.0 if over else max_q(q, child)
            q[state][action] = reward - GAMMA * later
    return q


@cache
def exact_q() -> Q:
    return solve_q()


def max_q(table: Q, state: Any) -> float:
    return max(table[state][action] for action in graph().children[state])


@cache
def best_response_q(replies: Callable[[Any], dict[int, float]]) -> Q:
    """Return Q of the best response to an opponent with these probabilities of replies."""
    q: Q = {}
    for state, after in graph().children.items():
        if not after:
            continue
        q[state] = np.full(9, HUGE)
        for action, child in after.items():
            over, value = GAME.result(child)
            q[state][action] = -value if over else 0.0
            for reply, probability in ({} if over else replies(child)).items():
                later = graph().children[child][reply]
                ended, result = GAME.result(later)
                q[state][action] += probability * (result if ended else GAMMA * max_q(q, later))
    return q


def uniform_replies(state: Any) -> dict[int, float]:
    actions = graph().children[state]
    return dict.fromkeys(actions, 1 / len(actions))


def test_the_exact_values_are_those_of_the_graph() -> None:
    table = exact_q()
    assert len(table) == 4520
    for state in table:
        values = graph().evaluate_moves(state).by_action
        assert all(np.sign(table[state][a]) == value for a, value in values.items())
    assert max_q(table, (0, 0, 0)) == 0
    assert max_q(best_response_q(uniform_replies), (0, 0, 0)) == pytest.approx(
        0.9947 * GAMMA**2, abs=0.05
    )


# Transitions as the learner gets them.


def nth_legal(number: int) -> Policy:
    """Return the policy that plays the n-th legal action, or the last."""

    def choose(_states: Any, legal: Any) -> Any:
        rank = np.minimum(number + 1, legal.sum(1))
        return (legal.cumsum(1) == rank[:, None]).argmax(1)

    return choose


def greedy(table: Q, rng: np.random.Generator) -> Policy:
    """Return the policy that plays a best action, and breaks ties at random."""

    def choose(states: Any, legal: Any) -> Any:
        values = np.array([table[row] for row in state_tuples(states)])
        return masked_argmax(np.round(values, 6) + 1e-7 * rng.random(values.shape), legal)

    return choose


def concatenate(parts: list[Transitions]) -> Transitions:
    return Transitions(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def all_transitions(
    self_play_type: type[SelfPlay] = SelfPlay,
    config_type: type[ActingConfig] = ActingConfig,
    **options: Any,
) -> Transitions:
    """Return the one-step transitions of every action in every state."""
    states = state_array(exact_q())
    parts = []
    for number in range(9):
        self_play = self_play_type(
            game_batch(), config_type(len(states), GAMMA), np.random.default_rng(number), **options
        )
        self_play.states = states.copy()
        parts.append(self_play.step(nth_legal(number), None, 0.0))
    return concatenate(parts)


def greedy_transitions(
    steps: int,
    table: Q,
    *,
    self_play_type: type[SelfPlay] = SelfPlay,
    config_type: type[ActingConfig] = ActingConfig,
    opponent: Policy | None = None,
    plies: int = 40,
    potential: Potential | None = None,
    **options: Any,
) -> Transitions:
    """Return transitions of greedy play by a table, from random states and in both seats."""
    rng = np.random.default_rng(steps)
    config = config_type(200, GAMMA, steps, sampled=0.8, **options)
    self_play = self_play_type(game_batch(), config, rng, potential)
    policy = greedy(table, rng)
    return concatenate([self_play.step(policy, opponent, 0.0) for _ in range(plies)])


# The checks. Each takes what it checks as an argument, so that mistakes can take its place.


def check_targets(
    rows: Transitions,
    table: Q,
    targets: Callable[..., Any] = dqn.compute_td_targets,
    *,
    double: bool = True,
) -> None:
    """Check that targets from the values of the later states equal the values of the actions."""
    nonsense = np.full(9, HUGE)  # what a network may return for finished games
    later = torch.tensor(
        np.array([table.get(row, nonsense) for row in state_tuples(rows.next_states)])
    )
    legal = torch.from_numpy(game_batch().legal_masks(rows.next_states))
    computed = targets(
        torch.tensor(rows.returns), torch.tensor(rows.discounts), later, later, legal, double=double
    )
    values = np.array([table[row] for row in state_tuples(rows.states)])
    expected = np.take_along_axis(values, rows.actions[:, None], 1)[:, 0]
    np.testing.assert_allclose(computed.numpy(), expected, atol=1e-5)


def check_coverage(rows: Transitions) -> None:
    seen = set(zip(state_tuples(rows.states), rows.actions.tolist(), strict=True))
    pairs = {(s, a) for s, after in graph().children.items() for a in after}
    assert seen == pairs
    assert len(pairs) == 16167


@pytest.mark.parametrize("double", [True, False])
def test_one_step_targets_are_exact(double: bool) -> None:
    rows = all_transitions()
    check_coverage(rows)
    check_targets(rows, exact_q(), double=double)


def test_targets_of_random_play_are_exact() -> None:
    rng = np.random.default_rng(0)
    self_play = SelfPlay(game_batch(), ActingConfig(500, GAMMA), rng)
    rows = concatenate([self_play.step(nth_legal(0), None, 1.0) for _ in range(30)])
    assert set(rows.states[:, 2].tolist()) == {0, 1}
    assert (rows.discounts == 0).any()
    check_targets(rows, exact_q())


@pytest.mark.parametrize("steps", [2, 3, 4, 9])
def test_n_step_targets_of_optimal_play_are_exact(steps: int) -> None:
    rows = greedy_transitions(steps, exact_q())
    assert set(rows.states[:, 2].tolist()) == {0, 1}
    # Games end at every distance; with nine steps every transition reaches the end.
    powers = {0.0, *([] if steps == 9 else [(-GAMMA) ** steps])}
    assert {round(float(f), 6) for f in rows.discounts} == {round(p, 6) for p in powers}
    check_targets(rows, exact_q())


def test_self_play_learns_from_the_moves_of_an_opponent_too() -> None:
    """One-step targets are those of optimal play, whoever chose the moves."""
    rows = greedy_transitions(1, exact_q(), opponent=random_policy(np.random.default_rng(9)))
    assert set(rows.states[:, 2].tolist()) == {0, 1}
    check_targets(rows, exact_q())


# Best responses to an opponent.


def check_expectation(
    self_play_type: type[SelfPlay] = SelfPlay, config_type: type[ActingConfig] = ActingConfig
) -> None:
    """Check that over all replies the targets average to Q of the response to random play."""
    table = best_response_q(uniform_replies)
    triples = [
        (state, action, reply)
        for state, after in graph().children.items()
        for action, child in after.items()
        for reply in graph().children[child]
    ]
    states, actions, replies = (np.array(column) for column in zip(*triples, strict=True))
    self_play = self_play_type(
        game_batch(), config_type(len(triples), GAMMA, response=True), np.random.default_rng(0)
    )
    self_play.states, self_play.seats = states.astype(np.uint64), states[:, 2]
    first = self_play.step(lambda _s, _l: actions, lambda _s, _l: replies, 0.0)
    assert len(first.actions) == 0
    rows = self_play.step(lambda _s, _l: actions, lambda _s, _l: replies, 0.0)
    assert (rows.actions == actions).all()
    best_later = np.array(
        [
            max_q(table, row) if graph().children[row] else HUGE
            for row in state_tuples(rows.next_states)
        ]
    )
    samples = rows.returns + np.where(rows.discounts == 0, 0, rows.discounts * best_later)
    sums: dict[Any, list[float]] = {}
    for state, action, sample in zip(state_tuples(states), actions.tolist(), samples, strict=True):
        sums.setdefault((state, action), []).append(float(sample))
    means = [np.mean(samples) for samples in sums.values()]
    np.testing.assert_allclose(means, [table[s][a] for s, a in sums], atol=1e-5)


def test_the_response_to_a_random_opponent() -> None:
    check_expectation()


def test_transitions_of_a_response_begin_with_own_moves() -> None:
    opponent = random_policy(np.random.default_rng(3))
    self_play = SelfPlay(
        game_batch(), ActingConfig(100, GAMMA, response=True), np.random.default_rng(4)
    )
    rows = concatenate([self_play.step(nth_legal(0), opponent, 1.0) for _ in range(30)])
    assert set(rows.discounts.tolist()) == {0.0, np.float32(GAMMA)}
    assert set(rows.returns.tolist()) == {1.0, 0.0, -1.0}
    assert {-1, 1} <= set(self_play.results)
    seat = SelfPlay(
        game_batch(), ActingConfig(50, seats=(1,), response=True), np.random.default_rng(5)
    )
    rows = concatenate([seat.step(nth_legal(0), opponent, 1.0) for _ in range(20)])
    assert set(rows.states[:, 2].tolist()) == {1}


def first_reply(state: Any) -> dict[int, float]:
    return {min(graph().children[state]): 1.0}


def last_reply(state: Any) -> dict[int, float]:
    return {max(graph().children[state]): 1.0}


@pytest.mark.parametrize("steps", [1, 2, 3])
@pytest.mark.parametrize(("reply", "number"), [(first_reply, 0), (last_reply, 8)])
def test_the_response_to_a_deterministic_opponent(reply: Any, number: int, steps: int) -> None:
    table = best_response_q(reply)
    rows = greedy_transitions(steps, table, opponent=nth_legal(number), response=True)
    assert set(rows.states[:, 2].tolist()) == {0, 1}
    check_targets(rows, table)
    with pytest.raises(AssertionError, match=NUMBERS_DIFFER):
        check_targets(rows, exact_q())  # optimal play is something else


# Rules by which a move can lose.


def test_a_losing_three_is_a_loss_for_the_side_that_makes_it() -> None:
    game = z.game("squava")
    for board, move, reward in (
        ("XX.../OO.O./...../...../.....", "c1", -1.0),  # three: X loses
        ("XX.X./OO.O./...../...../.....", "c1", 1.0),  # four: X wins
        ("XX.../OO.../...../...../.....", "e5", 0.0),
    ):
        position = game.position(board, 0, unchecked=True)
        self_play = SelfPlay(GameBatch(game), ActingConfig(1, GAMMA), np.random.default_rng(0))
        self_play.states = np.array([position.state], np.uint64)
        action = game.parse_action(game.initial(), move)
        rows = self_play.step(lambda _s, _l, a=action: np.array([a]), None, 0.0)
        assert rows.returns.tolist() == [reward]
        assert rows.discounts.tolist() == [0.0 if reward else pytest.approx(-GAMMA)]
        assert self_play.results == ([int(reward)] if reward else [])


# Choosing and evaluating actions.


def test_double_dqn_chooses_by_one_network_and_evaluates_by_the_other() -> None:
    q = torch.tensor([[9.0, 1.0, 2.0, 0.0]])
    target_q = torch.tensor([[8.0, 0.5, 0.25, 0.75]])
    legal = torch.tensor([[False, True, True, True]])
    compute = partial(
        dqn.compute_td_targets, torch.tensor([0.5]), torch.tensor([-2.0]), q, target_q, legal
    )
    assert compute(double=True).tolist() == [0.5 - 2 * 0.25]
    assert compute(double=False).tolist() == [0.5 - 2 * 0.75]


def test_the_best_legal_action() -> None:
    values = np.array([[HUGE, -3.0, -2.0], [0.0, 0.0, HUGE]])
    legal = np.array([[False, True, True], [True, True, False]])
    assert masked_argmax(values, legal).tolist() == [2, 0]


def check_dueling(
    net: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], plain: QNetwork
) -> None:
    """Check that over the legal actions the advantages average to zero."""
    torch.manual_seed(0)
    states = game_batch().sample_states(50, 8, 1)
    x = torch.from_numpy(Encoder("cells", GAME)(states))
    legal = torch.from_numpy(game_batch().legal_masks(states))
    plain.eval()
    with torch.no_grad():
        q, value = net(x, legal), plain.state(plain.body(x))[:, 0]  # type: ignore[misc]
        advantages = plain.actions(plain.body(x))
    mean = (q * legal).sum(1) / legal.sum(1)
    np.testing.assert_allclose(mean, value, atol=1e-5)
    np.testing.assert_allclose(q - q[:, :1], advantages - advantages[:, :1], atol=1e-5)


def test_dueling_takes_the_mean_over_legal_actions() -> None:
    net = QNetwork(NetworkConfig(hidden=(16,), dueling=True), (9,), 9)
    check_dueling(net, net)
    with pytest.raises(AssertionError, match=NUMBERS_DIFFER):
        check_dueling(lambda x, legal: net(x, torch.ones_like(legal)), net)


# The learner itself, with a table in place of its network.


class ExactNetwork(QNetwork):
    """The exact Q as a network over encoded states: 1 for own stones, -1 for the other side's."""

    def __init__(self, table: Q) -> None:
        super().__init__(NetworkConfig(hidden=(1,)), (9,), 9)
        rows = np.full((3**9, 9), HUGE)
        rows[board_codes(Encoder("cells", GAME)(state_array(table)))] = list(table.values())
        self.register_buffer("rows", torch.tensor(rows, dtype=torch.float32))

    def forward(self, x: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:  # noqa: ARG002
        rows = self.rows[board_codes(x.numpy())]  # type: ignore[index]
        return rows + 0.0 * self.actions.bias.sum()  # a parameter to train, without effect


def board_codes(cells: Any) -> Any:
    return (cells + 1).astype(np.int64) @ POWERS


def create_learner(canonical: bool, **options: Any) -> dqn.DQNLearner:
    settings = LearningConfig(canonical=canonical, average=0.5, **options)
    return dqn.DQNLearner(ExactNetwork(exact_q()), Encoder("cells", GAME), game_batch(), settings)


def check_learner(learner: dqn.DQNLearner, rows: Transitions) -> None:
    number = len(rows.actions)
    batch = ReplayBatch(rows, np.arange(number), np.ones(number, np.float32))
    loss, _, td_errors = learner.update(batch, 1e-3)
    np.testing.assert_allclose(td_errors, 0, atol=1e-5)
    assert loss < 1e-9


@pytest.mark.parametrize("canonical", [True, False])
@pytest.mark.parametrize("double", [True, False])
def test_a_learner_with_exact_values_has_no_error(canonical: bool, double: bool) -> None:
    check_learner(create_learner(canonical, double=double), all_transitions())
    check_learner(create_learner(canonical, double=double), greedy_transitions(3, exact_q()))


def test_symmetric_states_have_the_same_values_at_permuted_actions() -> None:
    table = exact_q()
    states, expected = state_array(table), np.array(list(table.values()))
    legal = game_batch().legal_masks(states)
    for canonical in (True, False):
        values = create_learner(canonical).values(states)
        np.testing.assert_allclose(values[legal], expected[legal], atol=1e-5)
    # Of symmetric states the network sees one image only, so their values are equal.
    torch.manual_seed(1)
    net = QNetwork(NetworkConfig(hidden=(16,)), (9,), 9)
    untrained = dqn.DQNLearner(net, Encoder("cells", GAME), game_batch(), LearningConfig())
    for symmetry in GAME.symmetries():
        images = np.array([GAME.transform(s, symmetry) for s in table], np.uint64)  # type: ignore[attr-defined]
        same = game_batch().canonicalise(images)[0] == game_batch().canonicalise(states)[0]
        assert same.all()
        image_q, q = untrained.values(images), untrained.values(states)
        moved = np.take_along_axis(image_q, np.tile(symmetry.actions, (len(states), 1)), 1)
        max_moved = np.where(legal, moved, -np.inf).max(1)
        np.testing.assert_allclose(max_moved, np.where(legal, q, -np.inf).max(1), atol=1e-6)


# Shaping.


def noise_potential() -> Potential:
    """Return a random number for every state: shaping must work with any potential."""
    table = np.random.default_rng(7).normal(size=3**9)
    encoder = Encoder("cells", GAME)
    return lambda states: table[board_codes(encoder(states))]


def potential_of(name: str) -> Potential:
    return (
        noise_potential() if name == "noise" else shaping.build_potential("patterns", game_batch())
    )


def potential_by_state(potential: Potential) -> Callable[[Any], float]:
    """Return the potential as a fast function of a single state."""
    states = state_array(exact_q())
    return dict(zip(exact_q(), potential(states).tolist(), strict=True)).__getitem__


@pytest.mark.parametrize("name", ["noise", "patterns"])
def test_shaping_leaves_the_best_moves_unchanged(name: str) -> None:
    """By recursion, Q of the shaped game is Q - P(state) for any potential P."""
    value = potential_by_state(potential_of(name))
    shaped = solve_q(value)
    for state, values in exact_q().items():
        legal = list(graph().children[state])
        np.testing.assert_allclose(shaped[state][legal], values[legal] - value(state), atol=1e-9)
    assert any(value(state) for state in exact_q())


def check_shaping(name: str, self_play_type: type[SelfPlay] = SelfPlay, steps: int = 1) -> None:
    potential = potential_of(name)
    table = solve_q(potential_by_state(potential))
    rows = greedy_transitions(steps, table, self_play_type=self_play_type, potential=potential)
    check_targets(rows, table)


@pytest.mark.parametrize("name", ["noise", "patterns"])
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_targets_of_shaped_transitions_are_exact(name: str, steps: int) -> None:
    check_shaping(name, steps=steps)


def test_shaping_adds_only_the_first_potential_to_whole_games() -> None:
    potential = noise_potential()
    plain, shaped = (greedy_transitions(9, exact_q(), potential=p) for p in (None, potential))
    np.testing.assert_array_equal(plain.states, shaped.states)
    added = shaped.returns - plain.returns
    np.testing.assert_allclose(added, -potential(plain.states), atol=1e-5)


def test_shaping_of_a_response_is_that_of_a_single_agent() -> None:
    """The opponent is part of the environment, and so is the effect of its moves."""
    potential = noise_potential()
    value, table = potential_by_state(potential), best_response_q(first_reply)
    shaped = {state: values - value(state) for state, values in table.items()}
    for steps in (1, 2):
        rows = greedy_transitions(
            steps, table, opponent=nth_legal(0), response=True, potential=potential
        )
        check_targets(rows, shaped)


# Deliberate mistakes, which the checks above must detect.


class PlusGamma(SelfPlay):
    """Discount as if both sides had the same goal."""

    def _signs(self, states: Any) -> Any:
        return abs(super()._signs(states))


class SignsOnly(ActingConfig):
    """Discount replies of the opponent like own moves."""

    def discount(self, ply: int) -> float:
        return float(self.gamma**ply)


class FlippedRewards(SelfPlay):
    """Rewards seen by the other side."""

    def _complete_transitions(
        self, states: Any, actions: Any, rewards: Any, *options: Any
    ) -> Transitions:
        return super()._complete_transitions(states, actions, -rewards, *options)


class IgnoredEnd(SelfPlay):
    """The end of a game is not recognised."""

    def _complete_transitions(self, states: Any, actions: Any, rewards: Any, after: Any, over: Any,
                  begins: Any) -> Transitions:  # fmt: skip
        return super()._complete_transitions(states, actions, rewards, after, over & False, begins)


class ResultsScaledBackwards(SelfPlay):
    """Moves far from the end get more of the result than the move that decides the game."""

    def _complete_transitions(self, *arguments: Any) -> Transitions:
        rows = super()._complete_transitions(*arguments)
        plies = np.bitwise_count(rows.next_states[:, :2]).sum(1)
        moves = np.bitwise_count(rows.states[:, :2]).sum(1) + 1
        scale = 0.5 + 0.5 * (plies - moves) / plies
        return rows._replace(returns=np.sign(rows.returns) * scale)


class SingleAgentShaping(SelfPlay):
    """Shaping with the sign for a single agent."""

    def _shaping_rewards(self, states: Any, after: Any, over: Any, is_own: Any) -> Any:  # noqa: ARG002
        assert self.potential is not None
        later = np.where(over, 0.0, self.potential(after))
        return (self.config.gamma * later - self.potential(states)).astype(np.float32)


correct_targets = dqn.compute_td_targets  # a test below replaces it in the module


def targets_without_mask(
    returns: Any, discounts: Any, q: Any, target_q: Any, legal: Any, *, double: bool
) -> Any:
    return correct_targets(returns, discounts, q, target_q, torch.ones_like(legal), double=double)


def targets_of_worst_reply(
    returns: Any, discounts: Any, q: Any, target_q: Any, legal: Any, *, double: bool
) -> Any:
    """Use the worst move of the other side in place of its best."""
    later = target_q.masked_fill(~legal, 1e9).min(1).values
    return returns + torch.where(discounts == 0, 0.0, discounts * later)


MISTAKES: dict[str, Callable[[], None]] = {
    "plus gamma, one step": lambda: check_targets(all_transitions(PlusGamma), exact_q()),
    "plus gamma, three steps": lambda: check_targets(
        greedy_transitions(3, exact_q(), self_play_type=PlusGamma), exact_q()
    ),
    "rewards flipped": lambda: check_targets(all_transitions(FlippedRewards), exact_q()),
    "the end ignored": lambda: check_targets(all_transitions(IgnoredEnd), exact_q()),
    "no legal mask": lambda: check_targets(all_transitions(), exact_q(), targets_without_mask),
    "no legal mask, single": lambda: check_targets(
        all_transitions(), exact_q(), targets_without_mask, double=False
    ),
    "the worst reply": lambda: check_targets(all_transitions(), exact_q(), targets_of_worst_reply),
    "results scaled backwards": lambda: check_targets(
        greedy_transitions(9, exact_q(), self_play_type=ResultsScaledBackwards), exact_q()
    ),
    "shaped as for one agent": lambda: check_shaping("noise", SingleAgentShaping),
    "shaped as for one agent, patterns": lambda: check_shaping("patterns", SingleAgentShaping),
    "replies discounted as moves": lambda: check_expectation(config_type=SignsOnly),
    "a response with rewards flipped": lambda: check_expectation(FlippedRewards),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_detected(name: str) -> None:
    with pytest.raises(AssertionError, match=NUMBERS_DIFFER):
        MISTAKES[name]()


def test_an_action_that_is_not_permuted_is_detected() -> None:
    learner = create_learner(canonical=True)
    learner.game_batch = GameBatch(GAME)
    learner.game_batch.action_maps = np.tile(np.arange(9), (8, 1))
    with pytest.raises(AssertionError, match=NUMBERS_DIFFER):
        check_learner(learner, all_transitions())


def test_a_learner_with_a_wrong_target_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    for mistake in (targets_without_mask, targets_of_worst_reply):
        monkeypatch.setattr(dqn, "compute_td_targets", mistake)
        with pytest.raises(AssertionError, match=NUMBERS_DIFFER):
            check_learner(create_learner(canonical=True), all_transitions())


def test_exported_dueling_networks_take_the_same_mean() -> None:
    from zermelo.learn.networks.numpy_inference import NumpyQNetwork

    torch.manual_seed(2)
    net = QNetwork(NetworkConfig(hidden=(16,), dueling=True), (9,), 9)
    plain = NumpyQNetwork(q_network.export_q_network(net), net.config.to_dict(), (9,))
    check_dueling(lambda x, legal: torch.from_numpy(plain(x.numpy(), legal.numpy())), net)
