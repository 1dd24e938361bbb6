"""The suite `batches`: each of its parts compares a function of the API with what it wraps."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zermelo.bench import measure
from zermelo.bench.batches import evaluating, solving
from zermelo.bench.measure import ProgressFunction, Row

PARTS = ("solve", "evaluate")


def run(
    parts: Sequence[str],
    file: Path | None,
    number: int,
    repeat: int,
    progress: ProgressFunction,
) -> dict[str, Any]:
    """Measure the given parts on one core, with `number` positions and `repeat` runs.

    If `file` is given, all of its Connect Four positions are solved instead of `number` sampled
    ones.
    """
    measure.pin_to_one_core()
    rows: list[Row] = []
    if "solve" in parts:
        rows += solving.measure_solving(file, number, repeat, progress)
    if "evaluate" in parts:
        rows += evaluating.measure_models(number, repeat, progress)
    return measure.create_report("batches", rows, [])
