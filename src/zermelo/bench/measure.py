"""How to measure: one core, CPU time, a warm-up, several runs, the median."""

import importlib.metadata
import importlib.util
import os
import platform
import statistics
import time
from collections.abc import Callable
from typing import Any

Steps = Callable[[int], int]  #: play so many games (or batches); returns the steps taken


def use_one_core() -> None:
    """Stay on one core, so that no system gains from threads; where the platform allows it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def rate(run: Steps, seconds: float, repeat: int) -> float:
    """Steps a CPU second: the median of `repeat` runs of about `seconds` each."""
    run(1)  # compiles, fills caches
    size = 1
    while True:
        begin = time.process_time()
        run(size)
        spent = time.process_time() - begin
        if spent > seconds / 10:
            break
        size *= 2 if spent else 10
    size = max(1, int(size * seconds / spent))
    rates = []
    for _ in range(repeat):
        begin = time.process_time()
        steps = run(size)
        rates.append(steps / (time.process_time() - begin))
    return statistics.median(rates)


def machine() -> dict[str, Any]:
    """Where it was measured."""
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


_PEERS = ("open_spiel", "pgx", "mctx", "pettingzoo", "bitbully", "stable_baselines3")
_MODULES = {"open_spiel": "pyspiel"}


def is_installed(peer: str) -> bool:
    """Whether a peer can be measured here."""
    return importlib.util.find_spec(_MODULES.get(peer, peer)) is not None


def row(
    game: str, task: str, system: str, value: float, unit: str = "steps/s", **more: float
) -> dict[str, Any]:
    """One measurement, and what else is known of it."""
    fields = {"game": game, "task": task, "system": system, "rate": rounded(value), "unit": unit}
    return fields | {name: rounded(number) for name, number in more.items()}


def rounded(value: float) -> float:
    """Whole numbers from 1,000 on, below that four digits that count."""
    return value if isinstance(value, int) else round(value) if value >= 1000 else _short(value)


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def report(suite: str, rows: list[dict[str, Any]], notes: list[str]) -> dict[str, Any]:
    """All measurements of a run; the ratios are ours over theirs."""
    ours = {(r["game"], r["task"]): r["rate"] for r in rows if r["system"] == "zermelo"}
    ratios: dict[str, dict[str, float]] = {}
    for r in rows:
        if r["system"] != "zermelo" and r["rate"]:
            ratio = ours[r["game"], r["task"]] / r["rate"]
            ratios.setdefault(f"{r['game']}/{r['task']}", {})[r["system"]] = round(ratio, 2)
    versions = {peer: importlib.metadata.version(peer) for peer in _PEERS if is_installed(peer)}
    return {
        "suite": suite,
        "machine": machine(),
        "versions": versions,
        "rows": rows,
        "ratios": ratios,
        "notes": notes,
    }
