"""The targets of learning, against exact play: where Q is right, no transition may say otherwise.

The exact Q of tic-tac-toe, by plain recursion, stands in the place of the network. Every check that
the right code passes is then shown to fail for each known mistake.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
import torch

import zermelo as z
from zermelo.grading.graph import Graph
from zermelo.learn.batch import shaping
from zermelo.learn.batch.encoders import Encoder
from zermelo.learn.batch.game_batch import Many
from zermelo.learn.batch.replay import Batch, Transitions
from zermelo.learn.dqn import learner as dqn
from zermelo.learn.dqn import selfplay
from zermelo.learn.dqn.selfplay import Acting, Rules, masked_argmax
from zermelo.learn.networks import q_network
from zermelo.learn.networks.q_network import QNetwork, Shape

GAMMA = 0.9
HUGE = 50.0  # what a network may say of an illegal action
GAME = z.game("tictactoe")
DIFFER = "Not equal to tolerance"  # in the words of numpy: the numbers are wrong, nothing else
POWERS = 3 ** np.arange(9)

Q = dict[Any, np.ndarray]  # [action] by state


@cache
def graph() -> Graph:
    found = Graph.of(GAME)
    assert found is not None
    return found


@cache
def many() -> Many:
    return Many(GAME)


def states_of(table: Q) -> np.ndarray:
    return np.array(list(table), np.uint64)


def rows_of(states: Any) -> list[tuple[int, ...]]:
    return [tuple(map(int, row)) for row in states]


# Exact values, straight from the definitions.


def solved(potential: Callable[[Any], float] = lambda _state: 0.0) -> Q:
    """Q(s, a) = r, or -g * max Q(s', a'); every reward shaped by a potential, if there is one."""
    found: Q = {}
    for state, after in graph().children.items():
        if not after:
            continue
        found[state] = np.full(9, HUGE)
        for action, child in after.items():
            over, value = GAME.result(child)
            reward = -value if over else 0
            reward += -potential(state) - GAMMA * (0 if over else potential(child))
            later = 0.0 if over else best(found, child)
            found[state][action] = reward - GAMMA * later
    return found


@cache
def exact() -> Q:
    return solved()


def best(table: Q, state: Any) -> float:
    return max(table[state][action] for action in graph().children[state])


@cache
def answered(replies: Callable[[Any], dict[int, float]]) -> Q:
    """The best answer to an opponent who plays by chances: what own moves are worth."""
    found: Q = {}
    for state, after in graph().children.items():
        if not after:
            continue
        found[state] = np.full(9, HUGE)
        for action, child in after.items():
            over, value = GAME.result(child)
            found[state][action] = -value if over else 0.0
            for reply, chance in ({} if over else replies(child)).items():
                later = graph().children[child][reply]
                ended, lost = GAME.result(later)
                worth = lost if ended else GAMMA * best(found, later)
                found[state][action] += chance * worth
    return found


def evenly(state: Any) -> dict[int, float]:
    actions = graph().children[state]
    return dict.fromkeys(actions, 1 / len(actions))


def test_the_exact_values_are_those_of_the_graph() -> None:
    table = exact()
    assert len(table) == 4520
    for state in table:
        values = graph().judge(state).values
        assert all(np.sign(table[state][a]) == value for a, value in values.items())
    assert best(table, (0, 0, 0)) == 0
    assert best(answered(evenly), (0, 0, 0)) == pytest.approx(0.9947 * GAMMA**2, abs=0.05)


# Transitions, as the learner gets them.


def nth_legal(number: int) -> selfplay.Policy:
    """The n-th legal action, or the last."""

    def choose(_states: Any, legal: Any) -> Any:
        wanted = np.minimum(number + 1, legal.sum(1))
        return (legal.cumsum(1) == wanted[:, None]).argmax(1)

    return choose


def greedy(table: Q, rng: np.random.Generator) -> selfplay.Policy:
    """A best action, equals by chance."""

    def choose(states: Any, legal: Any) -> Any:
        values = np.array([table[row] for row in rows_of(states)])
        return masked_argmax(np.round(values, 6) + 1e-7 * rng.random(values.shape), legal)

    return choose


def joined(parts: list[Transitions]) -> Transitions:
    return Transitions(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def everywhere(
    player: type[Acting] = Acting, rules: type[Rules] = Rules, **more: Any
) -> Transitions:
    """Every action of every state, one step each."""
    states = states_of(exact())
    parts = []
    for number in range(9):
        playing = player(many(), rules(len(states), GAMMA), np.random.default_rng(number), **more)
        playing.states = states.copy()
        parts.append(playing.step(nth_legal(number), None, 0.0))
    return joined(parts)


def played(
    steps: int,
    table: Q,
    *,
    player: type[Acting] = Acting,
    rules: type[Rules] = Rules,
    opponent: selfplay.Policy | None = None,
    plies: int = 40,
    potential: selfplay.Potential | None = None,
    **more: Any,
) -> Transitions:
    """Best play by a table, from everywhere, both seats by turns."""
    rng = np.random.default_rng(steps)
    asked = rules(200, GAMMA, steps, sampled=0.8, **more)
    playing = player(many(), asked, rng, potential)
    chooser = greedy(table, rng)
    return joined([playing.step(chooser, opponent, 0.0) for _ in range(plies)])


# The checks. Each takes what it judges, so that mistakes can take its place.


def check_targets(
    rows: Transitions, table: Q, targets: Callable[..., Any] = dqn.targets, *, double: bool = True
) -> None:
    """Where a table has the later states' values, targets are its values of the actions."""
    nothing = np.full(9, HUGE)  # a network says something about finished games, too
    later = torch.tensor(np.array([table.get(row, nothing) for row in rows_of(rows.later)]))
    legal = torch.from_numpy(many().masks(rows.later))
    found = targets(
        torch.tensor(rows.returns), torch.tensor(rows.factors), later, later, legal, double=double
    )
    here = np.array([table[row] for row in rows_of(rows.states)])
    wanted = np.take_along_axis(here, rows.actions[:, None], 1)[:, 0]
    np.testing.assert_allclose(found.numpy(), wanted, atol=1e-5)


