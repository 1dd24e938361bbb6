"""Tree search on tensors: many games at once, one network evaluation for each simulation.

Gumbel AlphaZero (Danihelka et al. 2022): at the root a few actions are drawn without replacement
by the policy, and sequential halving finds the best of them; below the root the search follows
the policy as improved by what it has seen. By PUCT it follows values, and the policy the less
the more it has tried. Values that are proven stay so and are passed on.

Trees are flat arrays `[game, node, action]`; simulation n makes node n of every tree, so that the
network sees all games in one batch. A path goes down level by level, all games together, and comes
back in one step. Where an action leaves only one answer worth trying, its node is the state after
that answer: no simulation is spent on it.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from zermelo.learn.alphazero.search_options import (
    NEVER,
    NOISE,
    PUCT,
    SCALE,
    UNKNOWN,
    VISITS,
    Found,
    considered_visits,
)
from zermelo.learn.alphazero.tensor_games import State, TensorGame

#: planes → (logits of actions, value for the side to move)
Network = Callable[[Tensor], tuple[Tensor, Tensor]]

_LOGIT, _COUNT, _TOTAL = range(3)  # what is kept of an action
_KEPT = 3


class Search:
    """Room for searches of so many games with so many simulations.

    Recorded, on a GPU, its steps are compiled and the whole is one graph of kernels, replayed at
    every call: what takes a minute once takes half the time ever after. Searches with the same
    `room` for nodes share what is compiled, however many of them they use.
    """

    def __init__(
        self,
        game: TensorGame,
        network: Network,
        games: int,
        simulations: int,
        *,
        considered: int = 16,
        deepest: int = 16,
        rule: str = "gumbel",
        room: int | None = None,
        recorded: bool = False,
    ) -> None:
        self.game, self.network, self.simulations = game, network, simulations
        device, nodes, actions = game.device, room or simulations + 1, game.num_actions
        assert nodes > simulations
        self._by_puct = rule == "puct"
        shape = (games, nodes, actions)
        self._rows = torch.arange(games, device=device)
        self._roots = game.start(games)
        self._noise = torch.zeros((games, actions), device=device)
        self._words = [
            torch.zeros((games, nodes), dtype=torch.int64, device=device)
            for _ in range(game.num_words)
        ]
        self._stats = torch.zeros((*shape, _KEPT), device=device)
        self._worth = torch.full(shape, UNKNOWN, dtype=torch.int8, device=device)  # what is proven
        self._children = torch.zeros(shape, dtype=torch.int64, device=device)
        # Of a child's value for the parent's mover: 1 where the only answer was played, too.
        self._signs = torch.full(shape, -1, dtype=torch.int8, device=device)
        self._values = torch.zeros((games, nodes), device=device)
        self._known = torch.zeros(games, dtype=torch.int64, device=device)  # of roots
        halving = [considered_visits(m, simulations) for m in range(max(considered, actions) + 1)]
        self._halving = torch.tensor(halving, device=device)
        self._considered, self._deepest, self._recorded = considered, deepest, recorded
        self._slots = torch.arange(nodes, device=device)
        self._graph: torch.cuda.CUDAGraph | None = None
        self._found: Found | None = None
        if recorded:
            for name in ("_level", "_leaf", "_store", "_back_up", "_root_action", "_answer"):
                setattr(self, name, torch.compile(getattr(self, name), dynamic=False))

    def __call__(self, roots: State, noise: Tensor | None = None) -> Found:
        """Search from running games; noise [row, action] makes it explore.

        That is Gumbel's, or by PUCT Dirichlet's.
        """
        for mine, given in zip(self._roots, roots, strict=True):
            mine.copy_(given)
        self._noise.zero_()
        if noise is not None:
            self._noise.copy_(noise)
        if not self._recorded:
            return self._run()
        if self._graph is None:
            self._record()
        assert self._graph is not None
        assert self._found is not None
        self._graph.replay()
        # The graph writes into the same tensors every time.
        return Found(*(tensor.clone() for tensor in vars(self._found).values()))

    def _record(self) -> None:
        """The whole search as one graph, after a run that compiles what there is to compile."""
        self._run()
        torch.cuda.synchronize()
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            self._found = self._run()

    def _run(self) -> Found:
        """One simulation after the other."""
        allowed = self._begin()
        for number in range(self.simulations):
            self._simulate(number, self._halving[allowed, number])
        return self._answer()

    def _begin(self) -> Tensor:
        """Empty trees but for their roots; returns how many actions each is to consider."""
        self._children.zero_()
        self._worth.fill_(UNKNOWN)
        self._signs.fill_(-1)
        # What is known of a root does not say by which move: all that are left are tried.
        known = self.game.judge(self._roots)
        self._known.copy_(known.value)
        judged = self.network(self.game.planes(self._roots))
        self._store(self._slots[:1], self._roots, known.moves, *judged)
        return known.moves.sum(1).clamp(max=self._considered)

    def _store(
        self, slot: Tensor, state: State, moves: Tensor, logits: Tensor, value: Tensor
    ) -> None:
        """A new node in every tree."""
        for words, column in zip(self._words, state, strict=True):
            words.index_copy_(1, slot, column[:, None])
        logits = torch.where(moves, logits, NEVER)
        nothing = torch.zeros_like(logits)
        stats = torch.stack([logits, nothing, nothing], 2)
        self._stats.index_copy_(1, slot, stats[:, None])
        self._values.index_copy_(1, slot, value[:, None])

    def _simulate(self, number: int, wanted: Tensor) -> None:
        """Down to a new leaf in every tree, or to what is known; judge it; back up."""
        action = self._root_action(wanted)
        node = torch.zeros_like(action)
        going = torch.ones_like(action, dtype=torch.bool)
        nowhere = node, node, torch.zeros_like(going)
        path = [nowhere] * self._deepest  # of one length, so that one compilation serves all
        path[0] = node, action, going
        for level in range(1, min(number + 1, self._deepest)):
            path[level] = self._level(*path[level - 1])
        nodes, actions, gone = (torch.stack(part, 1) for part in zip(*path, strict=True))
        slot = self._slots[number + 1 : number + 2]
        state, moves, planes = self._leaf(slot, nodes, actions, gone)
        logits, value = self.network(planes)
        self._store(slot, state, moves, logits, value)
        self._back_up(value, nodes, actions, gone)

    def _level(self, node: Tensor, action: Tensor, going: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """(node, action, whether the path comes so far): a step down from another such step.

        A node is won if an action of it wins, and known if all of them are: that is seen in
        passing, and the path ends above it.
        """
        rows = self._rows
        below = self._children[rows, node, action]
        known = self._worth[rows, node, action]
        going = going & (below != 0) & (known == UNKNOWN)
        below = torch.where(going, below, 0)
        stats, worth = self._stats[rows, below], self._worth[rows, below]
        proven = _proven(stats, worth)
        best = proven.amax(1)
        settled = going & ((best == 1) | (proven != -UNKNOWN).all(1))
        worth_above = self._signs[rows, node, action] * best
        self._worth[rows, node, action] = torch.where(settled, worth_above, known).to(torch.int8)
        logits, values, weight, visits = self._completed(below, stats, worth)
        if self._by_puct:
            score = _puct(torch.softmax(logits, 1), values, visits)
        else:
            policy = torch.softmax(logits + weight * values, 1)
            score = policy - visits / (1 + visits.sum(1, keepdim=True))
        score = torch.where(logits > NEVER, score, NEVER)
        return below, score.argmax(1), going & ~settled

    def _leaf(
        self, slot: Tensor, nodes: Tensor, actions: Tensor, gone: Tensor
    ) -> tuple[State, Tensor, Tensor]:
        """(state, moves worth trying, planes) where every path ends; what is known is noted.

        Where there is only one answer worth trying, that is after it.
        """
        rows = self._rows
        node, action = _last(nodes, gone), _last(actions, gone)
        state = self.game.play(tuple(words[rows, node] for words in self._words), action)
        judged = self.game.judge(state)
        single = (judged.value == UNKNOWN) & (judged.moves.sum(1) == 1)
        later = self.game.play(state, judged.moves.to(torch.int8).argmax(1))
        after = self.game.judge(later)
        state = tuple(torch.where(single, a, b) for a, b in zip(later, state, strict=True))
        value = torch.where(single, after.value, judged.value)
        moves = torch.where(single[:, None], after.moves, judged.moves)
        sign = torch.where(single, 1, -1)
        below, known = self._children[rows, node, action], self._worth[rows, node, action]
        fresh = below == 0
        self._children[rows, node, action] = torch.where(fresh, slot, below)
        self._signs[rows, node, action] = sign.to(torch.int8)
        seen = torch.where(value == UNKNOWN, UNKNOWN, sign * value)
        self._worth[rows, node, action] = torch.where(fresh, seen, known).to(torch.int8)
        return state, moves, self.game.planes(state)

    def _back_up(self, value: Tensor, nodes: Tensor, actions: Tensor, gone: Tensor) -> None:
        """A leaf's value to every action above it, as the side sees it that moves."""
        rows = self._rows
        node, action = _last(nodes, gone), _last(actions, gone)
        known, sign = self._worth[rows, node, action], self._signs[rows, node, action]
        value = torch.where(known == UNKNOWN, value, (sign * known).float())
        signs = torch.where(gone, self._signs[rows[:, None], nodes, actions], 1)
        parts = []
        for level in range(nodes.shape[1] - 1, -1, -1):
            value = signs[:, level] * value
            parts.append(value)
        worth = torch.stack(parts[::-1], 1)
        places = (rows[:, None] * self._slots.numel() + nodes) * self.game.num_actions + actions
        places = _KEPT * places.view(-1) + _COUNT
        weights = gone.float()
        self._stats.view(-1).scatter_add_(0, places, weights.view(-1))
        self._stats.view(-1).scatter_add_(0, places + 1, (weights * worth).view(-1))

    def _completed(
        self, node: Tensor, stats: Tensor, worth: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """(logits, values of actions, their weight, visits): what was not tried is worth the mix.

        That is the mean of what the network says of the node and what was seen below it.
        """
        logits, visits, totals = stats.unbind(2)
        seen = (visits > 0) | (worth != UNKNOWN)
        values = torch.where(worth == UNKNOWN, totals / visits.clamp(min=1), worth)
        policy = torch.softmax(logits, 1)
        share = (policy * seen).sum(1)
        below = (policy * seen * values).sum(1) / share.clamp(min=1e-9)
        number = visits.sum(1)
        raw = self._values[self._rows, node]
        mixed = torch.where(share > 0, (raw + number * below) / (1 + number), raw)
        values = torch.where(seen, values, mixed[:, None])
        weight = (VISITS + visits.amax(1, keepdim=True)) * SCALE
        return logits, values, weight, visits

    def _root_action(self, wanted: Tensor) -> Tensor:
        """Of the actions with as many visits as sequential halving has come to, the best.

        By PUCT the best of all, with noise in the policy.
        """
        root = torch.zeros_like(self._rows)
        logits, values, weight, visits = self._completed(root, self._stats[:, 0], self._worth[:, 0])
        if self._by_puct:
            noise = NOISE * torch.where(logits > NEVER, self._noise, 0)
            policy = (1 - noise.sum(1, keepdim=True)) * torch.softmax(logits, 1) + noise
            score = _puct(policy, values, visits)
            return torch.where(logits > NEVER, score, NEVER).argmax(1)
        score = torch.clamp(self._noise + logits + weight * values, min=NEVER)
        score = torch.where(visits == wanted[:, None], score, 2 * NEVER)
        return torch.where(logits > NEVER, score, 4 * NEVER).argmax(1)

    def _answer(self) -> Found:
        """What to play, and what to learn from it."""
        root, stats, worth = torch.zeros_like(self._rows), self._stats[:, 0], self._worth[:, 0]
        logits, values, weight, visits = self._completed(root, stats, worth)
        worth, moves = _proven(stats, worth), logits > NEVER
        # A proven win before all else, and never a proven loss while something else is left.
        wins, rest = moves & (worth == 1), moves & (worth != -1)
        playable = torch.where(rest.any(1, keepdim=True), rest, moves)
        playable = torch.where(wins.any(1, keepdim=True), wins, playable)
        if self._by_puct:
            tried = torch.where(playable, visits, 0)
            priors = torch.where(playable, torch.softmax(logits, 1), 0)
            shares = torch.where(tried.sum(1, keepdim=True) > 0, tried, priors)
            policy = shares / shares.sum(1, keepdim=True)
            actions = policy.argmax(1)
        else:
            improved = torch.where(playable, logits + weight * values, NEVER)
            policy = torch.softmax(improved, 1)
            most = torch.where(playable, visits, -1).amax(1, keepdim=True)
            score = torch.where(visits == most, self._noise + improved, 2 * NEVER)
            actions = torch.where(playable, score, 4 * NEVER).argmax(1)
        best = worth.amax(1)
        proven = torch.where((best == 1) | (worth != -UNKNOWN).all(1), best, UNKNOWN)
        proven = torch.where(self._known == UNKNOWN, proven, self._known)
        value = (policy * values).sum(1)
        known = torch.where(moves & (worth != -UNKNOWN), worth, UNKNOWN)
        worths = torch.where(moves, values, 0)
        return Found(actions, policy, value, visits.clone(), proven, worths, known)


def _puct(policy: Tensor, values: Tensor, visits: Tensor) -> Tensor:
    """[row, action]: values, and what the policy expects of what was seldom tried."""
    number = visits.sum(1, keepdim=True)
    return values + PUCT * torch.sqrt(1 + number) * policy / (1 + visits)


def _proven(stats: Tensor, worth: Tensor) -> Tensor:
    """[row, action]: what actions are proven to be worth, -UNKNOWN if nothing is.

    What may not be played counts as lost, so that it is never the best and always known.
    """
    worth = torch.where(worth == UNKNOWN, -UNKNOWN, worth)
    return torch.where(stats[:, :, _LOGIT] > NEVER, worth, -1)


def _last(path: Tensor, gone: Tensor) -> Tensor:
    """Of each path the last step that was gone."""
    return path.gather(1, gone.sum(1, keepdim=True) - 1).squeeze(1)
