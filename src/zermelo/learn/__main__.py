"""Train with few dependencies, for example on a rented GPU: `python -m zermelo.learn RECIPE`.

This command needs only numpy, torch and safetensors. It trains in the same way as `zermelo train`,
but does not grade the player. Instead, it measures how often an AlphaZero network makes mistakes in
labelled positions, both without and with its search.
"""

import argparse
import importlib.util
import json
import os
import sys
import time
from pathlib import Path

from zermelo.core.errors import ZermeloError
from zermelo.core.files import write_atomically
from zermelo.learn.alphazero.trainer import AlphaZeroReport, AlphaZeroTrainer
from zermelo.learn.batch import evaluation_sets
from zermelo.learn.runs import model_card, training_loop
from zermelo.learn.runs.run_folder import Run
from zermelo.learn.runs.training_loop import TrainingProgress

_INTERVAL = 15.0  # seconds between progress lines


def main() -> int:
    """Run the training that the command line describes, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m zermelo.learn", description=__doc__)
    parser.add_argument("recipe", help="name of a recipe, or path of a .toml file")
    parser.add_argument("--out", type=Path, help="folder to write the run to")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--short", action="store_true", help="make a short trial run")
    parser.add_argument("--resume", action="store_true", help="continue from the latest checkpoint")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument(
        "--labels",
        type=Path,
        action="append",
        default=[],
        help="file of labelled positions, written by `zermelo positions`  [default: shipped files]",
    )
    arguments = parser.parse_args()
    if importlib.util.find_spec("numba") is None:
        os.environ.setdefault("ZERMELO_JIT", "0")  # do not compile the few kernels needed here
    try:
        _train(arguments)
    except ZermeloError as error:
        print(f"zermelo: {error}", file=sys.stderr)  # noqa: T201 - there is no CLI library here
        return 1
    return 0


def _train(arguments: argparse.Namespace) -> None:
    begin = time.monotonic()
    run, trainer = training_loop.prepare_training(
        arguments.recipe,
        arguments.out,
        seed=arguments.seed,
        short=arguments.short,
        resume=arguments.resume,
        device=arguments.device,
    )
    for warning in run.warnings:
        _print(f"note: {warning}")
    training_loop.run_training(run, trainer, _ProgressPrinter())
    seconds = time.monotonic() - begin
    model_card.write_card(run, {}, arguments.device)
    _print(f"{run.folder}: {trainer.updates:,} updates in {seconds:.0f} s, set-up included")
    if isinstance(trainer, AlphaZeroTrainer):
        _mark(run, trainer, arguments.labels)


class _ProgressPrinter:
    """Prints the progress of a training run at intervals and at the end of the run."""

    def __init__(self) -> None:
        self._begin = self._last = time.monotonic()

    def __call__(self, progress: TrainingProgress) -> None:
        report, now = progress.report, time.monotonic()
        if now - self._last <= _INTERVAL and report.update != progress.total_updates:
            return
        self._last = now
        text = f"update {report.update:,} of {progress.total_updates:,}, loss {report.loss:.3f}"
        if isinstance(report, AlphaZeroReport):
            text += f", value loss {report.value_loss:.3f}"
        _print(f"{now - self._begin:.0f} s: {text}")


def _mark(run: Run, trainer: AlphaZeroTrainer, label_files: list[Path]) -> None:
    """Measure, print and save the mistake rates of the trained network on labelled positions."""
    sets = evaluation_sets.load_evaluation_sets(run.game, label_files)
    marks = {name: trainer.grade(positions) for name, positions in sets}
    text = json.dumps(marks, indent=1)
    write_atomically(run.folder / "marks.json", text, durable=True, mode=0o644)
    for name, mark in marks.items():
        _print(
            f"{name}: {mark['positions']:,} positions, mistake rate {mark['raw']:.2%} with the "
            f"policy alone, {mark['search']:.2%} with {mark['simulations']} simulations"
        )


def _print(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - there is no CLI library here


if __name__ == "__main__":
    sys.exit(main())
