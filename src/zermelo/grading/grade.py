"""Grade a player against perfect play; report each result beside the best possible one."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zermelo.core.errors import BadSpec, ZermeloError, import_package
from zermelo.core.game import Game, WordGame
from zermelo.core.phrases import count
from zermelo.core.player import Limit
from zermelo.core.position import Position, as_position
from zermelo.games import registry
from zermelo.games.registry import GameLike
from zermelo.grading import generate, position_sets, unbeatable
from zermelo.grading.graph import GameGraph
from zermelo.grading.oracle import Oracle, SolverOracle
from zermelo.grading.policy import PlayerPolicy
from zermelo.grading.position_sets import LabelledPosition
from zermelo.grading.random_opponent import (
    Ceiling,
    OutcomeProbabilities,
    compute_ceiling,
    outcome_probabilities,
)
from zermelo.grading.unbeatable import SeatCheck
from zermelo.players.registry import PlayerLike
from zermelo.search.limits import ProgressCallback

SECONDS = 10.0  #: default time limit of the solver for one position
SEATS = ("first", "second")
_SAMPLE_SIZE = 100  # positions to generate for a large game without shipped sets
_SAMPLE_NODES = 1_000_000  # node limit of the solver for one generated position


@dataclass
class SetResult:
    """The result of a player on a set of positions."""

    positions: int = 0
    mistakes: int = 0  #: moves that lower the exact value
    decisions: int = 0  #: positions in which a mistake is possible
    slow_wins: int = 0  #: winning moves that are not among the fastest
    wins: int = 0  #: won positions whose fastest wins are known
    unsolved: int = 0  #: positions left out because the solver did not finish

    def __add__(self, other: "SetResult") -> "SetResult":
        """Return the sum of two results."""
        return SetResult(
            *(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True))
        )

    @property
    def mistake_rate(self) -> float | None:
        """The number of mistakes per position, or None if there are no positions."""
        return self.mistakes / self.positions if self.positions else None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of the JSON output."""
        return {
            "positions": self.positions,
            "mistakes": self.mistakes,
            "mistake_rate": self.mistake_rate,
            "decisions": self.decisions,
            "slow_wins": self.slow_wins,
            "wins": self.wins,
            "unsolved": self.unsolved,
        }


