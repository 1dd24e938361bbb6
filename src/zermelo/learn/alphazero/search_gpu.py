"""AlphaZero's search on tensors: a batch of games, with one network call for each simulation.

Gumbel AlphaZero (Danihelka et al. 2022): at the root, some actions are sampled without replacement
from the policy, and sequential halving finds the best of them; below the root, the search follows
the policy improved by the values so far. PUCT, the alternative, selects by values and, for actions
with few visits, by the policy. Proven values are propagated and never change.

Trees are flat arrays `[game, node, action]`. Simulation n adds node n to every tree, so the network
evaluates all games in one batch. The paths of all games descend together, level by level, and are
backed up in one step. If only one reply to a move is worth trying (see `Resolution`), the move's
node is the state after the reply, so no simulation is spent on the reply.
"""

import torch
from torch import Tensor

from zermelo.learn.alphazero.search_parameters import (
    C_SCALE,
    C_VISIT,
    ILLEGAL_LOGIT,
    NOISE_SHARE,
    PUCT_C,
    UNPROVEN,
    PolicySearchResult,
    halving_schedule,
)
from zermelo.learn.alphazero.tensor_games import TensorGame, TensorState
from zermelo.learn.config.selfplay import GUMBEL, PUCT
from zermelo.learn.networks.evaluation import PolicyValueFunction

_LOGIT, _VISITS, _VALUE_SUM = range(3)  # columns of an action's statistics
_NUM_STATS = 3

_Path = tuple[Tensor, Tensor, Tensor]  # nodes, actions, whether each path reaches this level


