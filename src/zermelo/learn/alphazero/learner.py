"""AlphaZero: a network that learns from its own games. Config, self-play, targets, loss, loop.

A state is seen by the side to move. Every ply of every game is searched with the network
(`learn/tensor_search.py`, `learn/kernel_search.py`), and what the search says is learned:

    policy   the search's, which is better than the network's own
    value    how the game went on: where it ended or a search proved the end, that; before it

                 target(s) = -((1 - mixed) * search(s') + mixed * target(s'))

A chunk of games depends on the weights and its dice alone, so whoever plays it plays the same.
The home of tensors: numpy and torch are all that it needs.
"""

import copy
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from zermelo.learn.alphazero.search_options import UNKNOWN, Found
from zermelo.learn.alphazero.tensor_games import State, TensorGame
from zermelo.learn.config.selfplay import SelfPlayConfig
from zermelo.learn.networks.policy_value import Net
from zermelo.learn.networks.tower import half_is_fast

_POOL = 4  # starts that are drawn from, for each game at once
_CAP = 4  # a capped search has this part of the simulations
_DIRICHLET = 10.0  # over the number of actions: noise at the root by PUCT (AlphaZero's rule)
_DECAY = 1e-4  # of weights
_WARM = 3  # updates before the one that is recorded


#: (states, noise on the actions of their roots, simulations) → what a search says
Search = Callable[[State, Tensor, int], Found]


class Chunk(NamedTuple):
    """What was played, a row a position."""

    words: Tensor  #: [row, word]
    policies: Tensor  #: [row, action]
    values: Tensor  #: for the side to move