def check_coverage(rows: Transitions) -> None:
    seen = set(zip(rows_of(rows.states), rows.actions.tolist(), strict=True))
    pairs = {(s, a) for s, after in graph().children.items() for a in after}
    assert seen == pairs
    assert len(pairs) == 16167


@pytest.mark.parametrize("double", [True, False])
def test_one_step_says_what_exact_play_says(double: bool) -> None:
    rows = everywhere()
    check_coverage(rows)
    check_targets(rows, exact(), double=double)


def test_random_play_says_the_same() -> None:
    rng = np.random.default_rng(0)
    playing = Acting(many(), Rules(500, GAMMA), rng)
    rows = joined([playing.step(nth_legal(0), None, 1.0) for _ in range(30)])
    assert set(rows.states[:, 2].tolist()) == {0, 1}
    assert (rows.factors == 0).any()
    check_targets(rows, exact())


@pytest.mark.parametrize("steps", [2, 3, 4, 9])
def test_several_steps_of_best_play_say_the_same(steps: int) -> None:
    rows = played(steps, exact())
    assert set(rows.states[:, 2].tolist()) == {0, 1}
    # Ends at every distance, and with enough steps left nothing but ends.
    powers = {0.0, *([] if steps == 9 else [(-GAMMA) ** steps])}
    assert {round(float(f), 6) for f in rows.factors} == {round(p, 6) for p in powers}
    check_targets(rows, exact())


def test_transitions_against_an_opponent_are_of_both_sides_in_self_play() -> None:
    """Whoever chose the moves: the value behind one step is that of best play."""
    rows = played(1, exact(), opponent=selfplay.random_policy(np.random.default_rng(9)))
    assert set(rows.states[:, 2].tolist()) == {0, 1}
    check_targets(rows, exact())


# Answers to an opponent.


