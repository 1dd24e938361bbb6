"""Training: a recipe, a seed and a folder become a learned player."""

import contextlib
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from zermelo.core.errors import BadSpec, ZermeloError
from zermelo.core.game import WordGame
from zermelo.games import registry
from zermelo.learn.actors.protocol import ActorPool, crew_for
from zermelo.learn.alphazero.trainer import Zero
from zermelo.learn.batch.exams import Exam, exam_for
from zermelo.learn.batch.opponents import OWN, opponents_for
from zermelo.learn.config import recipes
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.config.reports import TrainingReport
from zermelo.learn.config.validation import check
from zermelo.learn.dqn.rollouts import ActorTransitions
from zermelo.learn.dqn.selfplay import masked_argmax
from zermelo.learn.dqn.supervised import SupervisedTrainer
from zermelo.learn.dqn.tabular import TabularTrainer
from zermelo.learn.dqn.trainer import DQNTrainer
from zermelo.learn.hybrid.trainer import Value
from zermelo.learn.models import model
from zermelo.learn.runs import model_card
from zermelo.learn.runs import run as runs
from zermelo.learn.runs.run import BEST, Run, Trainer

_SAMPLED = 256  # states that stand for all where a game is too large to grade

Line = dict[str, Any]  #: of the log


@dataclass(frozen=True)
class Progress:
    """How far a training is."""

    report: TrainingReport
    updates: int
    rate: float  #: updates a second

    @property
    def seconds_left(self) -> float:
        """At this rate."""
        return (self.updates - self.report.update) / self.rate if self.rate else 0.0


