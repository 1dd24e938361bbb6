"""Train a player, given a recipe, a seed and a folder."""

import contextlib
import math
import re
import shlex
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from zermelo.core.errors import BadSpec, ZermeloError
from zermelo.core.game import Game, WordGame
from zermelo.core.notation import show_value
from zermelo.core.player import Player
from zermelo.games import registry
from zermelo.games.registry import GameLike
from zermelo.learn.actors.protocol import ActorPool
from zermelo.learn.alphazero.trainer import AlphaZeroTrainer
from zermelo.learn.batch.evaluation_sets import EvaluationSet, build_evaluation_set
from zermelo.learn.batch.policies import masked_argmax
from zermelo.learn.config import recipes
from zermelo.learn.config.learning import LEAGUE, SELF
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.config.reports import TrainingDiverged, TrainingReport
from zermelo.learn.config.validation import BadRecipe, check
from zermelo.learn.dqn.supervised import SupervisedTrainer
from zermelo.learn.dqn.tabular import TabularTrainer
from zermelo.learn.dqn.trainer import DQNTrainer
from zermelo.learn.hybrid.trainer import HybridTrainer
from zermelo.learn.models import files as model_files
from zermelo.learn.runs.listing import runs_folder
from zermelo.learn.runs.log import LogLine, TensorBoardLog, append_line
from zermelo.learn.runs.model_card import grade_run, write_card
from zermelo.learn.runs.rollouts import create_actor_pool
from zermelo.learn.runs.run_folder import BEST, Run
from zermelo.learn.runs.trainer_interface import Trainer
from zermelo.players.registry import PlayerLike, as_player

_NUM_SAMPLES = 256  # random states whose values are logged if the game has no labelled positions
_MAX_PLIES = 1 << 10  # sampled states are reached by fewer random plies than this


@dataclass(frozen=True)
class TrainingProgress:
    """Progress and speed of a training run."""

    report: TrainingReport
    total_updates: int
    updates_per_second: float

    @property
    def share(self) -> float:
        """The share of the updates that are done, from 0 to 1."""
        return self.report.update / self.total_updates

    @property
    def seconds_left(self) -> float:
        """The estimated time until the last update."""
        updates_left = self.total_updates - self.report.update
        return updates_left / self.updates_per_second if self.updates_per_second else 0.0


def train(
    recipe: str | Recipe,
    out: str | Path | None = None,
    *,
    seed: int = 0,
    short: bool = False,
    resume: bool = False,
    device: str = "cpu",
    game: GameLike | None = None,
    opponent: PlayerLike | None = None,
    actors: int = 0,
    cluster: str | None = None,
    grade: bool = True,
    progress: Callable[[TrainingProgress], None] | None = None,
) -> Run:
    """Train a player and return the run; `run.player` is the spec of the trained player.

    `recipe`: a recipe, or the name or TOML file of one.
    `out`: the folder of the run; by default, a folder in `runs_folder()`.
    `game`: learn this game, instead of the recipe's game.
    `opponent`: learn a best response to this player, instead of using the recipe's opponents.
    `actors`: the number of processes that play games while this process learns.
    `cluster`: run the actors on the Ray cluster at this address, or on a new local one if "local".
    `grade`: whether to grade the final weights; this takes long for large games.
    """
    run, trainer = prepare_training(
        recipe,
        out,
        seed=seed,
        short=short,
        resume=resume,
        device=device,
        game=game,
        opponent=opponent,
        actors=actors,
        cluster=cluster,
    )
    run_training(run, trainer, progress)
    write_card(run, grade_run(run) if grade else {}, device)
    return run


