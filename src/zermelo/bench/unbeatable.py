"""Measure how long our DQN and those of other libraries take to be unbeatable at tic-tac-toe.

The conditions are the same for all: one core, one torch thread, and the CPU time of this process
during training. At regular intervals, with the clock stopped, the greedy policy (with illegal moves
masked) is graded over all states. The goal is reached when no line of play beats the policy in
either seat. Every system trains until it reaches the goal or its budget is spent, even if the
examples of its library stop earlier.
"""

import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from zermelo.bench import actors, measure
from zermelo.bench.measure import ProgressFunction, Row
from zermelo.core.game import WordGame
from zermelo.games import registry
from zermelo.grading.graph import GameGraph
from zermelo.grading.random_opponent import OutcomeProbabilities, outcome_probabilities
from zermelo.learn.batch.evaluation_sets import build_evaluation_set
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.batch.policies import masked_argmax
from zermelo.learn.config import recipes

TASK = "unbeatable"
_GAME = "tictactoe"
_RECIPE = "tictactoe-dqn"
_GRADING_INTERVAL = 0.1  # CPU seconds of training between two gradings
_WARM_UP = 1.0  # CPU seconds of a first training run, whose result is discarded
_ENDLESS = 10**9  # number of training steps that is never reached: the budget ends the training
_CAVEAT = (
    "stable_baselines3 trains against a random opponent: it learns a best response to random "
    "play, which a better opponent may beat"
)

ValueFunction = Callable[[], np.ndarray]  #: returns Q values [state, action]
Training = Callable[["Examiner", int], None]  #: trains with a seed until the examiner is done


