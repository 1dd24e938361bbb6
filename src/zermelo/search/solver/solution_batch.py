"""Solve many positions at once, of one game or of several.

Positions of bitboard games are solved by `state_batch`, at the speed of its kernel. Positions of
other games, and positions whose best moves are wanted, are solved one by one.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from zermelo.core.game import Game, WordGame
from zermelo.core.player import Limit, as_limit
from zermelo.core.position import Position
from zermelo.kernels.compiler import compile_kernel
from zermelo.search.negamax import batch
from zermelo.search.solver.solution import (
    DEFAULT_SOLVERS,
    Solution,
    check_goal,
    check_solvable,
    solve,
    solve_finished,
)
from zermelo.search.solver.solver import Solver
from zermelo.search.solver.state_batch import BatchRun, StateBatch
from zermelo.search.state_arrays import check_positions, to_array
from zermelo.search.worker_threads import check_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray


def solve_many(
    positions: Iterable[Position],
    goal: str = "exact",
    limit: Limit | None = None,
    *,
    threads: int = 1,
    moves: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> list[Solution]:
    """Solve many positions, of one game or of several, and return their solutions in order.

    Values and distances are those of `solve`, and the limit applies to each position.
    Without `moves`, no time is spent on best moves: `best` and `pv` are empty, unless an estimate
    names a move, and `complete` is False. With `moves`, the solutions equal those of `solve`,
    but the call takes many times as long. Results do not depend on the number of threads, except
    with a time limit. `seconds` is a mean over positions that were solved together. `progress` is
    called now and then with the number of solved positions and the number of all positions.

    After Ctrl-C, or when `limit.stop` is set, the solutions found so far are returned; all other
    positions have no value, and an estimate of 0.

    >>> import zermelo as z
    >>> start = z.game("mnk:4x4x3").start()
    >>> [(s.value, s.plies) for s in z.solve_many([start, start.play("a1"), start.play("b2")])]
    [('win', 5), ('loss', 10), ('loss', 4)]
    """
    check_goal(goal)
    check_threads(threads)
    limit = as_limit(limit)
    checked = check_positions(positions, "solve_many")
    run = BatchRun(goal, limit, threads, len(checked), progress)
    groups = _group_by_game(checked)
    for game in groups:
        check_solvable(game, run.limit)
    solutions: dict[int, Solution | None] = {}
    for game, indices in groups.items():
        group = [checked[index] for index in indices]
        if isinstance(game, WordGame) and not moves:
            found = _solve_states(run, game, group)
        else:
            found = _solve_positions(run, game, group)
        solutions.update(zip(indices, found, strict=True))
        run.poll()
    return [
        solutions[index] or Solution(position, estimate=0.0, complete=False)
        for index, position in enumerate(checked)
    ]


def _group_by_game(positions: list[Position]) -> dict[Game, list[int]]:
    """Return the indices of the positions of each game."""
    by_id: dict[int, list[int]] = {}  # the hash of a game is slow
    for index, position in enumerate(positions):
        by_id.setdefault(id(position.game), []).append(index)
    groups: dict[Game, list[int]] = {}
    for indices in by_id.values():
        groups.setdefault(positions[indices[0]].game, []).extend(indices)
    return groups


def _solve_states(
    run: BatchRun, game: WordGame, positions: list[Position]
) -> list[Solution | None]:
    """Solve positions of a bitboard game without their best moves."""
    import numpy as np

    states = to_array(game, positions)
    is_over: NDArray[np.bool_] = np.zeros(len(states), np.bool_)
    compile_kernel(batch.mark_finished, game)(states, is_over)
    if not is_over.any():
        return StateBatch(run, game, positions, states).solve()
    solutions: list[Solution | None] = [None] * len(positions)
    for row in is_over.nonzero()[0].tolist():
        solutions[row] = solve_finished(positions[row])
        run.add_solved(1)
    running = (~is_over).nonzero()[0].tolist()
    if running:
        found = StateBatch(run, game, [positions[row] for row in running], states[running]).solve()
        for row, solution in zip(running, found, strict=True):
            solutions[row] = solution
    return solutions


def _solve_positions(run: BatchRun, game: Game, positions: list[Position]) -> list[Solution | None]:
    """Solve positions as `solve` does; equal positions are solved only once."""
    indices: dict[Any, list[int]] = {}
    for index, position in enumerate(positions):
        indices.setdefault(position.state, []).append(index)
    solutions: list[Solution | None] = [None] * len(positions)

    def solve_position(solver: Solver | None, equal: list[int]) -> None:
        if solver is not None:
            solver.clear()
        limit = replace(run.limit, stop=run.stop)
        solution = solve(positions[equal[0]], run.goal, limit, solver=solver)
        for index in equal:  # they may have been reached by different moves
            solutions[index] = replace(solution, position=positions[index])
        run.add_solved(len(equal))

    @contextlib.contextmanager
    def worker() -> Iterator[Callable[[list[int]], None]]:
        if isinstance(game, WordGame):
            with DEFAULT_SOLVERS.borrow(game) as solver:
                yield partial(solve_position, solver)
        else:
            yield partial(solve_position, None)

    if not run.stop.is_set():
        run.run(list(indices.values()), worker)
    return solutions