def check_expectation(player: type[Acting] = Acting, rules: type[Rules] = Rules) -> None:
    """Over all replies, the mean of the targets is the exact answer to a random opponent."""
    table = answered(evenly)
    triples = [
        (state, action, reply)
        for state, after in graph().children.items()
        for action, child in after.items()
        for reply in graph().children[child]
    ]
    states, actions, replies = (np.array(column) for column in zip(*triples, strict=True))
    playing = player(many(), rules(len(triples), GAMMA, response=True), np.random.default_rng(0))
    playing.states, playing.seats = states.astype(np.uint64), states[:, 2]
    first = playing.step(lambda _s, _l: actions, lambda _s, _l: replies, 0.0)
    assert len(first.actions) == 0
    rows = playing.step(lambda _s, _l: actions, lambda _s, _l: replies, 0.0)
    assert (rows.actions == actions).all()
    best_later = np.array(
        [best(table, row) if graph().children[row] else HUGE for row in rows_of(rows.later)]
    )
    samples = rows.returns + np.where(rows.factors == 0, 0, rows.factors * best_later)
    sums: dict[Any, list[float]] = {}
    for state, action, sample in zip(rows_of(states), actions.tolist(), samples, strict=True):
        sums.setdefault((state, action), []).append(float(sample))
    found = [np.mean(samples) for samples in sums.values()]
    np.testing.assert_allclose(found, [table[s][a] for s, a in sums], atol=1e-5)


def test_an_answer_to_a_random_opponent() -> None:
    check_expectation()


def test_an_answer_begins_with_own_moves_and_ends_count_for_their_owner() -> None:
    opponent = selfplay.random_policy(np.random.default_rng(3))
    playing = Acting(many(), Rules(100, GAMMA, response=True), np.random.default_rng(4))
    rows = joined([playing.step(nth_legal(0), opponent, 1.0) for _ in range(30)])
    assert set(rows.factors.tolist()) == {0.0, np.float32(GAMMA)}
    assert set(rows.returns.tolist()) == {1.0, 0.0, -1.0}
    assert {-1, 1} <= set(playing.finished)
    seat = Acting(many(), Rules(50, seats=(1,), response=True), np.random.default_rng(5))
    rows = joined([seat.step(nth_legal(0), opponent, 1.0) for _ in range(20)])
    assert set(rows.states[:, 2].tolist()) == {1}


def first_reply(state: Any) -> dict[int, float]:
    return {min(graph().children[state]): 1.0}


def last_reply(state: Any) -> dict[int, float]:
    return {max(graph().children[state]): 1.0}


@pytest.mark.parametrize("steps", [1, 2, 3])
@pytest.mark.parametrize(("reply", "number"), [(first_reply, 0), (last_reply, 8)])
def test_an_answer_to_an_opponent_that_is_known(reply: Any, number: int, steps: int) -> None:
    table = answered(reply)
    rows = played(steps, table, opponent=nth_legal(number), response=True)
    assert set(rows.states[:, 2].tolist()) == {0, 1}
    check_targets(rows, table)
    with pytest.raises(AssertionError, match=DIFFER):
        check_targets(rows, exact())  # best play is another thing


# Rules where a move can lose.


def test_a_losing_three_is_bad_for_who_makes_it() -> None:
    game = z.game("squava")
    for board, move, reward in (
        ("XX.../OO.O./...../...../.....", "c1", -1.0),  # three: X loses
        ("XX.X./OO.O./...../...../.....", "c1", 1.0),  # four: X wins
        ("XX.../OO.../...../...../.....", "e5", 0.0),
    ):
        position = game.position(board, 0, unchecked=True)
        playing = Acting(Many(game), Rules(1, GAMMA), np.random.default_rng(0))
        playing.states = np.array([position.state], np.uint64)
        action = game.parse_action(move)
        rows = playing.step(lambda _s, _l, a=action: np.array([a]), None, 0.0)
        assert rows.returns.tolist() == [reward]
        assert rows.factors.tolist() == [0.0 if reward else pytest.approx(-GAMMA)]
        assert playing.finished == ([int(reward)] if reward else [])