def measure_unbeatable(
    budget: float, seeds: int, progress: ProgressFunction
) -> tuple[list[Row], list[str]]:
    """Return the report's rows and notes, for Zermelo and for the installed libraries."""
    systems: dict[str, Training] = {
        "zermelo": _train_zermelo,
        "stable_baselines3": _train_stable_baselines3,
        "open_spiel": _train_open_spiel,
    }
    rows: list[Row] = []
    notes: list[str] = []
    ours = None
    for system, train in systems.items():
        if system != "zermelo" and not measure.is_installed(system):
            notes.append(f"{system} is not measured: it is not installed")
            continue
        try:
            outcomes = _train_all_seeds(system, train, budget, seeds, progress)
        except ImportError as error:
            notes.append(f"{system} is not measured: its DQN cannot be imported: {error}")
            continue
        median = sorted(outcomes, key=TrainingOutcome.rank)[len(outcomes) // 2]
        ours = median if system == "zermelo" else ours
        rows.append(_create_row(system, median, outcomes))
        notes += _create_notes(system, median, ours)
        notes += [_CAVEAT] if system == "stable_baselines3" else []
    return rows, notes


@dataclass(frozen=True)
class TrainingOutcome:
    """The grade of a policy at one point of its training."""

    seconds: float  #: CPU time of training so far
    is_unbeatable: bool  #: whether no line of play beats the policy
    mistakes: int  #: number of states, reachable or not, in which its move lowers the value
    #: results against random play, as first and as second player
    vs_random: tuple[OutcomeProbabilities, OutcomeProbabilities]

    def rank(self) -> tuple[bool, float, int]:
        """Return a sort key by which the best outcome comes first."""
        return (not self.is_unbeatable, self.seconds, self.mistakes)


class Examiner:
    """Grades a policy on all states from time to time, and tells when its training may end."""

    def __init__(self, spec: str, budget: float) -> None:
        game = registry.game(spec)
        assert isinstance(game, WordGame)
        graph, evaluation_set = GameGraph.build(game), build_evaluation_set(game)
        assert graph is not None
        assert evaluation_set is not None
        self.game, self.budget = game, budget
        self._graph, self._evaluation_set = graph, evaluation_set
        self.states = evaluation_set.states  #: [row, word]: all nonterminal states
        self._legal = GameBatch(game).legal_masks(self.states)
        self.outcome: TrainingOutcome | None = None  #: result of the latest grading
        self.seconds = self._next_grading = self._clock_started = 0.0

    def begin(self) -> None:
        """Start the clock of a training run; the first grading is due immediately."""
        self.outcome, self.seconds, self._next_grading = None, 0.0, 0.0
        self._clock_started = time.process_time()

    def is_done(self, values: ValueFunction) -> bool:
        """Return whether the training may end; must be called after every training step."""
        now = time.process_time()
        self.seconds += now - self._clock_started
        is_over_budget = self.seconds >= self.budget
        if is_over_budget or self.seconds >= self._next_grading:
            self.outcome = self.grade(values())
            self._next_grading = self.seconds + _GRADING_INTERVAL
            now = time.process_time()
        self._clock_started = now
        return is_over_budget or (self.outcome is not None and self.outcome.is_unbeatable)

    def grade(self, values: np.ndarray) -> TrainingOutcome:
        """Grade the policy that is greedy with respect to `values` [state, action]."""
        actions = masked_argmax(values, self._legal)
        policy = dict(zip(map(tuple, self.states.tolist()), actions.tolist(), strict=True))
        first, second = (
            outcome_probabilities(self._graph, seat, lambda state: (policy[state],))
            for seat in (0, 1)
        )
        # A random opponent plays every reply with positive probability, so a policy that never
        # loses to it never loses at all. In a drawn game, such a policy is unbeatable.
        assert self._graph.value(self.game.initial()) == 0
        is_unbeatable = first.loss == second.loss == 0
        mistakes = round(self._evaluation_set.mistake_rate(actions) * len(actions))
        return TrainingOutcome(self.seconds, is_unbeatable, mistakes, (first, second))


def _train_all_seeds(
    system: str, train: Training, budget: float, seeds: int, progress: ProgressFunction
) -> list[TrainingOutcome]:
    """Train with each seed, and return the outcomes; a warm-up first loads and compiles code."""
    progress(f"{_GAME} with {system}: warm-up")
    train(Examiner(_GAME, min(_WARM_UP, budget)), seeds)
    examiner = Examiner(_GAME, budget)
    outcomes = []
    for seed in range(seeds):
        progress(f"{_GAME} with {system}: training {seed + 1} of {seeds}, up to {budget:g} s")
        train(examiner, seed)
        assert examiner.outcome is not None
        outcomes.append(examiner.outcome)
    return outcomes


def _create_row(system: str, median: TrainingOutcome, outcomes: list[TrainingOutcome]) -> Row:
    """Return the row of the median training run; our rate is 0 if that run missed the goal."""
    counts = median.is_unbeatable or system != "zermelo"
    row = measure.create_row(
        _GAME,
        TASK,
        system,
        1 / median.seconds if counts else 0.0,
        "1/s",
        seconds=median.seconds,
        mistakes=median.mistakes,
        reached=sum(outcome.is_unbeatable for outcome in outcomes),
        trainings=len(outcomes),
    )
    first, second = median.vs_random
    slowest = max(outcome.seconds for outcome in outcomes)
    return row | {
        "slowest": measure.round_figure(slowest),
        "vs_random": {"first": first.to_dict(), "second": second.to_dict()},
    }


def _create_notes(system: str, median: TrainingOutcome, ours: TrainingOutcome | None) -> list[str]:
    """Return no note if the median policy is unbeatable, else one with its mistakes and results."""
    if median.is_unbeatable:
        return []
    first, second = (
        " / ".join(f"{100 * float(share):.1f}" for share in (p.win, p.draw, p.loss))
        for p in median.vs_random
    )
    note = (
        f"{system}: not unbeatable after {median.seconds:.4g} s: mistakes in {median.mistakes:,} "
        f"positions; wins / draws / losses against random {first}% as first, {second}% as second"
    )
    if ours is not None and ours.is_unbeatable and system != "zermelo":
        factor = median.seconds / ours.seconds
        note += f"; the ratio uses its whole budget: zermelo is at least {factor:.3g} times as fast"
    return [note]


def _train_zermelo(examiner: Examiner, seed: int) -> None:
    """Train with our recipe, and grade the averaged weights, which are those used for play."""
    trainer = actors.create_trainer(recipes.load(_RECIPE), seed=seed)
    examiner.begin()
    for _ in trainer.steps():
        if examiner.is_done(lambda: trainer.values(examiner.states)):
            return


def _train_stable_baselines3(examiner: Examiner, seed: int) -> None:
    """Train Stable-Baselines3's DQN in our Gymnasium environment against a random opponent.

    The learner alternates between the seats. The DQN has no action masks, so an illegal action
    loses the game during training. The settings are the best of a few that were tried for half a
    minute each.
    """
    dqn = importlib.import_module("stable_baselines3").DQN
    from zermelo.envs.gymnasium_env import GameEnv
    from zermelo.envs.planes import Planes

    planes, game = Planes(examiner.game), examiner.game
    states = [tuple(map(int, state)) for state in examiner.states]
    observations = np.array([planes.observe(state, game.player(state)) for state in states])
    model = dqn(
        "MlpPolicy",
        GameEnv(game, opponent="random", seat="both"),
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
        tensor, _ = model.policy.obs_to_tensor(observations)
        return model.q_net(tensor).detach().numpy()

    examiner.begin()
    model.learn(_ENDLESS, callback=lambda _locals, _globals: not examiner.is_done(values))


def _train_open_spiel(examiner: Examiner, seed: int) -> None:
    """Train OpenSpiel's torch DQN: two agents that play each other, as in its examples.

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
            learn_every=4,  # the agent raises an error if it learns within its first 2 steps
            update_target_network_every=500,
            epsilon_decay_schedule_str="linear",
            epsilon_decay_duration=20_000,  # agent steps, or about 5,000 episodes
            epsilon_end=0.1,
            seed=2 * seed + seat,
        )
        for seat in (0, 1)
    ]
    observations = torch.tensor(_open_spiel_observations(examiner), dtype=torch.float32)
    movers = examiner.states[:, -1].astype(np.int64)[:, None]

    def values() -> np.ndarray:
        first, second = (
            agent._q_network(observations).detach().numpy()  # noqa: SLF001
            for agent in agents
        )
        q: np.ndarray = np.where(movers == 0, first, second)
        return q

    examiner.begin()
    while not examiner.is_done(values):
        step = env.reset()
        while not step.last():
            mover = step.observations["current_player"]
            step = env.step([agents[mover].step(step).action])
        for agent in agents:
            agent.step(step)


def _open_spiel_observations(examiner: Examiner) -> list[list[float]]:
    """Return OpenSpiel's observations of all states for the side to move."""
    game = examiner.game
    spiel_state = importlib.import_module("pyspiel").load_game("tic_tac_toe").new_initial_state()
    observations: dict[Any, list[float]] = {}
    frontier = [(game.initial(), spiel_state)]
    while frontier:
        state, spiel_state = frontier.pop()
        if state in observations or spiel_state.is_terminal():
            continue
        observations[state] = spiel_state.observation_tensor(spiel_state.current_player())
        actions = spiel_state.legal_actions()
        frontier += [(game.play(state, a), spiel_state.child(a)) for a in actions]
    return [observations[tuple(map(int, state))] for state in examiner.states]