def train(
    recipe: str | Recipe,
    out: str | Path | None = None,
    *,
    seed: int = 0,
    short: bool = False,
    resume: bool = False,
    device: str = "cpu",
    opponent: str | None = None,
    actors: int = 0,
    cluster: str | None = None,
    graded: bool = True,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Follow a recipe to its end, in a folder that holds the run; `run.player` plays then.

    `opponent`: learn the best answer to that player, and not what the recipe's phases say.
    `actors`: processes that play the games, beside this one, which learns; with `cluster`, the
    address of a Ray cluster or "local", they are that cluster's.
    `graded`: at the end, which for large games takes a while.
    """
    run, trainer = prepare(
        recipe,
        out,
        seed=seed,
        short=short,
        resume=resume,
        device=device,
        opponent=opponent,
        actors=actors,
        cluster=cluster,
    )
    follow(run, trainer, progress)
    model_card.write(run, model_card.grades(run) if graded else {}, device)
    return run


def prepare(
    recipe: str | Recipe,
    out: str | Path | None = None,
    *,
    seed: int = 0,
    short: bool = False,
    resume: bool = False,
    device: str = "cpu",
    opponent: str | None = None,
    actors: int = 0,
    cluster: str | None = None,
) -> tuple[Run, Trainer]:
    """A run in its folder, and who learns, as at the start or as the checkpoint left it."""
    torch.set_num_threads(1)  # one thread, so that a resumed run is the same to the bit
    if device == "cuda" and not torch.cuda.is_available():
        msg = "there is no CUDA device here that torch can use: leave --device out, or say cpu"
        raise BadSpec(msg)
    if isinstance(recipe, str):
        recipe = recipes.load(recipe, short=short)
    name = _name(recipe, seed, opponent, short=short)
    command = f"zermelo train {recipe.name} --seed {seed}" + " --short" * short
    if opponent is not None:
        recipe, command = _against(recipe, opponent), f"{command} --opponent {opponent}"
    game = registry.game(recipe.game)
    if not isinstance(game, WordGame):
        msg = f"{recipe.game}: learners play games up to 64 cells"
        raise BadSpec(msg)
    recipe = _opened(recipe, game)
    check(recipe)
    run = Run(Path(out) if out is not None else runs.runs_folder() / name, recipe, seed, game, command)
    with _room():
        trainer = _trainer(recipe, game, seed, device, _crew(recipe, actors, cluster))
    try:
        run.resume(trainer) if resume else run.begin()
    except BaseException:
        trainer.close()
        raise
    return run, trainer


@contextlib.contextmanager
def _room() -> Iterator[None]:
    """Says what to do where a GPU has too little memory."""
    try:
        yield
    except torch.OutOfMemoryError:
        msg = (
            "the GPU has too little memory for this recipe: give it fewer games at once, a "
            "smaller replay or network; --device cpu needs no GPU"
        )
        raise ZermeloError(msg) from None


def _crew(recipe: Recipe, actors: int, cluster: str | None) -> ActorPool | None:
    """None where the trainer plays for itself."""
    if recipe.kind == "supervised" and (actors or cluster is not None):
        msg = f"{recipe.name} plays no games: leave --actors and --cluster out"
        raise BadSpec(msg)
    if recipe.kind == "value" or actors or cluster is not None:
        return crew_for(recipe, actors, cluster)
    return None


def _name(recipe: Recipe, seed: int, opponent: str | None, *, short: bool) -> str:
    """Of a folder, such as tictactoe-dqn-against-level-3-7."""
    against = "" if opponent is None else "-against-" + re.sub(r"[^\w.]+", "-", opponent)
    return f"{recipe.name}{'-short' * short}{against}-{seed}"


def _against(recipe: Recipe, opponent: str) -> Recipe:
    """The same, but for whom it meets. Not every player answers symmetric states alike."""
    phases = tuple(replace(phase, opponent=opponent) for phase in recipe.learning.phases)
    alike = opponent in (*OWN, "random")
    learning = replace(
        recipe.learning, phases=phases, canonical=recipe.learning.canonical and alike
    )
    acting = replace(recipe.acting, response=opponent not in OWN)
    return replace(recipe, learning=learning, acting=acting)


def _opened(recipe: Recipe, game: WordGame) -> Recipe:
    """With the first move that the recipe gives, if it does."""
    if recipe.first_move == "free":
        return recipe
    if recipe.first_move != "centre" or game.grid is None or game.grid.size % 2 == 0:
        msg = f"first_move is {recipe.first_move!r}: it can be free, or centre where there is one"
        raise BadSpec(msg)
    return replace(recipe, acting=replace(recipe.acting, opening=(game.grid.size // 2,)))


def _trainer(recipe: Recipe, game: WordGame, seed: int, device: str, crew: ActorPool | None) -> Trainer:
    torch.manual_seed(seed)
    if recipe.kind == "value":
        assert crew is not None
        return Value(recipe, game, seed, crew, device)
    if recipe.kind == "alphazero":
        return Zero(recipe, game, seed, crew, device)
    rng = np.random.default_rng(seed)
    if recipe.kind == "supervised":
        return SupervisedTrainer(recipe, game, rng, device)
    opponents = opponents_for(recipe, game, seed, rng)
    sent = None if crew is None else ActorTransitions(recipe, crew, seed)
    if recipe.kind == "tabular":
        return TabularTrainer(recipe, game, rng, opponents, sent)
    return DQNTrainer(recipe, game, rng, opponents, device, sent)


def follow(run: Run, trainer: Trainer, progress: Callable[[Progress], None] | None = None) -> None:
    """The updates, with checkpoints, grades and a log on the way, and the final weights."""
    try:
        with _room():
            _follow(run, trainer, progress)
    finally:
        trainer.close()
    run.keep(model.FINAL, trainer)


def _follow(run: Run, trainer: Trainer, progress: Callable[[Progress], None] | None) -> None:
    recipe, memory, exam = run.recipe, run.memory, exam_for(run.game)
    scalars = _Scalars(run.folder / "tensorboard", trainer.updates)
    began, before, spent = time.monotonic(), trainer.updates, memory.seconds
    for report in trainer.steps():
        memory.loss, memory.count = memory.loss + report.loss, memory.count + 1
        seconds = time.monotonic() - began
        memory.seconds = spent + seconds
        last = report.update == recipe.learning.updates
        if last or report.update % recipe.keeping.grade == 0:
            line = _line(run, trainer, report, exam)
            run.log(line)
            scalars.add(line)
        if last or report.update % recipe.keeping.checkpoint == 0:
            run.checkpoint(trainer)
        if progress is not None:
            rate = (report.update - before) / max(seconds, 1e-9)
            progress(Progress(report, recipe.learning.updates, rate))
    scalars.close()


def _line(run: Run, trainer: Trainer, report: TrainingReport, exam: Exam | None) -> Line:
    """Of the log: how it stands after an update; the best weights so far are kept, too."""
    memory, game_batch = run.memory, trainer.game_batch
    results = np.array(report.results or [0])
    memory.most_wins = max(memory.most_wins, float((results > 0).mean()))
    states = game_batch.sampled(_SAMPLED, 1 << 10, 0) if exam is None else exam.states
    values = np.where(legal := game_batch.masks(states), trainer.values(states), -np.inf)
    line: Line = {
        "update": report.update,
        "loss": memory.loss / memory.count,
        "epsilon": report.epsilon,
        "rate": report.learning_rate,
        "results": float(results.mean()) if report.results else None,
        "wins": float((results > 0).mean()) if report.results else None,
        "most_wins": memory.most_wins if report.results else None,
        "mean_q": float(values.max(1).mean()),
    }
    memory.loss, memory.count = 0.0, 0
    if exam is not None:
        line["mistakes"] = exam.mistakes(masked_argmax(values, legal))
        if line["mistakes"] <= memory.best:
            memory.best = line["mistakes"]
            run.keep(BEST, trainer)
    if run.game.grid is not None and run.game.grid.size == run.game.num_actions:
        line["start"] = [round(float(q), 4) for q in trainer.values(game_batch.start(1))[0]]
    return line


class _Scalars:
    """The log for TensorBoard, where that is installed."""

    def __init__(self, folder: Path, update: int) -> None:
        self._writer: Any = None
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            return
        # What a killed run wrote after its checkpoint does not count.
        self._writer = SummaryWriter(str(folder), purge_step=update + 1)

    def add(self, line: Line) -> None:
        if self._writer is not None:
            for name, value in line.items():
                if name != "update" and isinstance(value, float):
                    self._writer.add_scalar(name, value, line["update"])
            self._writer.flush()

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