# What chooses, and what says how good it is.


def test_double_chooses_by_one_network_and_values_by_the_other() -> None:
    online = torch.tensor([[9.0, 1.0, 2.0, 0.0]])
    slow = torch.tensor([[8.0, 0.5, 0.25, 0.75]])
    legal = torch.tensor([[False, True, True, True]])
    asked = partial(dqn.targets, torch.tensor([0.5]), torch.tensor([-2.0]), online, slow, legal)
    assert asked(double=True).tolist() == [0.5 - 2 * 0.25]
    assert asked(double=False).tolist() == [0.5 - 2 * 0.75]


def test_the_best_legal_action() -> None:
    values = np.array([[HUGE, -3.0, -2.0], [0.0, 0.0, HUGE]])
    legal = np.array([[False, True, True], [True, True, False]])
    assert masked_argmax(values, legal).tolist() == [2, 0]


def check_dueling(
    net: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], plain: QNetwork
) -> None:
    """Over the legal actions, what actions add to the state's value is nothing on average."""
    torch.manual_seed(0)
    states = many().sampled(50, 8, 1)
    x = torch.from_numpy(Encoder("cells", GAME)(states))
    legal = torch.from_numpy(many().masks(states))
    plain.eval()
    with torch.no_grad():
        found, value = net(x, legal), plain.state(plain.body(x))[:, 0]  # type: ignore[misc]
        raw = plain.actions(plain.body(x))
    mean = (found * legal).sum(1) / legal.sum(1)
    np.testing.assert_allclose(mean, value, atol=1e-5)
    np.testing.assert_allclose(found - found[:, :1], raw - raw[:, :1], atol=1e-5)


def test_dueling_takes_the_mean_over_legal_actions() -> None:
    net = QNetwork(Shape(hidden=(16,), dueling=True), (9,), 9)
    check_dueling(net, net)
    with pytest.raises(AssertionError, match=DIFFER):
        check_dueling(lambda x, legal: net(x, torch.ones_like(legal)), net)


# The learner itself, with a table for a network.


