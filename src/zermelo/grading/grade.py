"""Grading: how far a player is from perfect play, with the ceiling beside every figure."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zermelo.core.errors import ZermeloError
from zermelo.core.game import Game, WordGame
from zermelo.core.player import Limit, Player
from zermelo.core.position import Position
from zermelo.games import registry
from zermelo.grading import generate, position_sets, unbeatable
from zermelo.grading.chances import Ceiling, Chances, ceiling, chances
from zermelo.grading.choices import Choices
from zermelo.grading.graph import Graph
from zermelo.grading.oracle import Prover, Truth
from zermelo.grading.position_sets import Graded
from zermelo.grading.unbeatable import Trial

SECONDS = 10.0  #: for the solver on one position, and on the value of the game
SEATS = ("first", "second")
_DRAWN = 100  # positions, where a game is large and no set is shipped
_DRAWN_NODES = 1_000_000

Progress = Callable[[str], None]


@dataclass
class Tally:
    """What a player did in some positions."""

    positions: int = 0
    mistakes: int = 0  #: moves that lower the exact value
    decisions: int = 0  #: positions in which a move can be a mistake
    slow_wins: int = 0  #: moves that win, but not as fast as can be
    wins: int = 0  #: won positions in which the fastest move is known
    unsolved: int = 0  #: positions left out, because the solver did not finish

    def __add__(self, other: "Tally") -> "Tally":
        """Both together."""
        return Tally(
            *(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True))
        )

    @property
    def mistake_rate(self) -> float | None:
        """Mistakes a position."""
        return self.mistakes / self.positions if self.positions else None

    def to_json(self) -> dict[str, Any]:
        """The fields that scripts get."""
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
    """How a player compares with perfect play; what was not measured is None."""

    game: Game
    player: str
    sets: dict[str, Tally] = field(default_factory=dict)
    trials: tuple[Trial, Trial] | None = None  #: as first, as second
    vs_random: tuple[Chances, Chances] | None = None
    ceilings: tuple[Ceiling, Ceiling] | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def total(self) -> Tally:
        """All sets together."""
        return sum(self.sets.values(), Tally())

    @property
    def unbeatable(self) -> bool | None:
        """In both seats; None where that was not decided."""
        held = [trial.holds for trial in self.trials or ()]
        return False if False in held else None if not held or None in held else True

    @property
    def beaten_by(self) -> list[str] | None:
        """The shortest game found that the player should not have lost, or should have won."""
        lines = [trial.line for trial in self.trials or () if trial.line is not None]
        return [self.game.to_text(a) for a in min(lines, key=len)] if lines else None

    def to_json(self) -> dict[str, Any]:
        """The fields that scripts get."""
        held = [trial.holds for trial in self.trials] if self.trials else [None, None]
        lines = [trial.line for trial in self.trials] if self.trials else [None, None]
        moves = [line and [self.game.to_text(a) for a in line] for line in lines]
        return {
            "game": self.game.spec,
            "player": self.player,
            **self.total.to_json(),
            "unbeatable": self.unbeatable,
            "unbeatable_as": dict(zip(SEATS, held, strict=True)),
            "beaten_by": self.beaten_by,
            "beaten_as": dict(zip(SEATS, moves, strict=True)),
            "vs_random": _by_seat(self.vs_random),
            "ceilings": _by_seat(self.ceilings),
            "sets": {name: tally.to_json() for name, tally in self.sets.items()},
            "notes": self.notes,
        }


def _by_seat(pair: tuple[Any, Any] | None) -> dict[str, Any] | None:
    return pair and {seat: one.to_json() for seat, one in zip(SEATS, pair, strict=True)}


def grade(
    game: str | Game,
    player: str | Player,
    *,
    exhaustive: bool = False,
    positions: str | Path | Iterable[Position] | None = None,
    seed: int = 0,
    seconds: float = SECONDS,
    progress: Progress | None = None,
) -> Grade:
    """A player's mistakes over all states of a small game, the game's sets, or other positions.

    In a small game also whether any line beats it, which `exhaustive` asks for in every game,
    and its exact chances against a random opponent. `seconds` are the solver's for one position.
    Ctrl-C ends it with what is known by then.

    >>> import zermelo as z
    >>> found = z.grade("tictactoe", "perfect")
    >>> found.total.positions, found.total.mistakes, found.unbeatable
    (4520, 0, True)
    """
    rules = registry.game(game) if isinstance(game, str) else game
    choices = Choices(rules, player, seed)
    work = _Work(rules, choices, Limit(seconds=seconds), progress or (lambda _text: None))
    found = work.found
    try:
        work.judge(work.sets(positions))
        if work.graph is not None or exhaustive:
            found.trials = work.challenge()
        if work.graph is not None:
            found.vs_random = work.meet_random(work.graph)
    except KeyboardInterrupt:
        found.notes.append("stopped: the figures are of what was done by then")
    return found


class _Work:
    """One call of `grade`."""

    def __init__(self, game: Game, choices: Choices, limit: Limit, progress: Progress) -> None:
        self.game, self.choices, self.limit, self.progress = game, choices, limit, progress
        progress("all states, if they are few")
        self.graph = Graph.of(game)
        self._prover: Prover | None = None
        self.found = Grade(game, choices.name)
        if self.graph is not None:
            self.found.ceilings = (ceiling(self.graph, 0), ceiling(self.graph, 1))

    @property
    def prover(self) -> Prover:
        """The solver, made when first needed."""
        if self._prover is None:
            if not isinstance(self.game, WordGame):
                msg = f"{self.game.spec} is beyond the solver, so there is no truth to grade by"
                raise ZermeloError(msg)
            self._prover = Prover(self.game, self.limit)
        return self._prover

    @property
    def truth(self) -> Truth:
        """The graph of a small game, else the solver."""
        return self.graph or self.prover

    def sets(self, positions: str | Path | Iterable[Position] | None) -> dict[str, list[Graded]]:
        """What to grade by, by name."""
        if isinstance(positions, str | Path):
            return {Path(positions).stem: position_sets.read(Path(positions), self.game)}
        if positions is not None:
            return {"given": [Graded(position) for position in positions]}
        if self.graph is not None:
            return {"all": [Graded(Position(self.game, s, None)) for s in self.graph.running]}
        return position_sets.shipped(self.game) or {"drawn": self._drawn()}

    def _drawn(self) -> list[Graded]:
        self.found.notes.append(
            f"no set of positions is shipped for {self.game.spec}: {_DRAWN} were drawn, always "
            "the same"
        )

        def say(found: int, _looked: int) -> None:
            self.progress(f"{found} of {_DRAWN} positions drawn")

        wanted = generate.Wanted(nodes=_DRAWN_NODES)
        return generate.draw(self.game, _DRAWN, wanted=wanted, progress=say)

    def judge(self, by_name: dict[str, list[Graded]]) -> None:
        """Every position once."""
        number = sum(map(len, by_name.values()))
        done = 0
        for name, some in by_name.items():
            tally = self.found.sets[name] = Tally()
            for graded in some:
                self.progress(f"{done:,} of {number:,} positions")
                self._judge(graded, tally)
                done += 1
        if self.found.total.unsolved:
            self.found.notes.append(
                f"{self.found.total.unsolved:,} positions were not solved within "
                f"{self.limit.seconds:g} s each, and left out"
            )

    def _judge(self, graded: Graded, tally: Tally) -> None:
        state = graded.position.state
        known = self.graph if self.graph and state in self.graph.children else self.prover
        verdict = graded.verdict or known.judge(state)
        if verdict is None:
            tally.unsolved += 1
            return
        action = self.choices[state]
        tally.positions += 1
        tally.mistakes += verdict.is_mistake(action)
        tally.decisions += verdict.can_err
        tally.slow_wins += verdict.is_slow(action)
        tally.wins += verdict.fastest is not None

    def challenge(self) -> tuple[Trial, Trial]:
        """Every reply against the player, in both seats."""
        self.progress("the value of the game")
        value = self.truth.value(self.game.initial())
        if value is None:
            note = f"the value of {self.game.spec} was not proven within {self.limit.seconds:g} s"
            self.found.notes.append(f"unbeatable: {note}")
            return Trial(holds=None, note=note), Trial(holds=None, note=note)
        prover = None if self.graph else self.prover
        trials = [
            unbeatable.challenge(
                self.choices,
                seat,
                value if seat == self.game.player(self.game.initial()) else -value,
                prover=prover,
                progress=self.progress,
            )
            for seat in (0, 1)
        ]
        self.found.notes += [
            f"unbeatable as {seat}: {trial.note}"
            for seat, trial in zip(SEATS, trials, strict=True)
            if trial.note
        ]
        return trials[0], trials[1]

    def meet_random(self, graph: Graph) -> tuple[Chances, Chances]:
        """Exact chances in both seats."""
        self.progress("chances against random")
        return (
            chances(graph, 0, lambda state: (self.choices[state],)),
            chances(graph, 1, lambda state: (self.choices[state],)),
        )
