"""Measure rates for benchmarks: the median rate per CPU second of several runs on one core."""

import importlib.metadata
import importlib.util
import os
import platform
import statistics
import time
from collections.abc import Callable
from typing import Any

StepFunction = Callable[[int], int]  #: number of games or batches to play -> number of steps
Row = dict[str, Any]  #: one measurement, with the keys of the JSON output
ProgressFunction = Callable[[str], None]  #: is called with a description of the current task

_PEERS = ("open_spiel", "pgx", "mctx", "pettingzoo", "bitbully", "stable_baselines3")
_MODULES = {"open_spiel": "pyspiel"}


def pin_to_one_core() -> None:
    """Pin this process to one core if the platform allows it, so that threads have no advantage."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def measure_rate(run: StepFunction, seconds: float, repeat: int) -> float:
    """Return the median number of steps per CPU second in `repeat` runs of about `seconds` each."""
    run(1)  # compiles code and fills caches
    size = 1
    while True:
        begin = time.process_time()
        run(size)
        elapsed = time.process_time() - begin
        if elapsed > seconds / 10:
            break
        size *= 2 if elapsed else 10
    size = max(1, int(size * seconds / elapsed))
    rates = []
    for _ in range(repeat):
        begin = time.process_time()
        steps = run(size)
        rates.append(steps / (time.process_time() - begin))
    return statistics.median(rates)


def describe_machine() -> dict[str, Any]:
    """Return the processor, the number of cores, the Python version and the system."""
    return {
        "cpu": _cpu_name(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": platform.system(),
    }


def _cpu_name() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123 - a fixed file
            names = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor()


def is_installed(peer: str) -> bool:
    """Return whether a library is installed."""
    return importlib.util.find_spec(_MODULES.get(peer, peer)) is not None


def create_row(
    game: str, task: str, system: str, rate: float, unit: str = "steps/s", **figures: float
) -> Row:
    """Return one measurement as a row of the report; `figures` are added to it."""
    row = {"game": game, "task": task, "system": system, "rate": round_figure(rate), "unit": unit}
    return row | {name: round_figure(figure) for name, figure in figures.items()}


def round_figure(value: float) -> float:
    """Round values from 1,000 up to integers, and smaller ones to four significant digits."""
    if isinstance(value, int):
        return value
    return round(value) if value >= 1000 else float(f"{value:.4g}")


def create_report(suite: str, rows: list[Row], notes: list[str]) -> dict[str, Any]:
    """Return all measurements of a suite, with the ratios of our rates to those of peers."""
    ours = {(row["game"], row["task"]): row["rate"] for row in rows if row["system"] == "zermelo"}
    ratios: dict[str, dict[str, float]] = {}
    for row in rows:
        if row["system"] != "zermelo" and row["rate"]:
            ratio = ours[row["game"], row["task"]] / row["rate"]
            ratios.setdefault(f"{row['game']}/{row['task']}", {})[row["system"]] = round(ratio, 2)
    versions = {peer: importlib.metadata.version(peer) for peer in _PEERS if is_installed(peer)}
    return {
        "suite": suite,
        "machine": describe_machine(),
        "versions": versions,
        "rows": rows,
        "ratios": ratios,
        "notes": notes,
    }