@dataclass
class Grade:
    """A comparison of a player with perfect play; fields that were not measured are None."""

    game: Game
    player: str
    sets: dict[str, SetResult] = field(default_factory=dict)
    seat_checks: tuple[SeatCheck, SeatCheck] | None = None  #: as the first and as the second player
    vs_random: tuple[OutcomeProbabilities, OutcomeProbabilities] | None = None
    ceilings: tuple[Ceiling, Ceiling] | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def total(self) -> SetResult:
        """The player's result over all sets of positions."""
        return sum(self.sets.values(), SetResult())

    @property
    def unbeatable(self) -> bool | None:
        """Whether the player is unbeatable in both seats; None if this is undecided."""
        by_seat = [check.unbeatable for check in self.seat_checks or ()]
        return False if False in by_seat else None if not by_seat or None in by_seat else True

    @property
    def beaten_by(self) -> list[str] | None:
        """The moves of the shortest refutation found, or None."""
        lines = [c.refutation for c in self.seat_checks or () if c.refutation is not None]
        return self._moves(min(lines, key=len)) if lines else None

    def _moves(self, actions: tuple[int, ...]) -> list[str]:
        return list(self.game.line_to_text(self.game.initial(), actions))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of the JSON output."""
        checks = self.seat_checks or (None, None)
        return {
            "game": self.game.spec,
            "player": self.player,
            **self.total.to_dict(),
            "unbeatable": self.unbeatable,
            "unbeatable_as": {
                seat: check and check.unbeatable for seat, check in zip(SEATS, checks, strict=True)
            },
            "beaten_by": self.beaten_by,
            "beaten_as": {
                seat: check and check.refutation and self._moves(check.refutation)
                for seat, check in zip(SEATS, checks, strict=True)
            },
            "vs_random": _by_seat(self.vs_random),
            "ceilings": _by_seat(self.ceilings),
            "sets": {name: result.to_dict() for name, result in self.sets.items()},
            "notes": self.notes,
        }

    def to_dataframe(self) -> Any:
        """Return a pandas data frame with a row for every set of positions."""
        rows = [{"set": name, **result.to_dict()} for name, result in self.sets.items()]
        return import_package("pandas", "to_dataframe").DataFrame(rows)

    def __repr__(self) -> str:
        """Return the player, the game and the number of mistakes in angle brackets."""
        total = self.total
        mistakes = f"{count(total.mistakes, 'mistake')} in {count(total.positions, 'position')}"
        unbeatable = {True: ", unbeatable", False: ", beatable", None: ""}[self.unbeatable]
        return f"<grade of {self.player} at {self.game.spec}: {mistakes}{unbeatable}>"


def _by_seat(pair: tuple[Any, Any] | None) -> dict[str, Any] | None:
    return pair and {seat: one.to_dict() for seat, one in zip(SEATS, pair, strict=True)}


def grade(
    game: GameLike,
    player: PlayerLike,
    *,
    exhaustive: bool = False,
    positions: str | Path | Iterable[Position] | None = None,
    seed: int = 0,
    seconds: float = SECONDS,
    progress: ProgressCallback | None = None,
) -> Grade:
    """Count a player's mistakes in all states of a small game, or in sets of positions.

    In a small game, also check whether the player is unbeatable and compute its exact results
    against a random opponent. With `exhaustive`, check in any game whether it is unbeatable.
    `seconds` is the time limit of the solver for one position. Ctrl-C ends the grading early and
    returns the results so far.

    >>> import zermelo as z
    >>> grade = z.grade("tictactoe", "perfect")
    >>> grade.total.positions, grade.total.mistakes, grade.unbeatable
    (4520, 0, True)
    >>> z.grade("tictactoe", lambda position: position.legal[0])
    <grade of <lambda> at tictactoe: 1,869 mistakes in 4,520 positions, beatable>
    """
    rules = registry.as_game(game)
    policy = PlayerPolicy(rules, player, seed)
    grader = _Grader(
        rules, policy, Limit(seconds=seconds), progress or (lambda _text, _share=None: None)
    )
    result = grader.grade
    try:
        grader.count_mistakes(grader.load_sets(positions))
        if grader.graph is not None or exhaustive:
            result.seat_checks = grader.check_seats()
        if grader.graph is not None:
            result.vs_random = grader.play_random_opponent(grader.graph)
    except KeyboardInterrupt:
        result.notes.append("stopped early: the figures cover only the part that was finished")
    return result


class _Grader:
    """The steps of one call of `grade` and the data that they share."""

    def __init__(
        self, game: Game, policy: PlayerPolicy, limit: Limit, progress: ProgressCallback
    ) -> None:
        self.game, self.policy, self.limit, self.progress = game, policy, limit, progress
        progress("exploring all states")
        self.graph = GameGraph.build(game)
        self._solver: SolverOracle | None = None
        self.grade = Grade(game, policy.name)
        if self.graph is not None:
            self.grade.ceilings = (compute_ceiling(self.graph, 0), compute_ceiling(self.graph, 1))

    @property
    def solver(self) -> SolverOracle:
        """The solver, created when first needed. Raise ZermeloError if the game is too large."""
        if self._solver is None:
            if not isinstance(self.game, WordGame):
                msg = (
                    f"cannot grade {self.game.spec}: the solver supports boards of at most 64 "
                    "cells, so exact values are unknown"
                )
                raise ZermeloError(msg)
            self._solver = SolverOracle(self.game, self.limit)
        return self._solver

    def load_sets(
        self, positions: str | Path | Iterable[Position] | None
    ) -> dict[str, list[LabelledPosition]]:
        """Return the sets of positions to grade on, by name."""
        if isinstance(positions, str | Path):
            return {Path(positions).stem: position_sets.read(Path(positions), self.game)}
        if positions is not None:
            if not isinstance(positions, Iterable):
                msg = "positions is a file or a list of positions, not " + type(positions).__name__
                raise BadSpec(msg)
            return {"given": [LabelledPosition(as_position(position)) for position in positions]}
        if self.graph is not None:
            states = self.graph.nonterminal
            return {"all": [LabelledPosition(Position(self.game, s, None)) for s in states]}
        return position_sets.load_shipped(self.game) or {"sampled": self._generate()}

    def _generate(self) -> list[LabelledPosition]:
        self.grade.notes.append(
            f"no position set is shipped for {self.game.spec}: {_SAMPLE_SIZE} positions were "
            "generated with a fixed seed"
        )

        def report(num_accepted: int, _num_examined: int) -> None:
            self.progress(
                f"{num_accepted} of {_SAMPLE_SIZE} positions generated", num_accepted / _SAMPLE_SIZE
            )

        accept = generate.PositionFilter(max_nodes=_SAMPLE_NODES)
        return generate.generate_positions(self.game, _SAMPLE_SIZE, accept=accept, progress=report)

    def count_mistakes(self, sets: dict[str, list[LabelledPosition]]) -> None:
        """Count the player's mistakes in each set; store the results."""
        total = sum(map(len, sets.values()))
        done = 0
        for name, positions in sets.items():
            result = self.grade.sets[name] = SetResult()
            for position in positions:
                self.progress(f"{done:,} of {total:,} positions", done / total)
                self._grade_position(position, result)
                done += 1
        unsolved = self.grade.total.unsolved
        if unsolved:
            self.grade.notes.append(
                f"{unsolved:,} {'position was' if unsolved == 1 else 'positions were'} left out: "
                f"not solved within {self.limit.seconds:g} s each"
            )

    def _grade_position(self, labelled: LabelledPosition, result: SetResult) -> None:
        state = labelled.position.state
        in_graph = self.graph is not None and state in self.graph.children
        oracle: Oracle = self.graph if self.graph and in_graph else self.solver
        values = labelled.move_values or oracle.evaluate_moves(state)
        if values is None:
            result.unsolved += 1
            return
        action = self.policy[state]
        result.positions += 1
        result.mistakes += values.is_mistake(action)
        result.decisions += values.allows_mistake
        result.slow_wins += values.is_slow_win(action)
        result.wins += values.fastest is not None

    def check_seats(self) -> tuple[SeatCheck, SeatCheck]:
        """Check in both seats whether the player is unbeatable."""
        self.progress("solving the game")
        oracle: Oracle = self.graph or self.solver
        value = oracle.value(self.game.initial())
        if value is None:
            note = f"the value of {self.game.spec} was not proven within {self.limit.seconds:g} s"
            self.grade.notes.append(f"unbeatable: {note}")
            return SeatCheck(unbeatable=None, note=note), SeatCheck(unbeatable=None, note=note)
        checks = [
            unbeatable.check_seat(
                self.policy,
                seat,
                value if seat == self.game.player(self.game.initial()) else -value,
                oracle=None if self.graph else self.solver,
                progress=self.progress,
            )
            for seat in (0, 1)
        ]
        self.grade.notes += [
            f"unbeatable as {seat}: {check.note}"
            for seat, check in zip(SEATS, checks, strict=True)
            if check.note
        ]
        return checks[0], checks[1]

    def play_random_opponent(
        self, graph: GameGraph
    ) -> tuple[OutcomeProbabilities, OutcomeProbabilities]:
        """Return the exact results against a random opponent in both seats."""
        self.progress("computing results against a random opponent")
        return (
            outcome_probabilities(graph, 0, lambda state: (self.policy[state],)),
            outcome_probabilities(graph, 1, lambda state: (self.policy[state],)),
        )
