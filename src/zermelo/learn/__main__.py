"""`python -m zermelo.learn RECIPE`: training where there is little more than torch, on a GPU, say.

It needs numpy, torch and safetensors alone, and does what `zermelo train` does but for the grades:
at the end a network of AlphaZero is marked on label files, by the same search on the same device.
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
from zermelo.learn.alphazero.trainer import AlphaZeroReport, Zero
from zermelo.learn.batch import evaluation_sets
from zermelo.learn.runs import model_card, training
from zermelo.learn.runs.training import TrainingProgress

_PAUSE = 15.0  # seconds between two lines


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(prog="python -m zermelo.learn", description=__doc__)
    parser.add_argument("recipe", help="a name, or a .toml file")
    parser.add_argument("--out", type=Path, help="the run's folder")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--short", action="store_true", help="a trial of the recipe")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument(
        "--labels",
        type=Path,
        action="append",
        default=[],
        help="graded positions, as zermelo positions writes them  [the shipped ones]",
    )
    asked = parser.parse_args()
    if importlib.util.find_spec("numba") is None:
        os.environ.setdefault("ZERMELO_JIT", "0")  # what little the kernels do here, Python does
    try:
        return _train(asked)
    except ZermeloError as error:
        print(f"zermelo: {error}", file=sys.stderr)  # noqa: T201 - there is no CLI library here
        return 1


def _train(asked: argparse.Namespace) -> int:
    began = time.monotonic()
    said = began

    def tell(now: TrainingProgress) -> None:
        nonlocal said
        if time.monotonic() - said > _PAUSE or now.report.update == now.total_updates:
            said = time.monotonic()
            report = now.report
            text = f"update {report.update:,} of {now.total_updates:,}, loss {report.loss:.3f}"
            if isinstance(report, AlphaZeroReport):
                text += f", value loss {report.value_loss:.3f}"
            _say(f"{said - began:.0f} s: {text}")

    run, trainer = training.prepare_training(
        asked.recipe,
        asked.out,
        seed=asked.seed,
        short=asked.short,
        resume=asked.resume,
        device=asked.device,
    )
    for warning in run.warnings:
        _say(f"note: {warning}")
    training.run_training(run, trainer, tell)
    spent = time.monotonic() - began
    model_card.write_card(run, {}, asked.device)
    _say(f"{run.folder}: {trainer.updates:,} updates in {spent:.0f} s, all included")
    if isinstance(trainer, Zero):
        marks = {name: trainer.marked(exam) for name, exam in evaluation_sets.load_evaluation_sets(run.game, asked.labels)}
        text = json.dumps(marks, indent=1)
        write_atomically(run.folder / "marks.json", text, durable=True, mode=0o644)
        for name, found in marks.items():
            _say(
                f"{name}: {found['positions']:,} positions, mistakes of the policy "
                f"{found['raw']:.2%}, with {found['simulations']} simulations {found['search']:.2%}"
            )
    return 0


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - there is no CLI library here


if __name__ == "__main__":
    sys.exit(main())