class TensorSearch:
    """Searches a fixed number of games at once with a fixed number of simulations.

    With `use_graph`, on a GPU, the steps are compiled and the whole search is captured as a CUDA
    graph, which every call replays. This halves the time, after a minute of compilation. Searches
    with the same `max_nodes` share compiled code, even if their numbers of simulations differ.
    """

    def __init__(
        self,
        game: TensorGame,
        network: PolicyValueFunction,
        num_games: int,
        simulations: int,
        *,
        considered: int = 16,
        max_depth: int = 16,
        rule: str = GUMBEL,
        max_nodes: int | None = None,
        use_graph: bool = False,
    ) -> None:
        self.game, self.network, self.simulations = game, network, simulations
        device, nodes, actions = game.device, max_nodes or simulations + 1, game.num_actions
        assert nodes > simulations
        self._uses_puct = rule == PUCT
        shape = (num_games, nodes, actions)
        self._rows = torch.arange(num_games, device=device)
        self._roots = game.initial_states(num_games)
        self._noise = torch.zeros((num_games, actions), device=device)
        self._words = [
            torch.zeros((num_games, nodes), dtype=torch.int64, device=device)
            for _ in range(game.num_words)
        ]
        self._stats = torch.zeros((*shape, _NUM_STATS), device=device)
        self._proven = torch.full(shape, UNPROVEN, dtype=torch.int8, device=device)
        self._children = torch.zeros(shape, dtype=torch.int64, device=device)
        # Factor by which a child's value is multiplied at its parent: -1 if the other side is to
        # move, or 1 if the same side is, as in the state after the only reply worth trying.
        self._signs = torch.full(shape, -1, dtype=torch.int8, device=device)
        self._raw_values = torch.zeros((num_games, nodes), device=device)
        self._root_proven = torch.zeros(num_games, dtype=torch.int64, device=device)
        numbers = range(max(considered, actions) + 1)
        schedules = [halving_schedule(number, simulations) for number in numbers]
        self._halving = torch.tensor(schedules, device=device)
        self._considered, self._max_depth = considered, max_depth
        self._slots = torch.arange(nodes, device=device)
        self._use_graph = use_graph
        self._graph: torch.cuda.CUDAGraph | None = None
        self._result: PolicySearchResult | None = None
        if use_graph:
            for name in ("_descend", "_reach_leaf", "_store", "_back_up", "_select_root", "_read"):
                setattr(self, name, torch.compile(getattr(self, name), dynamic=False))

    def __call__(self, roots: TensorState, noise: Tensor | None = None) -> PolicySearchResult:
        """Search nonterminal states.

        `noise` [row, action] adds exploration: Gumbel noise or, with PUCT, Dirichlet noise.
        """
        for own, given in zip(self._roots, roots, strict=True):
            own.copy_(given)
        self._noise.zero_()
        if noise is not None:
            self._noise.copy_(noise)
        if not self._use_graph:
            return self._run()
        if self._graph is None:
            self._capture()
        assert self._graph is not None
        assert self._result is not None
        self._graph.replay()
        # The graph writes to the same tensors every time.
        return PolicySearchResult(*(tensor.clone() for tensor in vars(self._result).values()))

    def _capture(self) -> None:
        """Run a search, which compiles its steps; then capture a second search as a CUDA graph."""
        self._run()
        torch.cuda.synchronize()
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            self._result = self._run()

    def _run(self) -> PolicySearchResult:
        """Reset the trees and run all simulations."""
        num_considered = self._reset()
        for number in range(self.simulations):
            self._simulate(number, self._halving[num_considered, number])
        return self._read()

    def _reset(self) -> Tensor:
        """Reset the trees to their roots; return the number of actions to consider at each root."""
        self._children.zero_()
        self._proven.fill_(UNPROVEN)
        self._signs.fill_(-1)
        # A known root value does not tell which move achieves it, so all moves worth trying remain.
        resolution = self.game.resolve(self._roots)
        self._root_proven.copy_(resolution.value)
        evaluation = self.network(self.game.planes(self._roots))
        self._store(self._slots[:1], self._roots, resolution.moves, *evaluation)
        return resolution.moves.sum(1).clamp(max=self._considered)

    def _store(
        self, slot: Tensor, state: TensorState, moves: Tensor, logits: Tensor, value: Tensor
    ) -> None:
        """Store one new node in every tree, at the index `slot`."""
        for words, column in zip(self._words, state, strict=True):
            words.index_copy_(1, slot, column[:, None])
        logits = torch.where(moves, logits, ILLEGAL_LOGIT)
        zeros = torch.zeros_like(logits)
        stats = torch.stack([logits, zeros, zeros], 2)
        self._stats.index_copy_(1, slot, stats[:, None])
        self._raw_values.index_copy_(1, slot, value[:, None])

    def _simulate(self, number: int, num_visits: Tensor) -> None:
        """Descend to a new or proven leaf in every tree, evaluate it, and back up its value."""
        action = self._select_root(num_visits)
        node = torch.zeros_like(action)
        is_on_path = torch.ones_like(action, dtype=torch.bool)
        nowhere = node, node, torch.zeros_like(is_on_path)
        path = [nowhere] * self._max_depth  # of fixed length, so that the code is compiled once
        path[0] = node, action, is_on_path
        for level in range(1, min(number + 1, self._max_depth)):
            path[level] = self._descend(*path[level - 1])
        nodes, actions, on_path = (torch.stack(part, 1) for part in zip(*path, strict=True))
        slot = self._slots[number + 1 : number + 2]
        state, moves, planes = self._reach_leaf(slot, nodes, actions, on_path)
        logits, value = self.network(planes)
        self._store(slot, state, moves, logits, value)
        self._back_up(value, nodes, actions, on_path)

    def _descend(self, node: Tensor, action: Tensor, is_on_path: Tensor) -> _Path:
        """Extend each path by one step, unless it ends; return (nodes, actions, which paths go on).

        A node is proven if one of its actions is a proven win or if all of them are proven. If a
        node turns out to be proven, the path ends above it.
        """
        rows = self._rows
        child = self._children[rows, node, action]
        known = self._proven[rows, node, action]
        is_on_path = is_on_path & (child != 0) & (known == UNPROVEN)
        child = torch.where(is_on_path, child, 0)
        stats, proven = self._stats[rows, child], self._proven[rows, child]
        proven_q = _proven_or_minimum(stats, proven)
        best = proven_q.amax(1)
        is_proven = is_on_path & ((best == 1) | (proven_q != -UNPROVEN).all(1))
        value_above = self._signs[rows, node, action] * best
        self._proven[rows, node, action] = torch.where(is_proven, value_above, known).to(torch.int8)
        logits, q, weight, visits = self._complete(child, stats, proven)
        if self._uses_puct:
            score = _puct(torch.softmax(logits, 1), q, visits)
        else:
            policy = torch.softmax(logits + weight * q, 1)
            score = policy - visits / (1 + visits.sum(1, keepdim=True))
        score = torch.where(logits > ILLEGAL_LOGIT, score, ILLEGAL_LOGIT)
        return child, score.argmax(1), is_on_path & ~is_proven

    def _reach_leaf(
        self, slot: Tensor, nodes: Tensor, actions: Tensor, on_path: Tensor
    ) -> tuple[TensorState, Tensor, Tensor]:
        """Link a new leaf at the end of every path; return its (state, moves worth trying, planes).

        If only one reply is worth trying, the leaf is the state after that reply.
        """
        rows = self._rows
        node, action = _last(nodes, on_path), _last(actions, on_path)
        parent = tuple(words[rows, node] for words in self._words)
        state = self.game.play(parent, action)
        resolution = self.game.resolve(state)
        is_single = (resolution.value == UNPROVEN) & (resolution.moves.sum(1) == 1)
        after_reply = self.game.play(state, resolution.moves.to(torch.int8).argmax(1))
        later = self.game.resolve(after_reply)
        state = tuple(torch.where(is_single, a, b) for a, b in zip(after_reply, state, strict=True))
        value = torch.where(is_single, later.value, resolution.value)
        moves = torch.where(is_single[:, None], later.moves, resolution.moves)
        sign = torch.where(state[-1] == parent[-1], 1, -1)
        child, known = self._children[rows, node, action], self._proven[rows, node, action]
        is_new = child == 0
        self._children[rows, node, action] = torch.where(is_new, slot, child)
        self._signs[rows, node, action] = sign.to(torch.int8)
        proven = torch.where(value == UNPROVEN, UNPROVEN, sign * value)
        self._proven[rows, node, action] = torch.where(is_new, proven, known).to(torch.int8)
        return state, moves, self.game.planes(state)

    def _back_up(self, value: Tensor, nodes: Tensor, actions: Tensor, on_path: Tensor) -> None:
        """Add a leaf's value to every action on its path, from the view of the side that acts."""
        rows = self._rows
        node, action = _last(nodes, on_path), _last(actions, on_path)
        known, sign = self._proven[rows, node, action], self._signs[rows, node, action]
        value = torch.where(known == UNPROVEN, value, (sign * known).float())
        signs = torch.where(on_path, self._signs[rows[:, None], nodes, actions], 1)
        parts = []
        for level in range(nodes.shape[1] - 1, -1, -1):
            value = signs[:, level] * value
            parts.append(value)
        values = torch.stack(parts[::-1], 1)
        indices = (rows[:, None] * self._slots.numel() + nodes) * self.game.num_actions + actions
        indices = _NUM_STATS * indices.view(-1) + _VISITS
        weights = on_path.float()
        self._stats.view(-1).scatter_add_(0, indices, weights.view(-1))
        self._stats.view(-1).scatter_add_(0, indices + 1, (weights * values).view(-1))

    def _complete(
        self, node: Tensor, stats: Tensor, proven: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return (logits, completed Q values, their weight, visits) of the actions of nodes.

        Actions without a value get the mixed value, which combines the network's value of the node
        with the policy-weighted mean of the values of the other actions.
        """
        logits, visits, value_sums = stats.unbind(2)
        has_value = (visits > 0) | (proven != UNPROVEN)
        q = torch.where(proven == UNPROVEN, value_sums / visits.clamp(min=1), proven)
        policy = torch.softmax(logits, 1)
        share = (policy * has_value).sum(1)
        below = (policy * has_value * q).sum(1) / share.clamp(min=1e-9)
        total = visits.sum(1)
        raw = self._raw_values[self._rows, node]
        mixed = torch.where(share > 0, (raw + total * below) / (1 + total), raw)
        q = torch.where(has_value, q, mixed[:, None])
        weight = (C_VISIT + visits.amax(1, keepdim=True)) * C_SCALE
        return logits, q, weight, visits

    def _select_root(self, num_visits: Tensor) -> Tensor:
        """Return the best root action among those with `num_visits` visits (sequential halving).

        With PUCT, return the action with the highest PUCT score, for a policy with added noise.
        """
        root = torch.zeros_like(self._rows)
        logits, q, weight, visits = self._complete(root, self._stats[:, 0], self._proven[:, 0])
        legal = logits > ILLEGAL_LOGIT
        if self._uses_puct:
            noise = NOISE_SHARE * torch.where(legal, self._noise, 0)
            policy = (1 - noise.sum(1, keepdim=True)) * torch.softmax(logits, 1) + noise
            score = _puct(policy, q, visits)
            return torch.where(legal, score, ILLEGAL_LOGIT).argmax(1)
        score = torch.clamp(self._noise + logits + weight * q, min=ILLEGAL_LOGIT)
        score = torch.where(visits == num_visits[:, None], score, 2 * ILLEGAL_LOGIT)
        return torch.where(legal, score, 4 * ILLEGAL_LOGIT).argmax(1)

    def _read(self) -> PolicySearchResult:
        """Return the results of the search: the moves to play and the learning targets."""
        root, stats, proven = torch.zeros_like(self._rows), self._stats[:, 0], self._proven[:, 0]
        logits, q, weight, visits = self._complete(root, stats, proven)
        proven_q, legal = _proven_or_minimum(stats, proven), logits > ILLEGAL_LOGIT
        # A proven win is preferred to all other moves, and a proven loss is the last choice.
        wins, rest = legal & (proven_q == 1), legal & (proven_q != -1)
        playable = torch.where(rest.any(1, keepdim=True), rest, legal)
        playable = torch.where(wins.any(1, keepdim=True), wins, playable)
        if self._uses_puct:
            playable_visits = torch.where(playable, visits, 0)
            priors = torch.where(playable, torch.softmax(logits, 1), 0)
            has_visits = playable_visits.sum(1, keepdim=True) > 0
            shares = torch.where(has_visits, playable_visits, priors)
            policy = shares / shares.sum(1, keepdim=True)
            actions = policy.argmax(1)
        else:
            improved = torch.where(playable, logits + weight * q, ILLEGAL_LOGIT)
            policy = torch.softmax(improved, 1)
            most = torch.where(playable, visits, -1).amax(1, keepdim=True)
            score = torch.where(visits == most, self._noise + improved, 2 * ILLEGAL_LOGIT)
            actions = torch.where(playable, score, 4 * ILLEGAL_LOGIT).argmax(1)
        best = proven_q.amax(1)
        is_proven = (best == 1) | (proven_q != -UNPROVEN).all(1)
        proven_value = torch.where(is_proven, best, UNPROVEN)
        proven_value = torch.where(self._root_proven == UNPROVEN, proven_value, self._root_proven)
        value = (policy * q).sum(1)
        known_q = torch.where(legal & (proven_q != -UNPROVEN), proven_q, UNPROVEN)
        legal_q = torch.where(legal, q, 0)
        return PolicySearchResult(
            actions, policy, value, visits.clone(), proven_value, legal_q, known_q
        )


def _puct(policy: Tensor, q: Tensor, visits: Tensor) -> Tensor:
    """Return the PUCT scores [row, action]."""
    total = visits.sum(1, keepdim=True)
    return q + PUCT_C * torch.sqrt(1 + total) * policy / (1 + visits)


def _proven_or_minimum(stats: Tensor, proven: Tensor) -> Tensor:
    """Return [row, action]: the proven value of each action, or -UNPROVEN if it is not proven.

    Illegal actions are treated as proven losses, so they are never the best.
    """
    proven = torch.where(proven == UNPROVEN, -UNPROVEN, proven)
    return torch.where(stats[:, :, _LOGIT] > ILLEGAL_LOGIT, proven, -1)


def _last(path: Tensor, on_path: Tensor) -> Tensor:
    """Return the node or the action at the last step of each path."""
    return path.gather(1, on_path.sum(1, keepdim=True) - 1).squeeze(1)
