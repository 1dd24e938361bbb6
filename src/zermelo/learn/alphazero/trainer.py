"""AlphaZero as a run follows it: who plays its chunks, the loop, and the whole of it as arrays."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from zermelo.core.errors import ZermeloError
from zermelo.core.game import WordGame
from zermelo.learn.actors.protocol import (
    InProcessActor,
    Arrays,
    ActorPool,
    RolloutStream,
    RolloutRequest,
)
from zermelo.learn.alphazero import learner as alphazero
from zermelo.learn.alphazero.learner import Chunk, Learner, Replay
from zermelo.learn.alphazero.search_cpu import KernelSearch
from zermelo.learn.alphazero.search_gpu import Search
from zermelo.learn.alphazero.search_options import NEVER, Found
from zermelo.learn.alphazero.tensor_games import State, TensorGame
from zermelo.learn.batch.exams import Exam
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.config.reports import TrainingReport
from zermelo.learn.config.selfplay import SelfPlayConfig
from zermelo.learn.networks import torch_arrays
from zermelo.learn.networks.policy_value import Net, folded, made
from zermelo.learn.networks.symmetry_average import in_images
from zermelo.learn.networks.tower import Folded

_LAST = 100  # results that are told
_NET, _AVERAGE, _REPLAY = "net.", "average.", "replay."


class Diverged(ZermeloError):
    """Learning that has come to nothing."""


@dataclass(frozen=True)
class AlphaZeroReport(TrainingReport):
    """What AlphaZero reports after an update: both losses are means over a rollout's updates."""

    policy_loss: float
    value_loss: float


class ZeroRollouts:
    """Plays chunks: with kernels on a processor, else, or if asked, with tensors."""

    def __init__(
        self, recipe: Recipe, game: WordGame, device: str = "cpu", *, by_tensors: bool = False
    ) -> None:
        self.playing, self.game = recipe.selfplay, TensorGame(game, device)
        self.net = net_for(recipe, game).to(device, memory_format=torch.channels_last).eval()
        self._quick: Folded | None = None
        if by_tensors or device != "cpu":
            self.net = self.net.to(torch.float32 if device == "cpu" else torch.bfloat16)
            self._make = _on_tensors(self.game, self.net, self.playing)
        else:
            self._quick = folded(self.net)
            self._make = _in_kernels(game, self._quick, self.playing)
        self._searches: dict[int, Any] = {}

    def __call__(self, weights: Arrays, request: RolloutRequest) -> Arrays:
        """The chunk of an order."""
        self.net.load_state_dict(torch_arrays.tensors(weights, ""))
        if self._quick is not None:
            self._quick.load(self.net)
        seed = int(request.new_rng().integers(1 << 62))
        rng = torch.Generator(device=self.game.device).manual_seed(seed)
        with torch.no_grad():
            chunk, results = alphazero.play(
                self.game, self.playing, self._search, request.progress, rng
            )
        found = chunk._asdict() | {"results": results.to(torch.int8)}
        found["policies"] = chunk.policies.to(torch.float16)
        return {name: tensor.contiguous().cpu().numpy() for name, tensor in found.items()}

    def _search(self, state: State, noise: Tensor, simulations: int) -> Found:
        if simulations not in self._searches:
            self._searches[simulations] = self._make(simulations)
        found: Found = self._searches[simulations](state, noise)
        return found


def _on_tensors(game: TensorGame, net: Net, playing: SelfPlayConfig) -> Callable[[int], Any]:
    """On a GPU compiled, and recorded as one graph; searches of all sizes share what is."""
    recorded = game.device.type == "cuda"
    judge = compiled_judge(net, game.device.type)

    def searching(simulations: int) -> Search:
        return Search(
            game,
            judge,
            playing.games,
            simulations,
            **_led(playing),
            room=max(playing.simulations) + 1,
            recorded=recorded,
        )

    return searching


def _led(playing: SelfPlayConfig) -> dict[str, Any]:
    """How both searches are led."""
    return {"considered": playing.considered, "rule": playing.rule}


def compiled_judge(net: Net, device: str) -> Any:
    """The network as a search on a device asks it.

    The libraries' own convolutions, once tried out, are as fast as any that are generated, and
    ready a minute sooner.
    """
    if device != "cuda":
        return net.judge
    torch.backends.cudnn.benchmark = True
    return torch.compile(net.judge, dynamic=False)


def _in_kernels(game: WordGame, judge: Folded, playing: SelfPlayConfig) -> Callable[[int], Any]:
    def searching(simulations: int) -> Any:
        search = KernelSearch(game, judge, playing.games, simulations, **_led(playing))

        def searched(state: State, noise: Tensor) -> Found:
            found = search(torch.stack(state, 1).numpy().view(np.uint64), noise.numpy())
            return Found(*map(torch.from_numpy, vars(found).values()))

        return searched

    return searching


def net_for(recipe: Recipe, game: WordGame) -> Net:
    """A network that has not learned yet."""
    return made(recipe.network, game, recipe.encoder)