def prepare_training(
    recipe: str | Recipe,
    out: str | Path | None = None,
    *,
    seed: int = 0,
    short: bool = False,
    resume: bool = False,
    device: str = "cpu",
    game: GameLike | None = None,
    opponent: PlayerLike | None = None,
    actors: int = 0,
    cluster: str | None = None,
) -> tuple[Run, Trainer]:
    """Return a run and its trainer: both new, or with `resume` restored from the run's folder."""
    torch.set_num_threads(1)  # so that results do not depend on the number of cores
    if device not in ("cpu", "cuda"):
        msg = f"device is {show_value(device)}: it must be cpu or cuda"
        raise BadSpec(msg)
    if device == "cuda" and not torch.cuda.is_available():
        msg = "torch finds no CUDA device on this machine: use the device cpu"
        raise BadSpec(msg)
    command = None
    if isinstance(recipe, str) and not isinstance(game, Game) and _is_spec(opponent):
        command = _command(
            recipe,
            seed=seed,
            short=short,
            game=game,
            opponent=opponent if isinstance(opponent, str) else None,
            actors=actors,
            cluster=cluster,
            device=device,
        )
    recipe = _load_recipe(recipe, short=short)
    rules, recipe = _choose_game(recipe, game)
    players: dict[str, Player] = {}
    against = opponent if isinstance(opponent, str) else None
    if not _is_spec(opponent):
        assert opponent is not None
        player = as_player(opponent)
        against = f"python:{player.name}"
        players[against] = player
    name = _run_name(recipe, seed, against, short=short, is_own_game=game is not None)
    if against is not None:
        recipe = _with_opponent(recipe, against)
    if (actors or cluster is not None) and (players or not registry.is_loadable(rules)):
        msg = "actors cannot load a Python object: give the game and the opponent as specs"
        raise BadSpec(msg)
    recipe = _with_first_move(recipe, rules)
    check(recipe)
    run = Run(Path(out) if out is not None else runs_folder() / name, recipe, seed, rules, command)
    pool = create_actor_pool(recipe, actors, cluster, rules)
    try:
        with _explain_out_of_memory():
            trainer = create_trainer(recipe, rules, seed, pool, device, players)
            run.resume(trainer) if resume else run.create()
    except BaseException:
        if pool is not None:
            pool.close()
        raise
    return run, trainer


def _is_spec(opponent: PlayerLike | None) -> bool:
    return opponent is None or isinstance(opponent, str)


def _load_recipe(recipe: str | Recipe, *, short: bool) -> Recipe:
    """Return a recipe, loading it if a name or file is given; raise BadRecipe for anything else."""
    if isinstance(recipe, str):
        return recipes.load(recipe, short=short)
    if not isinstance(recipe, Recipe):
        msg = (
            f"a recipe is a name such as 'tictactoe-dqn', a .toml file or a zermelo.Recipe, "
            f"not {show_value(recipe)}"
        )
        raise BadRecipe(msg)
    return recipe


def _choose_game(recipe: Recipe, game: GameLike | None) -> tuple[WordGame, Recipe]:
    """Return the game to learn, and the recipe with the game's spec."""
    rules = registry.as_game(recipe.game if game is None else game)
    if not isinstance(rules, WordGame):
        msg = f"{rules.spec}: training supports games with at most 64 cells"
        raise BadSpec(msg)
    return rules, recipe if game is None else replace(recipe, game=rules.spec)


def _command(recipe: str, *, short: bool, **options: str | int | None) -> str:
    """Return the command line that reproduces a run with these options."""
    words = ["zermelo", "train", recipe, "--seed", str(options.pop("seed"))]
    words += ["--short"] if short else []
    for name, value in options.items():
        if value and (name, value) != ("device", "cpu"):
            words += [f"--{name}", str(value)]
    return shlex.join(words)


@contextlib.contextmanager
def _explain_out_of_memory() -> Iterator[None]:
    try:
        yield
    except torch.OutOfMemoryError:
        msg = (
            "the GPU has too little memory for this recipe: use fewer parallel games, "
            "a smaller replay buffer or network, or the device cpu"
        )
        raise ZermeloError(msg) from None


def _run_name(
    recipe: Recipe, seed: int, opponent: str | None, *, short: bool, is_own_game: bool
) -> str:
    """Return the default name of a run's folder.

    It is tictactoe-dqn-against-level-3-7 for opponent level:3 and seed 7.
    """
    own = f"-{_file_name(recipe.game)}" if is_own_game else ""
    against = "" if opponent is None else f"-against-{_file_name(opponent)}"
    return f"{recipe.name}{own}{'-short' * short}{against}-{seed}"


def _file_name(spec: str) -> str:
    return re.sub(r"[^\w.]+", "-", spec)


def _with_opponent(recipe: Recipe, opponent: str) -> Recipe:
    """Return the recipe with this opponent in all phases.

    Symmetric states are then learned as one only if the opponent is the learner or plays at random,
    because other players may reply differently to symmetric states.
    """
    is_learner = opponent in (SELF, LEAGUE)
    phases = tuple(replace(phase, opponent=opponent) for phase in recipe.learning.phases)
    canonical = recipe.learning.canonical and (is_learner or opponent == "random")
    learning = replace(recipe.learning, phases=phases, canonical=canonical)
    acting = replace(recipe.acting, response=not is_learner)
    return replace(recipe, learning=learning, acting=acting)


