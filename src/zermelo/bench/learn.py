"""Learning: the speed of our recipes, and who learns unbeatable tic-tac-toe in what time.

The last is the same for all systems: one core, one torch thread, the CPU time of this process
while it trains. At a fixed rhythm of that time, with the clock stopped, the greedy policy, illegal
moves masked, is graded over all states. It is reached when no line beats it in either seat.

Every system goes on until then, or until its budget is spent, and not only as far as its own
users' examples go.
"""

import importlib
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from zermelo.bench import actors, measure
from zermelo.core.game import WordGame
from zermelo.games import registry
from zermelo.grading.chances import Chances, chances
from zermelo.grading.graph import Graph
from zermelo.learn.batch.exams import exam_for
from zermelo.learn.batch.game_batch import Many
from zermelo.learn.config import recipes
from zermelo.learn.dqn.selfplay import Acting, masked_argmax
from zermelo.learn.dqn.trainer import Deep

RECIPES = ("tictactoe-dqn", "gomoku6-dueling")  #: whose speed is measured
TASK = "unbeatable"
_GAME = "tictactoe"
_RECIPE = "tictactoe-dqn"
_UPDATES = 400  # after a tenth as many that only warm up
_RHYTHM = 0.1  # CPU seconds of training between two grades
_SECONDS = 5.0  # of play by an actor, about
_WARM = 1.0  # CPU seconds of a training that is thrown away
_ENDLESS = 10**9  # steps of a peer that its budget ends
_CAVEAT = (
    "stable_baselines3 plays one side against a random opponent: what it learns is the best answer "
    "to that, which a better opponent may beat"
)

Values = Callable[[], Any]  #: Q of every state of the examiner and every action
Training = Callable[["Examiner", int], None]  #: with a seed, until the examiner has seen enough