class Zero:
    """A network in training by its own games."""

    def __init__(
        self, recipe: Recipe, game: WordGame, seed: int, pool: ActorPool | None, device: str = "cpu"
    ) -> None:
        self.recipe, self.settings, self.game_batch = recipe, recipe.learning, GameBatch(game)
        self.game = TensorGame(game, device)
        self.device = self.game.device
        net = net_for(recipe, game).to(self.device, memory_format=torch.channels_last)
        self.replay = Replay(self.game, recipe.replay.size)
        settings = self.settings
        self.learner = Learner(
            net,
            self.game,
            self.replay,
            batch=settings.batch,
            average=settings.average,
            clip=settings.clip,
        )
        self.rng = torch.Generator(device=self.device).manual_seed(seed)
        pool = pool or InProcessActor(ZeroRollouts(recipe, game, device))
        self.rollouts = RolloutStream(pool, self._weights, seed)
        self.results: list[int] = []  #: how the last games ended for the first player

    def _weights(self) -> Arrays:
        return {n: a.copy() for n, a in torch_arrays.net_arrays("", self.learner.average).items()}

    @property
    def updates(self) -> int:
        """How many are done."""
        return self.learner.updates

    def steps(self) -> Iterator[AlphaZeroReport]:
        """Play, remember, learn. The updates for a chunk are told of when all are done."""
        settings = self.settings
        while self.updates < settings.updates:
            chunk = self.rollouts.next(self.updates / settings.updates)
            self.results = (self.results + chunk["results"].tolist())[-_LAST:]
            names = Chunk._fields
            self.replay.add(Chunk(*(torch.from_numpy(chunk[n]).to(self.device) for n in names)))
            if self.replay.used < settings.warm_up:
                continue
            before = self.updates
            policy_loss, value_loss, rate = self._learn()
            if self.updates % self.recipe.keeping.checkpoint == 0:
                self.rollouts.restart()
            loss = policy_loss + value_loss
            for update in range(before + 1, self.updates + 1):
                yield AlphaZeroReport(
                    update, loss, 0.0, rate, self.results, policy_loss, value_loss
                )

    def _learn(self) -> tuple[float, float, float]:
        """The updates for one chunk: (losses of policy and value, rate)."""
        settings, number = self.settings, self.recipe.selfplay.updates
        places = self.replay.draw(number, settings.batch, self.rng)
        images = self.game.num_turns if settings.canonical else 1
        turns = torch.randint(images, places.shape, device=self.device, generator=self.rng)
        total = torch.zeros(2, device=self.device)
        rate = 0.0
        for update in range(number):
            rate = settings.rate(self.updates / settings.updates)
            total += self.learner.learn(places[update], turns[update], rate)
        policy_loss, value_loss = (total / number).tolist()
        if not np.isfinite(policy_loss + value_loss):
            msg = f"{self.recipe.name}: the loss is no number any more: try a lower learning.rate"
            raise Diverged(msg)
        return policy_loss, value_loss, rate

    def values(self, states: Any) -> Any:
        """[row, action]: the value of the state, less by what its policy holds less of an action.

        So the best action is the policy's, and it has the value of the state.
        """
        words = torch.from_numpy(states.view(np.int64)).to(self.device)
        state = tuple(words.unbind(1))
        with torch.no_grad():
            logits, values = self._judge()(self.game.planes(state))
        logits = torch.where(self.game.legal(state), logits, NEVER)
        return (values[:, None] + logits - logits.amax(1, keepdim=True)).cpu().numpy()

    def marked(self, exam: Exam) -> dict[str, Any]:
        """The share of mistakes of the policy alone, and of a search as in play, on the device."""
        words = torch.from_numpy(exam.states.view(np.int64)).to(self.device)
        playing, number = self.recipe.selfplay, self.recipe.selfplay.play_simulations
        search = Search(self.game, self._judge(), len(words), number, **_led(playing))
        with torch.no_grad():
            found = search(tuple(words.unbind(1)))
        return {
            "positions": len(words),
            "raw": exam.mistakes(self.values(exam.states).argmax(1)),
            "search": exam.mistakes(found.actions.cpu().numpy()),
            "simulations": number,
        }

    def _judge(self) -> Any:
        """The network as it is asked in play."""
        judge = self.learner.average.judge
        return in_images(judge, self.game_batch.game, self.recipe.selfplay.images)

    def export(self) -> tuple[Arrays, dict[str, Any]]:
        """The average of the weights, and how many simulations it plays with."""
        shape = self.recipe.network.to_json()
        playing = self.recipe.selfplay
        more = {
            "simulations": playing.play_simulations,
            "considered": playing.considered,
            "images": playing.images,
        }
        return self.learner.average.export(), shape | more

    def to_arrays(self) -> tuple[Arrays, dict[str, Any]]:
        """Weights, optimiser, replay, all dice, and how many chunks were played."""
        arrays = torch_arrays.to_arrays(self._nets(), self.learner.optimiser)
        arrays["dice"] = self.rng.get_state().numpy()
        for name, rows in self.replay.rows._asdict().items():
            arrays[_REPLAY + name] = rows[: self.replay.used].cpu().numpy()
        about = {
            "updates": self.updates,
            "chunks": self.rollouts.num_consumed,
            "results": self.results,
            "next": self.replay.next,
        }
        return {name: np.ascontiguousarray(array) for name, array in arrays.items()}, about

    def load_arrays(self, arrays: Arrays, about: dict[str, Any]) -> None:
        """As it was."""
        torch_arrays.load_arrays(arrays, self._nets(), self.learner.optimiser)
        self.rng.set_state(torch.from_numpy(arrays["dice"].copy()))
        chunk = Chunk(*(torch.from_numpy(arrays[_REPLAY + n]) for n in Chunk._fields))
        self.replay.load(chunk, int(about["next"]))
        self.learner.updates = int(about["updates"])
        self.results = [int(result) for result in about["results"]]
        self.rollouts.restart(int(about["chunks"]))

    def _nets(self) -> dict[str, Any]:
        return {_NET: self.learner.net, _AVERAGE: self.learner.average}

    def close(self) -> None:
        """Whoever plays for it goes home."""
        self.rollouts.pool.close()