def _with_first_move(recipe: Recipe, game: WordGame) -> Recipe:
    """Return the recipe with its `first_move` as the opening, or unchanged if that is "free"."""
    if recipe.first_move == "free":
        return recipe
    if recipe.first_move != "centre" or game.grid is None or game.grid.size % 2 == 0:
        msg = (
            f"first_move is {recipe.first_move!r}: it must be 'free' or, on a board with a centre "
            "cell, 'centre'"
        )
        raise BadSpec(msg)
    return replace(recipe, acting=replace(recipe.acting, opening=(game.grid.size // 2,)))


def create_trainer(
    recipe: Recipe,
    game: WordGame,
    seed: int,
    pool: ActorPool | None = None,
    device: str = "cpu",
    players: Mapping[str, Player] | None = None,
) -> Trainer:
    """Return a new, seeded trainer for the recipe. Closing the trainer closes the pool.

    `players` are the opponents that are given as objects, by their names in the recipe.
    """
    torch.manual_seed(seed)
    if recipe.kind == "value":
        assert pool is not None
        return HybridTrainer(recipe, game, seed, pool, device)
    if recipe.kind == "alphazero":
        return AlphaZeroTrainer(recipe, game, seed, pool, device)
    if recipe.kind == "supervised":
        return SupervisedTrainer(recipe, game, seed, device)
    if recipe.kind == "tabular":
        return TabularTrainer(recipe, game, seed, pool, players)
    return DQNTrainer(recipe, game, seed, pool, device, players)


def run_training(
    run: Run, trainer: Trainer, progress: Callable[[TrainingProgress], None] | None = None
) -> None:
    """Make the remaining updates, write the log and checkpoints, and save the final weights.

    `progress` is called after every update. The trainer is closed even if an error occurs. Raise
    TrainingDiverged if the loss, a value or a weight becomes NaN or infinite; such numbers are not
    written to any file, and the run remains unfinished.
    """
    try:
        try:
            with _explain_out_of_memory():
                _make_updates(run, trainer, progress)
        finally:
            trainer.close()
        run.save_weights(model_files.FINAL, trainer)
    finally:
        run.release()


def _make_updates(
    run: Run, trainer: Trainer, progress: Callable[[TrainingProgress], None] | None
) -> None:
    recipe, statistics = run.recipe, run.statistics
    evaluation_set = build_evaluation_set(run.game)
    tensorboard = TensorBoardLog(run.folder, trainer.updates)
    begin, updates_before, seconds_before = time.monotonic(), trainer.updates, statistics.seconds
    for report in trainer.steps():
        if not math.isfinite(report.loss):
            raise TrainingDiverged(recipe.name, "the loss")
        statistics.loss_sum += report.loss
        statistics.num_losses += 1
        seconds = time.monotonic() - begin
        statistics.seconds = seconds_before + seconds
        is_last = report.update == recipe.learning.updates
        if is_last or report.update % recipe.keeping.grade == 0:
            line = _grade_update(run, trainer, report, evaluation_set)
            append_line(run.folder, line)
            tensorboard.add(line)
        if is_last or report.update % recipe.keeping.checkpoint == 0:
            run.save_checkpoint(trainer)
        if progress is not None:
            rate = (report.update - updates_before) / max(seconds, 1e-9)
            progress(TrainingProgress(report, recipe.learning.updates, rate))
    tensorboard.close()


def _grade_update(
    run: Run, trainer: Trainer, report: TrainingReport, evaluation_set: EvaluationSet | None
) -> LogLine:
    """Grade the weights and return a log line; save the weights if none so far were better."""
    statistics, game_batch = run.statistics, trainer.game_batch
    results = np.array(report.results or [0])
    win_rate = float((results > 0).mean())
    statistics.best_win_rate = max(statistics.best_win_rate, win_rate)
    states = (
        game_batch.sample_states(_NUM_SAMPLES, _MAX_PLIES, 0)
        if evaluation_set is None
        else evaluation_set.states
    )
    legal = game_batch.legal_masks(states)
    values = np.where(legal, trainer.values(states), -np.inf)
    mean_q = float(values.max(1).mean())
    if not math.isfinite(mean_q):
        raise TrainingDiverged(run.recipe.name, "a value")
    line: LogLine = {
        "update": report.update,
        "loss": statistics.loss_sum / statistics.num_losses,
        "epsilon": report.epsilon,
        "rate": report.learning_rate,
        "results": float(results.mean()) if report.results else None,
        "wins": win_rate if report.results else None,
        "most_wins": statistics.best_win_rate if report.results else None,
        "mean_q": mean_q,
    }
    statistics.loss_sum, statistics.num_losses = 0.0, 0
    if evaluation_set is not None:
        line["mistakes"] = evaluation_set.mistake_rate(masked_argmax(values, legal))
        if line["mistakes"] <= statistics.best_mistake_rate:
            statistics.best_mistake_rate = line["mistakes"]
            run.save_weights(BEST, trainer)
    if run.game.grid is not None and run.game.grid.size == run.game.num_actions:
        start_values = trainer.values(game_batch.initial_states(1))[0]
        line["start"] = [round(float(q), 4) for q in start_values]
    return line
