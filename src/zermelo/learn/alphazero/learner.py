"""AlphaZero's learner: replay buffer, loss and updates, on one device."""

import copy

import torch
from torch import Tensor
from torch.nn import functional

from zermelo.learn.alphazero.selfplay import TrainingPositions
from zermelo.learn.alphazero.tensor_games import TensorGame
from zermelo.learn.networks.fused import is_bfloat16_fast
from zermelo.learn.networks.policy_value import PolicyValueNetwork

_WEIGHT_DECAY = 1e-4
_WARM_UP_UPDATES = 3  # number of updates before one is captured as a CUDA graph


class PositionReplay:
    """A ring buffer of the latest training positions, on the game's device."""

    def __init__(self, game: TensorGame, size: int) -> None:
        device = game.device
        self.size, self.used, self.next = size, 0, 0
        self.rows = TrainingPositions(
            torch.zeros((size, game.num_words), dtype=torch.int64, device=device),
            torch.zeros((size, game.num_actions), dtype=torch.float16, device=device),
            torch.zeros(size, device=device),
        )

    def add(self, positions: TrainingPositions) -> None:
        """Add positions; if the buffer is full, they overwrite its oldest ones."""
        number = len(positions.words)
        indices = (self.next + torch.arange(number, device=positions.words.device)) % self.size
        for column, new in zip(self.rows, positions, strict=True):
            column[indices] = new.to(column.dtype)
        self.next = (self.next + number) % self.size
        self.used = min(self.used + number, self.size)

    def load(self, positions: TrainingPositions, next_index: int) -> None:
        """Replace the contents, and set the index at which the next position will be written."""
        self.used, self.next = len(positions.words), next_index
        for column, new in zip(self.rows, positions, strict=True):
            column[: self.used] = new.to(column.device)

    def sample(self, updates: int, batch: int, rng: torch.Generator) -> Tensor:
        """Sample a batch for each update; return the positions' indices [update, row]."""
        return torch.randint(self.used, (updates, batch), device=rng.device, generator=rng)


class AlphaZeroLearner:
    """A network in training, and the moving average of its weights, which is used for play.

    On a GPU, the loss is compiled, and an update is captured as a CUDA graph.
    """

    def __init__(
        self,
        net: PolicyValueNetwork,
        game: TensorGame,
        replay: PositionReplay,
        *,
        batch: int,
        average: float = 0.998,
        clip: float = 1.0,
    ) -> None:
        self.net, self.game, self.replay = net, game, replay
        self.average_net = copy.deepcopy(net).eval()
        self._decay, self._clip = average, clip
        device, on_gpu = game.device, game.device.type == "cuda"
        self._rate = torch.zeros((), device=device)
        self.optimiser = torch.optim.AdamW(
            net.parameters(),
            lr=self._rate if on_gpu else 0.0,
            weight_decay=_WEIGHT_DECAY,
            fused=True,
            capturable=on_gpu,
        )
        self._indices = torch.zeros(batch, dtype=torch.int64, device=device)
        self._symmetries = torch.zeros(batch, dtype=torch.int64, device=device)
        self._losses = torch.zeros(2, device=device)
        self._use_graph, self._num_warm_up = on_gpu, 0
        self._graph: torch.cuda.CUDAGraph | None = None
        self._compute_loss = torch.compile(self.loss, dynamic=False) if on_gpu else self.loss
        self.updates = 0

    def update(self, indices: Tensor, symmetries: Tensor, rate: float) -> Tensor:
        """Make one update; return the policy loss and the value loss.

        The batch consists of the positions `indices` of the replay buffer, each transformed by its
        symmetry in `symmetries`.
        """
        self._indices.copy_(indices)
        self._symmetries.copy_(symmetries)
        self._rate.fill_(rate)
        if not self._use_graph:
            self.optimiser.param_groups[0]["lr"] = rate
            self._update()
        elif self._graph is None:
            self._warm_up()
        else:
            self._graph.replay()
        self.updates += 1
        return self._losses

    def _warm_up(self) -> None:
        """Make a warm-up update; the first compiles the loss, the last captures a CUDA graph."""
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            self._update()
        torch.cuda.current_stream().wait_stream(stream)
        self._num_warm_up += 1
        if self._num_warm_up == _WARM_UP_UPDATES:
            self.optimiser.zero_grad(set_to_none=True)
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                self._update()

    def _update(self) -> None:
        words, policies, values = (column[self._indices] for column in self.replay.rows)
        planes = self.game.planes(tuple(words.unbind(1)))
        planes, policies = self.game.transform(planes, policies, self._symmetries)
        self.optimiser.zero_grad(set_to_none=True)
        losses = self._compute_loss(planes, policies, values)
        losses.sum().backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), self._clip)
        self.optimiser.step()
        self._update_average()
        self._losses.copy_(losses.detach())

    def loss(self, planes: Tensor, policies: Tensor, values: Tensor) -> Tensor:
        """Return the policy loss and the value loss, both cross-entropy."""
        self.net.train()
        device = self.game.device.type
        with torch.autocast(device, torch.bfloat16, enabled=is_bfloat16_fast(device)):
            inputs = planes.float()
            if inputs.dim() == 4:
                inputs = inputs.contiguous(memory_format=torch.channels_last)
            logits, results = self.net(inputs)
        # Convert values to probabilities of win, draw and loss.
        targets = torch.stack([values.clamp(min=0), 1 - values.abs(), (-values).clamp(min=0)], 1)
        return torch.stack(
            [
                functional.cross_entropy(logits.float(), policies.float()),
                functional.cross_entropy(results.float(), targets),
            ]
        )

    def _update_average(self) -> None:
        """Move the averaged weights and batch norm statistics towards the current ones."""
        average, current = self.average_net.state_dict(), self.net.state_dict()
        names = [name for name, tensor in average.items() if tensor.is_floating_point()]
        with torch.no_grad():
            for name in names:
                average[name].lerp_(current[name], 1 - self._decay)