def play(
    game: TensorGame, playing: SelfPlayConfig, search: Search, done: float, rng: torch.Generator
) -> tuple[Chunk, Tensor]:
    """(a chunk, how its games ended for the first player)."""
    pool = _starts(game, playing, rng)
    state = _drawn(pool, playing.games, rng)
    full = playing.simulations_at(done)
    parts: list[tuple[Tensor, ...]] = []
    results = []
    for _ in range(playing.plies):
        capped = playing.capped > 0 and _uniform(game, 1, rng).item() < playing.capped
        noise = _noise(game, playing, rng)
        found = search(state, noise, max(1, full // _CAP) if capped else full)
        proven = found.proven != UNKNOWN
        curious = _uniform(game, playing.games, rng) < playing.curious
        drawn = any_of(game.judge(state).moves, rng)
        after = game.play(state, torch.where(curious, drawn, _chosen(playing, found, rng)))
        over, value = game.result(after)
        # What is proven is over: a search will always find what is left of it.
        worth = torch.where(proven, found.proven, -value).float()
        over = over | proven
        learned = torch.full_like(over, not capped)
        # What follows a move by lot says nothing of the position before it: the search does.
        ends = over | curious
        worth = torch.where(over, worth, found.value)
        parts.append((torch.stack(state, 1), found.policy, found.value, ends, worth, learned))
        results.append(torch.where(state[-1] == 0, worth, -worth)[over])
        fresh = _drawn(pool, playing.games, rng)
        state = tuple(torch.where(over, new, old) for new, old in zip(fresh, after, strict=True))
    words, policies, roots, overs, worths, learned = map(torch.stack, zip(*parts, strict=True))
    values = targets(roots, overs, worths, playing.mixed)
    return Chunk(words[learned], policies[learned], values[learned]), torch.cat(results)


def targets(roots: Tensor, overs: Tensor, worths: Tensor, mixed: float) -> Tensor:
    """[ply, game]: what positions came to be worth to the side to move.

    Where a chunk ends a game that is not over, the last search has the last word.
    """
    found = roots.clone()
    for ply in range(len(roots) - 1, -1, -1):
        if ply + 1 < len(roots):
            found[ply] = -((1 - mixed) * roots[ply + 1] + mixed * found[ply + 1])
        found[ply] = torch.where(overs[ply], worths[ply], found[ply])
    return found


def _starts(game: TensorGame, playing: SelfPlayConfig, rng: torch.Generator) -> State:
    """Where games begin: at the start, or where some plies lead that do not lose at once."""
    number = _POOL * playing.games
    begun = game.start(number)
    state, found = begun, begun
    plies = (_uniform(game, number, rng) * playing.start_plies).long() + 1
    plies = torch.where(_uniform(game, number, rng) < playing.starts, plies, 0)
    for ply in range(1, playing.start_plies + 1):
        moves = game.judge(state).moves
        state = game.play(state, any_of(moves, rng))
        over, _value = game.result(state)
        state = tuple(torch.where(over, a, b) for a, b in zip(begun, state, strict=True))
        here = plies == ply
        found = tuple(torch.where(here, a, b) for a, b in zip(state, found, strict=True))
    return found


def _drawn(pool: State, number: int, rng: torch.Generator) -> State:
    places = torch.randint(len(pool[0]), (number,), device=rng.device, generator=rng)
    return tuple(words[places] for words in pool)


def _uniform(game: TensorGame, number: int, rng: torch.Generator) -> Tensor:
    return torch.rand(number, device=game.device, generator=rng)


def any_of(moves: Tensor, rng: torch.Generator) -> Tensor:
    """One of the marked actions of each row."""
    chances = torch.rand(moves.shape, device=moves.device, generator=rng)
    return (moves * (chances + 1e-3)).argmax(1)


def _noise(game: TensorGame, playing: SelfPlayConfig, rng: torch.Generator) -> Tensor:
    """Gumbel's, or by PUCT Dirichlet's."""
    shape = playing.games, game.num_actions
    if playing.rule == "puct":
        parts = torch.full(shape, _DIRICHLET / game.num_actions, device=game.device)
        # The distribution of the public module cannot be given dice of one's own.
        drawn = torch._standard_gamma(parts, generator=rng)  # noqa: SLF001
        return drawn / drawn.sum(1, keepdim=True).clamp(min=1e-9)
    return torch.empty(shape, device=game.device).exponential_(generator=rng).log_().neg_()


def _chosen(playing: SelfPlayConfig, found: Found, rng: torch.Generator) -> Tensor:
    """The search's move; by PUCT one as likely as it was visited."""
    if playing.rule == "puct":
        return torch.multinomial(found.policy, 1, generator=rng).squeeze(1)
    moves: Tensor = found.actions
    return moves


class Replay:
    """The last so many positions."""

    def __init__(self, game: TensorGame, size: int) -> None:
        device = game.device
        self.size, self.used, self.next = size, 0, 0
        self.rows = Chunk(
            torch.zeros((size, game.num_words), dtype=torch.int64, device=device),
            torch.zeros((size, game.num_actions), dtype=torch.float16, device=device),
            torch.zeros(size, device=device),
        )

    def add(self, chunk: Chunk) -> None:
        """Older ones give way."""
        number = len(chunk.words)
        places = (self.next + torch.arange(number, device=chunk.words.device)) % self.size
        for mine, its in zip(self.rows, chunk, strict=True):
            mine[places] = its.to(mine.dtype)
        self.next = (self.next + number) % self.size
        self.used = min(self.used + number, self.size)

    def load(self, chunk: Chunk, place: int) -> None:
        """What was remembered, and where the next goes."""
        self.used, self.next = len(chunk.words), place
        for mine, its in zip(self.rows, chunk, strict=True):
            mine[: self.used] = its.to(mine.device)

    def draw(self, updates: int, batch: int, rng: torch.Generator) -> Tensor:
        """The places of so many batches."""
        return torch.randint(self.used, (updates, batch), device=rng.device, generator=rng)


class Learner:
    """A network and the average of its weights, which plays."""

    def __init__(
        self,
        net: Net,
        game: TensorGame,
        replay: Replay,
        *,
        batch: int,
        average: float = 0.998,
        clip: float = 1.0,
    ) -> None:
        self.net, self.game, self.replay = net, game, replay
        self.average = copy.deepcopy(net).eval()
        self._slowness, self._clip = average, clip
        device, on_gpu = game.device, game.device.type == "cuda"
        self._rate = torch.zeros((), device=device)
        self.optimiser = torch.optim.AdamW(
            net.parameters(),
            lr=self._rate if on_gpu else 0.0,
            weight_decay=_DECAY,
            fused=True,
            capturable=on_gpu,
        )
        self._places = torch.zeros(batch, dtype=torch.int64, device=device)
        self._turns = torch.zeros(batch, dtype=torch.int64, device=device)
        self._losses = torch.zeros(2, device=device)
        self._recorded, self._warm = on_gpu, 0
        self._graph: torch.cuda.CUDAGraph | None = None
        self._loss = torch.compile(self.loss, dynamic=False) if on_gpu else self.loss
        self.updates = 0

    def learn(self, places: Tensor, turns: Tensor, rate: float) -> Tensor:
        """One update; returns the losses of policy and value."""
        self._places.copy_(places)
        self._turns.copy_(turns)
        self._rate.fill_(rate)
        if not self._recorded:
            self.optimiser.param_groups[0]["lr"] = rate
            self._update()
        elif self._graph is None:
            self._record()
        else:
            self._graph.replay()
        self.updates += 1
        return self._losses

    def _record(self) -> None:
        """An update that compiles what there is to compile; later ones replay a graph of it."""
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            self._update()
        torch.cuda.current_stream().wait_stream(aside)
        self._warm += 1
        if self._warm == _WARM:
            self.optimiser.zero_grad(set_to_none=True)
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                self._update()

    def _update(self) -> None:
        words, policies, values = (rows[self._places] for rows in self.replay.rows)
        planes = self.game.planes(tuple(words.unbind(1)))
        planes, policies = self.game.turned(planes, policies, self._turns)
        self.optimiser.zero_grad(set_to_none=True)
        losses = self._loss(planes, policies, values)
        losses.sum().backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), self._clip)
        self.optimiser.step()
        self._follow()
        self._losses.copy_(losses.detach())

    def loss(self, planes: Tensor, policies: Tensor, values: Tensor) -> Tensor:
        """(of the policy, of the value): cross-entropy of both."""
        self.net.train()
        device = self.game.device.type
        with torch.autocast(device, torch.bfloat16, enabled=half_is_fast(device)):
            logits, results = self.net(planes.float().contiguous(memory_format=torch.channels_last))
        wanted = torch.stack([values.clamp(min=0), 1 - values.abs(), (-values).clamp(min=0)], 1)
        return torch.stack(
            [
                functional.cross_entropy(logits.float(), policies.float()),
                functional.cross_entropy(results.float(), wanted),
            ]
        )

    def _follow(self) -> None:
        """The weights that play go part of the way; so do the means of the normalisation."""
        share = 1 - self._slowness
        mine, its = self.average.state_dict(), self.net.state_dict()
        floats = [name for name, t in mine.items() if t.is_floating_point()]
        with torch.no_grad():
            for name in floats:
                mine[name].lerp_(its[name], share)
