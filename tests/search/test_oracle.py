"""Everything the package says about random positions, against an oracle written apart from it."""

import itertools
import random
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import zermelo as z
from support.oracle import claims
from support.oracle.samples import Sample, line_samples
from support.oracle.user_games import user_samples
from zermelo.core.game import WordGame
from zermelo.core.player import Limit
from zermelo.search.explain.analysis import Analyst
from zermelo.search.solver.solver import Solver, SolverSettings

#: the number of positions and of games of each kind, 20,000 positions in all
SHARES = {
    "small": (5_000, 40),
    "row": (7_000, 25),
    "pie": (4_500, 15),
    "large": (1_250, 30),
    "narrow": (1_250, 30),
}
NUM_USER = 1_000
NUM_SEEDS = 25  # for `make proofs`, 500,000 positions in all
LIMIT = Limit(nodes=50_000)
SETTINGS = SolverSettings(table_bits=14)


def check_samples(samples: Iterable[Sample]) -> int:
    """Check solutions, analyses and reviews of all samples; return how many there were."""
    rng, count = random.Random(0), 0
    for game, group in itertools.groupby(samples, key=lambda sample: sample.position.game):
        analyst = Analyst(SETTINGS)
        solver = Solver(game, SETTINGS) if isinstance(game, WordGame) else None
        for sample in group:
            try:
                check_sample(sample, analyst, solver, rng)
            except AssertionError as error:
                msg = f"{error}\n{game.spec}, {sample.position.verdict}:\n{sample.position}"
                raise AssertionError(msg) from error
            count += 1
    return count


def check_sample(
    sample: Sample, analyst: Analyst, solver: Solver | None, rng: random.Random
) -> None:
    position, truth = sample.position, sample.truth
    if solver is not None or rng.random() < 0.25:  # without a solver, a new engine is built
        solution = z.solve(position, limit=None if solver else LIMIT, solver=solver)
        claims.check_solution(truth, solution)
        if solver is not None:
            assert solution.exact
            assert solution.complete
            assert (solution.plies is None) == (solution.value == "draw")
    claims.check_analysis(truth, z.analyze(position, LIMIT, analyst=analyst))
    if rng.random() < 0.05:
        after = position.play_action(rng.choice(position.actions))
        _, reviewed = z.review([position, after], LIMIT, analyst=analyst)
        claims.check_reviewed_move(truth, reviewed)


def samples_of(kind: str, seed: int, folder: Path) -> Iterator[Sample]:
    if kind == "user":
        return user_samples(NUM_USER, seed, folder)
    return line_samples(kind, SHARES[kind][0], seed, SHARES[kind][1])


@pytest.mark.parametrize("kind", [*SHARES, "user"])
def test_random_positions(kind: str, tmp_path: Path) -> None:
    expected = SHARES[kind][0] if kind in SHARES else NUM_USER
    assert check_samples(samples_of(kind, 0, tmp_path)) >= expected


@pytest.mark.proof
@pytest.mark.parametrize("seed", range(1, NUM_SEEDS + 1))
@pytest.mark.parametrize("kind", [*SHARES, "user"])
def test_many_random_positions(kind: str, seed: int, tmp_path: Path) -> None:
    expected = SHARES[kind][0] if kind in SHARES else NUM_USER
    assert check_samples(samples_of(kind, seed, tmp_path)) >= expected
