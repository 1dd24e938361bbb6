"""2,000 random small games against a naive solver: nothing that is marked exact may be wrong."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import zermelo as z
from support.random_games import (
    NaiveSolver,
    RandomScoredTurns,
    RandomScores,
    RandomTurns,
    RandomWords,
    TableGame,
    random_table,
)
from zermelo.core.game import WordGame
from zermelo.core.player import Analysis, Candidate, Limit
from zermelo.core.position import Position
from zermelo.search.explain.analysis import Analyst
from zermelo.search.solver.solution import Solution
from zermelo.search.solver.solver import Solver, SolverSettings

NUM_TABLES, NUM_WORD_GAMES = 1_760, 60  # word games of each of four classes
SHARDS = 8
SETTINGS = SolverSettings(table_bits=12)
WORDS = {1: "win", 0: "draw", -1: "loss"}


@dataclass
class Case:
    """A position with what the naive solver knows about it."""

    position: Position
    solver: NaiveSolver
    state: int  #: the number of the state in the solver's table

    @property
    def best(self) -> set[str]:
        ranks = {str(action): value.rank for action, value in self.solver.after(self.state).items()}
        return {move for move, rank in ranks.items() if rank == max(ranks.values())}

    def check_line(self, line: tuple[str, ...]) -> None:
        """Check that a line is legal by the table."""
        state = self.state
        for move in line:
            children = self.solver.table.children[state]
            assert int(move) in children, f"{line}: {move} is not legal"
            state = children[int(move)]

    def check_solution(self, solution: Solution) -> None:
        self.check_line(solution.pv)
        moves = {str(action) for action in self.solver.table.children[self.state]}
        assert set(solution.best) <= moves
        value = self.solver.value(self.state)
        if not solution.exact:
            assert solution.value is None
            assert solution.plies is None
            return
        assert solution.value == WORDS[value.sign]
        for move in solution.best:
            assert self.solver.after(self.state)[int(move)].sign == value.sign
        if solution.complete:
            assert set(solution.best) == self.best
        self.check_distance(solution, value.margin, value.plies)

    def check_distance(
        self, claim: Solution | Candidate | Analysis, margin: int, plies: int
    ) -> None:
        """Check a score or a distance, if the claim has one: tree search proves only values."""
        if claim.diff is not None:
            assert self.solver.table.has_scores
            assert claim.diff == margin
        if claim.plies is not None:
            assert not self.solver.table.has_scores
            assert claim.plies == plies

    def check_analysis(self, analysis: Analysis) -> None:
        after = self.solver.after(self.state)
        self.check_line(analysis.pv)
        value = self.solver.value(self.state)
        if analysis.exact:
            assert analysis.value == WORDS[value.sign]
            self.check_distance(analysis, value.margin, value.plies)
        for candidate in analysis.candidates:
            self.check_line(candidate.pv)
            own = after[int(candidate.move)]
            if candidate.exact:
                assert candidate.value == WORDS[own.sign]
                self.check_distance(candidate, own.margin, own.plies)
            for reason in candidate.reasons:
                self.check_line(reason.line)


def check_case(case: Case, rng: random.Random) -> None:
    """Solve and analyse a position without a limit, and then with a small one."""
    if not case.solver.table.children[case.state]:
        solution = z.solve(case.position)
        assert (solution.exact, solution.plies) == (True, 0)
        assert solution.value == WORDS[case.solver.value(case.state).sign]
        return
    game, solver = case.position.game, None
    if isinstance(game, WordGame):
        solver = Solver(game, SETTINGS)  # the default table would take most of the time
    solution = z.solve(case.position, solver=solver)
    assert solution.exact
    table = case.solver.table
    assert solution.complete
    assert (solution.diff is not None) == table.has_scores
    case.check_solution(solution)
    limit = rng.choice((Limit(nodes=rng.randint(1, 60)), Limit(depth=rng.randint(1, 4))))
    case.check_solution(z.solve(case.position, limit=limit, solver=solver))
    if rng.random() < 0.3:
        analysis = z.analyze(case.position, Limit(nodes=20_000), analyst=Analyst(SETTINGS))
        case.check_analysis(analysis)
        if all(candidate.exact for candidate in analysis.candidates):
            assert {c.move for c in analysis.candidates if c.best} == case.best
        case.check_analysis(z.analyze(case.position, limit, analyst=Analyst(SETTINGS)))
    if rng.random() < 0.1:
        spec = rng.choice(("mcts:sims=40", "perfect", "minimax:depth=2", "greedy"))
        case.check_analysis(z.player(spec).choose(case.position))


def check(case: Case, rng: random.Random) -> None:
    try:
        check_case(case, rng)
    except AssertionError as error:
        msg = f"{error}\n{case.position.game.spec}, state {case.state}"
        raise AssertionError(msg) from error


@pytest.mark.parametrize("shard", range(SHARDS))
def test_games_given_by_random_tables(shard: int) -> None:
    for number in range(shard, NUM_TABLES, SHARDS):
        rng = random.Random(f"table {number}")
        table = random_table(rng)
        game, solver = TableGame(table, f"table{number}"), NaiveSolver(table)
        unfinished = [state for state in sorted(table.reachable()) if table.children[state]]
        for state in {0, *rng.sample(unfinished, min(1, len(unfinished)))}:
            check(Case(Position(game, state, None), solver, state), rng)


@pytest.mark.parametrize("cls", [RandomWords, RandomTurns, RandomScores, RandomScoredTurns])
def test_random_bitboard_games(cls: Callable[..., RandomWords]) -> None:
    for number in range(NUM_WORD_GAMES):
        rng = random.Random(f"words {number}")
        game = cls(rng, f"words{number}")
        table, numbers = game.table
        solver, position = NaiveSolver(table), game.start()
        for _ in range(rng.randint(1, 3)):
            check(Case(position, solver, numbers[to_sets(position.state)]), rng)
            if position.is_over:
                break
            position = position.play_action(rng.choice(position.actions))


def to_sets(state: Any) -> Any:
    """The state of a random bitboard game as the naive table has it: sets of cells by player."""
    mine, theirs = (frozenset(c for c in range(64) if w >> c & 1) for w in state[:2])
    return (mine, theirs, 0) if state[2] == 0 else (theirs, mine, 1)


class FirstMove(z.Player):
    """Plays the first legal move."""

    name = "first"

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        del limit
        yield Analysis(position.legal[0])


def test_grading_counts_the_mistakes_of_random_games() -> None:
    for number in range(12):
        table = random_table(random.Random(f"grade {number}"))
        game, solver = TableGame(table, f"graded{number}"), NaiveSolver(table)
        if not table.children[0]:
            continue
        unfinished = [state for state in table.reachable() if table.children[state]]
        wrong = [
            state
            for state in unfinished
            if next(iter(solver.after(state).values())).sign < solver.value(state).sign
        ]
        grade = z.grade(game, FirstMove())
        assert (grade.total.positions, grade.total.mistakes) == (len(unfinished), len(wrong))
