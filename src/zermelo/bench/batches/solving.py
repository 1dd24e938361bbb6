"""Compare `z.solve_many` with the batch kernel that it runs, and with a loop over `z.solve`."""

from pathlib import Path

import numpy as np

from zermelo.bench import measure, positions
from zermelo.bench.batches.alternation import measure_alternately
from zermelo.bench.measure import ProgressFunction, Row
from zermelo.core.errors import ZermeloError
from zermelo.core.game import WordGame
from zermelo.core.position import Position
from zermelo.games import registry
from zermelo.search.limits import SearchClock
from zermelo.search.negamax.searcher import NegamaxSearcher
from zermelo.search.solver.solution import solve
from zermelo.search.solver.solution_batch import solve_many
from zermelo.search.solver.solver import SolverSettings

_LOOP_SHARE = 10  # only every tenth position is solved in the loop, which is slow


def measure_solving(
    file: Path | None, number: int, repeat: int, progress: ProgressFunction
) -> list[Row]:
    """Measure the three ways on the same Connect Four positions; their values must be equal."""
    game = registry.game("connect4")
    assert isinstance(game, WordGame)
    batch = _list_positions(file, number, game)
    states = np.array([position.state for position in batch], np.uint64)
    searcher = NegamaxSearcher(game.hooks, table_bits=SolverSettings().table_bits)
    searcher.allocate_table()  # before the clock starts
    progress(f"{len(batch):,} positions with solve_many and the kernel")
    scores = searcher.solve_batch(states, SearchClock())
    win_score = game.hooks.win_score
    for position, solution, score in zip(batch, solve_many(batch), scores, strict=True):
        if (solution.plies or 0) != (win_score - abs(score) if score else 0):
            msg = f"solve_many and the kernel disagree about {' '.join(position.moves or ())}"
            raise ZermeloError(msg)
    seconds = measure_alternately(
        {
            "zermelo": lambda: solve_many(batch),
            "kernel": lambda: searcher.solve_batch(states, SearchClock()),
        },
        repeat,
    )
    progress("the loop over solve, which also finds the best moves")
    some = batch[::_LOOP_SHARE]
    loop = measure_alternately({"solve": lambda: [solve(position) for position in some]}, repeat)
    rates = {system: len(batch) / time for system, time in seconds.items()}
    rates["loop"] = len(some) / loop["solve"]
    return [
        measure.create_row(
            "connect4", "solve many", system, rate, "positions/s", ms=1000 * len(batch) / rate
        )
        for system, rate in rates.items()
    ]


def _list_positions(file: Path | None, number: int, game: WordGame) -> list[Position]:
    """Return the positions of a file, or `number` sampled ones with 16 to 34 stones."""
    if file is not None:
        sets = positions.read_positions(file, game)
        return [position for position_set in sets for position in position_set.positions]
    names = ("end", "middle")
    share = -(-number // len(names))
    sampled = [p for name in names for p in positions.sample_connect_four(name, share).positions]
    return sampled[:number]
