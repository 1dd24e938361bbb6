"""Measure several functions in alternation, so that a change of the machine's speed affects all."""

import statistics
import time
from collections.abc import Callable


def measure_alternately(
    functions: dict[str, Callable[[], object]], repeat: int
) -> dict[str, float]:
    """Return the median CPU seconds of each function in `repeat` runs, after a warm-up."""
    for function in functions.values():
        function()
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(repeat):
        for name, function in functions.items():
            begin = time.process_time()
            function()
            times[name].append(time.process_time() - begin)
    return {name: statistics.median(seconds) for name, seconds in times.items()}
