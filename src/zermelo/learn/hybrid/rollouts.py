"""Rollouts of the hybrid: complete games played by shallow searches, and their learning targets."""

import numpy as np

from zermelo.core.game import WordGame
from zermelo.games.lines.small import WordLineGame
from zermelo.learn.actors.protocol import RolloutRequest
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.batch.opponents import build_opponents
from zermelo.learn.batch.policies import Policy, masked_argmax
from zermelo.learn.batch.replay import Transitions
from zermelo.learn.config.learning import phase_at
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.hybrid.kernel_network import build_network_tactics
from zermelo.learn.hybrid.shallow_search import SearchTargets, ShallowSearch
from zermelo.learn.networks.weights_file import Array, Arrays

_NOISE_SCALE = 0.03  # scale of the Gumbel noise on Q that breaks ties between equal moves


def build_shallow_search(recipe: Recipe, game: WordLineGame) -> ShallowSearch:
    """Return the search that a recipe uses in training games."""
    searching, network = recipe.searching, recipe.network
    hooks = build_network_tactics(game, network.kind, network.hidden, published=searching.published)
    blend = round(1000 * searching.network), round(1000 * searching.heuristic)
    return ShallowSearch(hooks, blend, recipe.acting.gamma)


class HybridRollouts:
    """The function with which actors play rollouts for the hybrid."""

    def __init__(self, recipe: Recipe, game: WordGame) -> None:
        assert isinstance(game, WordLineGame)
        self.recipe, self.game_batch = recipe, GameBatch(game)
        self.uses_search_targets = recipe.searching.targets == "search"
        self.search = build_shallow_search(recipe, game)

    def __call__(self, weights: Arrays, request: RolloutRequest) -> Arrays:
        """Play a batch of games to the end, and return their transitions and results."""
        recipe, rng = self.recipe, request.new_rng()
        self.search.load(weights)
        phase, phase_progress = phase_at(recipe.learning.phases, request.progress)
        epsilon = request.actor_epsilon(phase.epsilon(phase_progress))
        opponents = build_opponents(recipe, self.game_batch.game, request.seed[0], rng)
        games = _HybridGames(self, rng, epsilon, opponents.get(phase.opponent))
        while len(games.running):
            games.step()
        columns = zip(Transitions._fields, zip(*games.transitions, strict=True), strict=True)
        transitions = {name: np.concatenate(parts) for name, parts in columns}
        return transitions | {"results": games.results}

    def search_states(self, states: Array) -> tuple[Array, Array, list[Transitions]]:
        """Search states; those late in the game are searched deeper.

        Return (Q values of the states, whether a search to the normal depth proves a win or a loss
        in each of them, learning targets).
        """
        searching = self.recipe.searching
        is_late = np.bitwise_count(states[:, 0] | states[:, 1]) >= searching.late
        q = np.zeros((len(states), self.game_batch.num_actions))
        is_decided, transitions = np.zeros(len(states), np.bool_), []
        for rows, depth in ((~is_late, searching.depth), (is_late, searching.late_depth)):
            if rows.any():
                targets: SearchTargets = self.search.search(states[rows], depth)
                q[rows], is_decided[rows] = targets.q, targets.is_decided
                transitions.append(targets.transitions)
        least = self.recipe.acting.gamma**searching.depth
        return q, is_decided & (np.abs(q.max(1)) >= least), transitions

    def initial_states(self, number: int, rng: np.random.Generator) -> Array:
        """Return states from which games start: initial states and a share of random states."""
        states = self.game_batch.initial_states(number)
        is_sampled = rng.random(number) < self.recipe.acting.sampled
        if is_sampled.any():
            seed = int(rng.integers(1 << 62))
            max_plies = self.recipe.searching.opening
            samples = self.game_batch.sample_states(int(is_sampled.sum()), max_plies, seed)
            states[is_sampled] = samples
        return states


class _HybridGames:
    """The games of one rollout."""

    def __init__(
        self,
        rollouts: HybridRollouts,
        rng: np.random.Generator,
        epsilon: float,
        opponent: Policy | None,
    ) -> None:
        self.rollouts, self.rng, self.epsilon, self.opponent = rollouts, rng, epsilon, opponent
        number = rollouts.recipe.acting.games
        self.states = rollouts.initial_states(number, rng)  # of the running games
        self.results: Array = np.zeros(number, np.int64)  # [game]: 1, 0 or -1 for the learner
        self.seats, self.running = np.arange(number) % 2, np.arange(number)
        self.transitions: list[Transitions] = []

    def step(self) -> None:
        """Play a move in every running game."""
        rollouts, states = self.rollouts, self.states
        actions, decided = self._choose_actions()
        next_states, rewards, over = rollouts.game_batch.step(states, actions)
        if not rollouts.uses_search_targets:
            gamma = rollouts.recipe.acting.gamma
            discounts = np.where(over, 0.0, -gamma).astype(np.float32)
            self.transitions.append(Transitions(states, actions, rewards, discounts, next_states))
        # Stop a decided game: a search finds its result without the help of the network.
        rewards, over = np.where(decided, decided, rewards), over | (decided != 0)
        mover = states[:, -1].astype(np.int64)
        ended = self.running[over]
        self.results[ended] = rewards[over] * np.where(mover[over] == self.seats[ended], 1, -1)
        self.states, self.running = np.ascontiguousarray(next_states[~over]), self.running[~over]

    def _choose_actions(self) -> tuple[Array, Array]:
        """Return an action for each game, and the game's result: 1 or -1 if proven, else 0."""
        states, rng, by_search = self.states, self.rng, self.rollouts.uses_search_targets
        legal = self.rollouts.game_batch.legal_masks(states)
        actions = (rng.random(legal.shape) * legal).argmax(1)
        is_own = np.ones(len(states), np.bool_)
        if self.opponent is not None:
            is_own = states[:, -1].astype(np.int64) == self.seats[self.running]
            if not is_own.all():
                actions[~is_own] = self.opponent(states[~is_own], legal[~is_own])
        explores = rng.random(len(states)) < self.epsilon
        is_searched = is_own if by_search else is_own & ~explores
        decided = np.zeros(len(states), np.int64)
        if is_searched.any():
            q, is_decided, transitions = self.rollouts.search_states(states[is_searched])
            if by_search:
                self.transitions += transitions
                decided[is_searched] = np.where(is_decided, np.sign(q.max(1)), 0)
            noisy_q = q + _NOISE_SCALE * rng.gumbel(size=q.shape)
            best = masked_argmax(noisy_q, legal[is_searched])
            actions[is_searched] = np.where(explores[is_searched], actions[is_searched], best)
        return actions, decided