class Table(QNetwork):
    """The exact values as a network over encoded states: 1 own, -1 the other's."""

    def __init__(self, table: Q) -> None:
        super().__init__(Shape(hidden=(1,)), (9,), 9)
        rows = np.full((3**9, 9), HUGE)
        rows[code(Encoder("cells", GAME)(states_of(table)))] = list(table.values())
        self.register_buffer("rows", torch.tensor(rows, dtype=torch.float32))

    def forward(self, x: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:  # noqa: ARG002
        rows = self.rows[code(x.numpy())]  # type: ignore[index]
        return rows + 0.0 * self.actions.bias.sum()  # something to learn, which changes nothing


def code(cells: Any) -> Any:
    return (cells + 1).astype(np.int64) @ POWERS


def learner(canonical: bool, **more: Any) -> dqn.Learner:
    settings = dqn.Settings(canonical=canonical, average=0.5, **more)
    return dqn.Learner(Table(exact()), Encoder("cells", GAME), many(), settings)


def check_learner(learns: dqn.Learner, rows: Transitions) -> None:
    number = len(rows.actions)
    loss, _, errors = learns.learn(
        Batch(rows, np.arange(number), np.ones(number, np.float32)), 1e-3
    )
    np.testing.assert_allclose(errors, 0, atol=1e-5)
    assert loss < 1e-9


@pytest.mark.parametrize("canonical", [True, False])
@pytest.mark.parametrize("double", [True, False])
def test_a_learner_that_knows_everything_is_never_wrong(canonical: bool, double: bool) -> None:
    check_learner(learner(canonical, double=double), everywhere())
    check_learner(learner(canonical, double=double), played(3, exact()))


def test_symmetric_states_have_the_same_values_at_permuted_actions() -> None:
    table = exact()
    states, wanted = states_of(table), np.array(list(table.values()))
    legal = many().masks(states)
    for canonical in (True, False):
        found = learner(canonical).values(states)
        np.testing.assert_allclose(found[legal], wanted[legal], atol=1e-5)
    # A network that sees one image only is as good as the image it sees.
    torch.manual_seed(1)
    net = QNetwork(Shape(hidden=(16,)), (9,), 9)
    seen = dqn.Learner(net, Encoder("cells", GAME), many(), dqn.Settings())
    for symmetry in GAME.symmetries():
        images = np.array([GAME.moved(s, symmetry) for s in table], np.uint64)  # type: ignore[attr-defined]
        same = many().canonical(images)[0] == many().canonical(states)[0]
        assert same.all()
        turned, plain = seen.values(images), seen.values(states)
        moved = np.take_along_axis(turned, np.tile(symmetry.actions, (len(states), 1)), 1)
        best_moved = np.where(legal, moved, -np.inf).max(1)
        np.testing.assert_allclose(best_moved, np.where(legal, plain, -np.inf).max(1), atol=1e-6)


# Shaping.


def noise_potential() -> selfplay.Potential:
    """Any number for every state: shaping must bear all potentials."""
    table = np.random.default_rng(7).normal(size=3**9)
    encoder = Encoder("cells", GAME)
    return lambda states: table[code(encoder(states))]


def potential_of(name: str) -> selfplay.Potential:
    return noise_potential() if name == "noise" else shaping.make("patterns", many())


def valued(potential: selfplay.Potential) -> Callable[[Any], float]:
    """The same for one state, quickly."""
    states = states_of(exact())
    return dict(zip(exact(), potential(states).tolist(), strict=True)).__getitem__


@pytest.mark.parametrize("name", ["noise", "patterns"])
def test_a_shaped_game_has_the_same_best_moves(name: str) -> None:
    """By recursion: Q of the shaped game is Q - P(state), whatever P is."""
    value = valued(potential_of(name))
    shaped = solved(value)
    for state, values in exact().items():
        legal = list(graph().children[state])
        np.testing.assert_allclose(shaped[state][legal], values[legal] - value(state), atol=1e-9)
    assert any(value(state) for state in exact())


def check_shaping(name: str, player: type[Acting] = Acting, steps: int = 1) -> None:
    potential = potential_of(name)
    table = solved(valued(potential))
    rows = played(steps, table, player=player, potential=potential)
    check_targets(rows, table)


@pytest.mark.parametrize("name", ["noise", "patterns"])
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_shaped_transitions_say_what_the_shaped_game_says(name: str, steps: int) -> None:
    check_shaping(name, steps=steps)


def test_shaping_adds_nothing_to_whole_games_but_the_first_potential() -> None:
    potential = noise_potential()
    plain, shaped = (played(9, exact(), potential=p) for p in (None, potential))
    np.testing.assert_array_equal(plain.states, shaped.states)
    added = shaped.returns - plain.returns
    np.testing.assert_allclose(added, -potential(plain.states), atol=1e-5)


def test_shaping_an_answer_is_that_of_a_single_agent() -> None:
    """The opponent is part of the world, and so is what their moves do to the potential."""
    potential = noise_potential()
    value, table = valued(potential), answered(first_reply)
    shaped = {state: values - value(state) for state, values in table.items()}
    for steps in (1, 2):
        rows = played(steps, table, opponent=nth_legal(0), response=True, potential=potential)
        check_targets(rows, shaped)


# Mistakes, each put in on purpose: the checks above must see them.


class PlusGamma(Rules):
    """As if both sides wanted the same."""

    def discount(self, ply: int) -> float:
        return float(self.gamma**ply)


class SignsOnly(Rules):
    """A reply counts as a move of one's own."""

    def discount(self, ply: int) -> float:
        return float((-self.gamma) ** ply)


class Flipped(Acting):
    """Rewards of the other side."""

    def _complete(self, states: Any, actions: Any, rewards: Any, *more: Any) -> Transitions:
        return super()._complete(states, actions, -rewards, *more)


class Endless(Acting):
    """The end is not seen as one."""

    def _complete(self, states: Any, actions: Any, rewards: Any, after: Any, over: Any,
                  begins: Any) -> Transitions:  # fmt: skip
        return super()._complete(states, actions, rewards, after, over & False, begins)


class Backwards(Acting):
    """A move far from the end gets more of the result than one that brings it about."""

    def _complete(self, *given: Any) -> Transitions:
        rows = super()._complete(*given)
        plies = np.bitwise_count(rows.later[:, :2]).sum(1)
        moves = np.bitwise_count(rows.states[:, :2]).sum(1) + 1
        scale = 0.5 + 0.5 * (plies - moves) / plies
        return rows._replace(returns=np.sign(rows.returns) * scale)


class SingleAgent(Acting):
    """Shaping as in the literature of one agent."""

    def _shaped(self, states: Any, after: Any, over: Any, own: Any) -> Any:  # noqa: ARG002
        assert self.potential is not None
        later = np.where(over, 0.0, self.potential(after))
        return (self.rules.gamma * later - self.potential(states)).astype(np.float32)


right = dqn.targets  # also where it is replaced


def unmasked(
    returns: Any, factors: Any, online: Any, slow: Any, legal: Any, *, double: bool
) -> Any:
    return right(returns, factors, online, slow, torch.ones_like(legal), double=double)


def worst(returns: Any, factors: Any, online: Any, slow: Any, legal: Any, *, double: bool) -> Any:
    """The other side's worst move in the place of its best."""
    later = slow.masked_fill(~legal, 1e9).min(1).values
    return returns + torch.where(factors == 0, 0.0, factors * later)


MISTAKES: dict[str, Callable[[], None]] = {
    "plus gamma, one step": lambda: check_targets(everywhere(rules=PlusGamma), exact()),
    "plus gamma, three steps": lambda: check_targets(played(3, exact(), rules=PlusGamma), exact()),
    "rewards flipped": lambda: check_targets(everywhere(Flipped), exact()),
    "the end ignored": lambda: check_targets(everywhere(Endless), exact()),
    "no legal mask": lambda: check_targets(everywhere(), exact(), unmasked),
    "no legal mask, single": lambda: check_targets(everywhere(), exact(), unmasked, double=False),
    "the worst reply": lambda: check_targets(everywhere(), exact(), worst),
    "results scaled backwards": lambda: check_targets(
        played(9, exact(), player=Backwards), exact()
    ),
    "shaped as for one agent": lambda: check_shaping("noise", SingleAgent),
    "shaped as for one agent, patterns": lambda: check_shaping("patterns", SingleAgent),
    "replies discounted as moves": lambda: check_expectation(rules=SignsOnly),
    "an answer with rewards flipped": lambda: check_expectation(Flipped),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_seen(name: str) -> None:
    with pytest.raises(AssertionError, match=DIFFER):
        MISTAKES[name]()


def test_an_action_that_is_not_permuted_is_seen() -> None:
    wrong = learner(canonical=True)
    wrong.many = Many(GAME)
    wrong.many.action_maps = np.tile(np.arange(9), (8, 1))
    with pytest.raises(AssertionError, match=DIFFER):
        check_learner(wrong, everywhere())


def test_a_learner_with_a_wrong_target_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    for mistake in (unmasked, worst):
        monkeypatch.setattr(dqn, "targets", mistake)
        with pytest.raises(AssertionError, match=DIFFER):
            check_learner(learner(canonical=True), everywhere())


def test_exported_dueling_networks_take_the_same_mean() -> None:
    from zermelo.learn.networks.numpy_inference import Forward

    torch.manual_seed(2)
    net = QNetwork(Shape(hidden=(16,), dueling=True), (9,), 9)
    plain = Forward(q_network.exported(net), net.shape.to_json(), (9,))
    check_dueling(lambda x, legal: torch.from_numpy(plain(x.numpy(), legal.numpy())), net)