def run(
    budget: float, seeds: int, progress: Callable[[str], None], updates: int = _UPDATES
) -> dict[str, Any]:
    """Measure ours, and the peers that are installed; `budget` CPU seconds a training."""
    # First what takes several cores: whoever starts later has one.
    rows = [actors.played(name, _SECONDS, progress) for name in actors.RECIPES]
    notes = []
    measure.use_one_core()
    for name in RECIPES:  # before the peers: it also leaves torch one thread
        progress(f"{name}: {updates} updates")
        rows += _speed(name, updates, seeds)
    systems = {"zermelo": _ours, "stable_baselines3": _stable_baselines3, "open_spiel": _open_spiel}
    best = None  # of ours
    for system, train in systems.items():
        if system != "zermelo" and not measure.is_installed(system):
            notes.append(f"{system} is not installed: not measured")
            continue
        try:
            outcomes = _outcomes(system, train, budget, seeds, progress)
        except ImportError as error:
            notes.append(f"{system} cannot learn here, not measured: {error}")
            continue
        typical = sorted(outcomes, key=Outcome.order)[len(outcomes) // 2]
        best = typical if system == "zermelo" else best
        rows.append(_row(system, typical, outcomes))
        notes += _notes(system, typical, best)
        notes += [_CAVEAT] if system == "stable_baselines3" else []
    return measure.report("learn", rows, notes)


def _speed(name: str, updates: int, seeds: int) -> list[dict[str, Any]]:
    """Updates a second of the whole loop, and the transitions that it collects beside them.

    The schedules are those of the recipe in small, so that the shares of random moves are its own.
    """
    recipe = recipes.load(name)
    learning, games, warm = recipe.learning, recipe.acting.games, max(1, updates // 10)
    recipe = replace(recipe, learning=replace(learning, updates=warm + updates))
    rates = []
    for seed in range(seeds):
        trainer = _trainer(recipe, seed)
        acting = trainer.acting
        assert isinstance(acting, Acting)  # it plays for itself
        plies = begin = 0.0
        for report in trainer.steps():
            if report.update == warm:
                plies, begin = acting.plies, time.process_time()
        spent = time.process_time() - begin
        rates.append((updates / spent, (acting.plies - plies) * games / spent))
    both = [statistics.median(some) for some in zip(*rates, strict=True)]
    more = {"batch": learning.batch, "games": games}
    return [
        measure.row(recipe.game, task, "zermelo", rate, f"{task}/s", **more)
        for task, rate in zip(("updates", "positions"), both, strict=True)
    ]


def _trainer(recipe: recipes.Recipe, seed: int) -> Deep:
    trainer = actors.trainer_for(recipe, seed=seed)
    assert isinstance(trainer, Deep)
    return trainer


@dataclass(frozen=True)
class Outcome:
    """How a training stood when it was last graded."""

    seconds: float  #: of training by then
    reached: bool  #: whether no line beats it
    mistakes: int  #: states where its move lowers the value; some it may never come to
    vs_random: tuple[Chances, Chances]  #: as first, as second

    def order(self) -> tuple[bool, float, int]:
        """The better first."""
        return (not self.reached, self.seconds, self.mistakes)


class Examiner:
    """Stops the clock, grades a policy over all states, and says when that was enough."""

    def __init__(self, spec: str, budget: float) -> None:
        game = registry.game(spec)
        assert isinstance(game, WordGame)
        graph, exam = Graph.of(game), exam_for(game)
        assert graph is not None
        assert exam is not None
        self.game, self.budget, self._graph, self._exam = game, budget, graph, exam
        self.states = exam.states  #: [row, word]: all that are not over
        self._legal = Many(game).masks(self.states)
        self.outcome: Outcome | None = None
        self.seconds = self._due = self._since = 0.0

    def begin(self) -> None:
        """A training begins: the clock runs, the first grade is due."""
        self.outcome, self.seconds, self._due = None, 0.0, 0.0
        self._since = time.process_time()

    def is_done(self, values: Values) -> bool:
        """Whether the training may end; asked after every step of it."""
        now = time.process_time()
        self.seconds += now - self._since
        spent = self.seconds >= self.budget
        if spent or self.seconds >= self._due:
            self.outcome = self.graded(values())
            self._due = self.seconds + _RHYTHM
            now = time.process_time()
        self._since = now
        return spent or (self.outcome is not None and self.outcome.reached)

    def graded(self, values: Any) -> Outcome:
        """By the best legal actions; the clock is not asked."""
        actions = masked_argmax(values, self._legal)
        answers = dict(zip(map(tuple, self.states.tolist()), actions.tolist(), strict=True))
        first, second = (
            chances(self._graph, seat, lambda state: (answers[state],)) for seat in (0, 1)
        )
        # A random opponent plays every reply some time: no loss against it is none at all. That
        # is enough in a drawn game.
        assert self._graph.value(self.game.initial()) == 0
        reached = first.loss == second.loss == 0
        mistakes = round(self._exam.mistakes(actions) * len(actions))
        return Outcome(self.seconds, reached, mistakes, (first, second))


def _outcomes(
    system: str, train: Training, budget: float, seeds: int, progress: Callable[[str], None]
) -> list[Outcome]:
    """Of a training with every seed, after one that only loads and compiles."""
    progress(f"{_GAME} with {system}: warming up")
    train(Examiner(_GAME, min(_WARM, budget)), seeds)
    examiner = Examiner(_GAME, budget)
    outcomes = []
    for seed in range(seeds):
        progress(f"{_GAME} with {system}: training {seed + 1} of {seeds}, up to {budget:g} s")
        train(examiner, seed)
        assert examiner.outcome is not None
        outcomes.append(examiner.outcome)
    return outcomes


def _row(system: str, typical: Outcome, outcomes: list[Outcome]) -> dict[str, Any]:
    """The typical training; one of ours that ends without success counts as nothing."""
    counts = typical.reached or system != "zermelo"
    found = measure.row(
        _GAME,
        TASK,
        system,
        1 / typical.seconds if counts else 0.0,
        "1/s",
        seconds=typical.seconds,
        mistakes=typical.mistakes,
        reached=sum(outcome.reached for outcome in outcomes),
        trainings=len(outcomes),
    )
    first, second = typical.vs_random
    slowest = max(outcome.seconds for outcome in outcomes)
    return found | {
        "slowest": measure.rounded(slowest),
        "vs_random": {"first": first.to_json(), "second": second.to_json()},
    }


def _notes(system: str, typical: Outcome, best: Outcome | None) -> list[str]:
    """What a row cannot say: that, and how far, a policy can still be beaten."""
    if typical.reached:
        return []
    first, second = (
        " / ".join(f"{100 * float(part):.1f}" for part in (each.win, each.draw, each.loss))
        for each in typical.vs_random
    )
    note = (
        f"{system}: not reached in {typical.seconds:.4g} s; it errs in {typical.mistakes:,} "
        f"positions, and against random wins / draws / loses {first}% as first, {second}% as second"
    )
    if best is None or not best.reached:
        return [note]
    if system != "zermelo":
        least = typical.seconds / best.seconds
        note += f"; the ratio is with its budget: ours is at least {least:.3g} times as fast"
    return [note]


def _ours(examiner: Examiner, seed: int) -> None:
    """The recipe, by self-play; what plays is the average of the weights, as in the end."""
    trainer = _trainer(recipes.load(_RECIPE), seed)
    examiner.begin()
    for _ in trainer.steps():
        if examiner.is_done(lambda: trainer.values(examiner.states)):
            return


def _stable_baselines3(examiner: Examiner, seed: int) -> None:
    """Its DQN in our Gymnasium environment against random, the seats by turns.

    It knows no masks: an illegal action loses while it trains. The settings are the best of a few
    that were tried for half a minute each.
    """
    dqn = importlib.import_module("stable_baselines3").DQN
    from zermelo.envs.gymnasium_env import GameEnv
    from zermelo.envs.planes import Planes

    class BothSeats(GameEnv):
        """The other seat with every game."""

        def reset(
            self, *, seed: int | None = None, options: dict[str, Any] | None = None
        ) -> tuple[Any, dict[str, Any]]:
            self.seat = 1 - self.seat
            return super().reset(seed=seed, options=options)

    planes, game = Planes(examiner.game), examiner.game
    states = [tuple(map(int, state)) for state in examiner.states]
    observed = np.array([planes.observe(state, game.player(state)) for state in states])
    model = dqn(
        "MlpPolicy",
        BothSeats(game.spec, opponent="random"),
        learning_rate=1e-3,
        buffer_size=50_000,
        learning_starts=1000,
        batch_size=256,
        gamma=1.0,
        train_freq=8,
        target_update_interval=500,
        exploration_fraction=50_000 / _ENDLESS,
        exploration_final_eps=0.05,
        policy_kwargs={"net_arch": [128, 128]},
        seed=seed,
        device="cpu",
    )

    def values() -> Any:
        tensor, _ = model.policy.obs_to_tensor(observed)
        return model.q_net(tensor).detach().numpy()

    examiner.begin()
    model.learn(_ENDLESS, callback=lambda _locals, _globals: not examiner.is_done(values))


def _open_spiel(examiner: Examiner, seed: int) -> None:
    """Its DQN in torch, two agents that learn by playing each other, as in its examples.

    The settings are the best of a few that were tried for half a minute each.
    """
    torch = importlib.import_module("torch")
    dqn = importlib.import_module("open_spiel.python.pytorch.dqn")
    env = importlib.import_module("open_spiel.python.rl_environment").Environment("tic_tac_toe")
    agents = [
        dqn.DQN(
            player_id=seat,
            state_representation_size=env.observation_spec()["info_state"][0],
            num_actions=env.action_spec()["num_actions"],
            hidden_layers_sizes=[128, 128],
            replay_buffer_capacity=50_000,
            batch_size=64,
            learning_rate=1e-3,
            optimizer_str="adam",
            learn_every=4,  # the first 2 steps leave it nothing to learn from: it would fail
            update_target_network_every=500,
            epsilon_decay_schedule_str="linear",
            epsilon_decay_duration=20_000,  # of its steps, in about 5,000 episodes
            epsilon_end=0.1,
            seed=2 * seed + seat,
        )
        for seat in (0, 1)
    ]
    observed = torch.tensor(_observations(examiner), dtype=torch.float32)
    movers = examiner.states[:, -1].astype(np.int64)[:, None]

    def values() -> Any:
        first, second = (agent._q_network(observed).detach().numpy() for agent in agents)  # noqa: SLF001
        return np.where(movers == 0, first, second)

    examiner.begin()
    while not examiner.is_done(values):
        step = env.reset()
        while not step.last():
            mover = step.observations["current_player"]
            step = env.step([agents[mover].step(step).action])
        for agent in agents:
            agent.step(step)


def _observations(examiner: Examiner) -> list[list[float]]:
    """All states as OpenSpiel shows them to who moves."""
    game = examiner.game
    theirs = importlib.import_module("pyspiel").load_game("tic_tac_toe").new_initial_state()
    found: dict[Any, list[float]] = {}
    waiting = [(game.initial(), theirs)]
    while waiting:
        state, theirs = waiting.pop()
        if state in found or theirs.is_terminal():
            continue
        found[state] = theirs.observation_tensor(theirs.current_player())
        waiting += [(game.play(state, a), theirs.child(a)) for a in theirs.legal_actions()]
    return [found[tuple(map(int, state))] for state in examiner.states]
