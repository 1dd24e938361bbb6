"""A user's script that uses every public name of zermelo, for type checkers and for running."""

import dataclasses
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import zermelo as z


class Nim(z.Game):
    """Take 1 to 3 stones from a heap; whoever takes the last one wins."""

    num_actions = 3

    def __init__(self, heap: int) -> None:
        self.heap = heap

    def initial(self) -> tuple[int, int]:
        return self.heap, 0

    def player(self, state: tuple[int, int]) -> int:
        return state[1]

    def actions(self, state: tuple[int, int]) -> list[int]:
        return list(range(min(3, state[0])))

    def play(self, state: tuple[int, int], action: int) -> tuple[int, int]:
        return state[0] - action - 1, 1 - state[1]

    def result(self, state: tuple[int, int]) -> tuple[bool, int]:
        return state[0] == 0, -1 if state[0] == 0 else 0


class Uniform(z.Player):
    """A player of the user's own, which chooses at random."""

    name = "uniform"

    def __init__(self) -> None:
        self.rng = random.Random(0)

    def reseed(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def think(self, position: z.Position, limit: z.Limit) -> Iterator[z.Analysis]:  # noqa: ARG002
        yield z.Analysis(self.rng.choice(position.legal))


def first_move(position: z.Position) -> str:
    return position.legal[0]


def last_action(position: z.Position) -> int:
    return position.actions[-1]


def solve_and_analyze() -> list[str]:
    game: z.Game = z.game("tictactoe")
    position = game.position(game.start().play("b2").to_text())
    solution: z.Solution = z.solve(position, limit=z.Limit(seconds=5))
    value: z.Value | None = solution.value
    analysis: z.Analysis = z.analyze(position, z.Limit(seconds=5), player=first_move)
    candidates: tuple[z.Candidate, ...] = (analysis.verdict or analysis).candidates
    reasons: list[z.Reason] = [reason for c in candidates for reason in c.reasons]
    counts: z.Counts = z.count(Nim(7))
    puzzle: z.Puzzle = z.puzzle("connect4", plies=3)
    results = (solution, analysis, counts, puzzle)
    return [str(value), *(r.text for r in reasons), *(str(sorted(r.to_dict())) for r in results)]


def play() -> list[z.ReviewedMove]:
    match: z.Match = z.match("tictactoe", "b2")
    match.reply(z.player("greedy"), z.Limit(nodes=100))
    outcome: z.Outcome = match.play_out(first_move, last_action)
    record: z.Record = z.Record.of(match)
    assert record.outcome is outcome
    return z.review(match)


def compare() -> tuple[z.Grade, z.Result]:
    grade: z.Grade = z.grade(Nim(7), first_move)
    try:
        result: z.Result = z.tournament(Nim(7), [first_move, last_action, Uniform()], games=2)
    except z.Interrupted as stopped:
        result = stopped.result
    return grade, result


def train(folder: Path) -> z.Run:
    recipe: z.Recipe = next(r for r in z.recipes() if r.kind == "tabular")
    recipe = dataclasses.replace(recipe, summary="against the first move")
    return z.train(recipe, folder, opponent=first_move, grade=False)


def lists() -> list[str]:
    games: list[z.GameEntry] = z.games()
    players: list[z.PlayerEntry] = z.players()
    rules: z.RulesText = z.rules(games[0].name)
    return [entry.name for entry in games] + [entry.name for entry in players] + [str(rules)]


def bitboards(game: z.Game) -> tuple[z.Word, z.SolverHooks] | None:
    if not isinstance(game, z.WordGame):
        return None
    first_word: z.Word = game.initial()[0]
    return first_word, game.hooks


ERRORS: tuple[type[z.ZermeloError], ...] = (
    z.BadBoard,
    z.BadMove,
    z.BadPositionSet,
    z.BadRecipe,
    z.BadRecord,
    z.BadRun,
    z.BadSpec,
    z.BadStore,
    z.BadTablebase,
    z.BadWeights,
    z.IllegalMove,
    z.KernelError,
    z.MissingPackage,
    z.NoPuzzle,
    z.RunLocked,
    z.StoreFailure,
    z.TooLarge,
    z.TrainingDiverged,
    z.Unsolved,
)


def batches(positions: list[z.Position]) -> z.Evaluations:
    solutions: list[z.Solution] = z.solve_many(positions, threads=2)
    analyses: list[z.Analysis] = z.analyze_many(positions, z.Limit(seconds=0.1))
    assert len(solutions) == len(analyses)
    game = positions[0].game
    assert isinstance(game, z.WordGame)
    states = z.GameBatch(game).initial_states(len(positions))
    model: z.Model = z.model("tictactoe-dqn")
    assert len(model.evaluate(states)) == len(positions)
    return model.evaluate(positions)


def register(network: Callable[..., Any], encoder: Callable[..., Any]) -> None:
    z.register_network("my-network", network)
    z.register_encoder("my-encoder", encoder)


def main() -> None:
    solve_and_analyze()
    batches([z.game("tictactoe").start()])
    play()
    compare()
    lists()
    bitboards(z.game("tictactoe"))


if __name__ == "__main__":
    main()
