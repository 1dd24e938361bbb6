"""Compare our Monte Carlo tree search with OpenSpiel's by simulations per second and by matches.

Rates are measured by searches of the initial position on one core, with the same number of
simulations, one uniformly random rollout per simulation, the same exploration constant, no solver
and no tree reuse. Matches are played from paired openings, with seats swapped:

- with equal simulations and settings; the result should be 50%, because the algorithm is the same
- with equal time per move and our default settings, which shows the benefit of speed
"""

import importlib
from collections.abc import Callable, Sequence
from typing import Any

from zermelo.arena.tournament import tournament
from zermelo.bench import measure
from zermelo.bench.measure import ProgressFunction, Row
from zermelo.core.game import Game
from zermelo.games import registry
from zermelo.search.limits import SearchClock
from zermelo.search.mcts.tree import MCTSTree

GAMES = ("tictactoe", "connect4", "gomoku6", "gomoku", "reversi")
MATCH_GAMES = ("connect4", "gomoku6", "reversi")
_SIMULATIONS = 10_000  # per search
_UCT_C = 2.0  # as in OpenSpiel's examples
_EQUAL_SIMS = {"connect4": 300, "gomoku6": 300, "reversi": 40}
_EQUAL_SECONDS = 0.005  # per move


def run(
    seconds: float,
    repeat: int,
    names: Sequence[str],
    matches: int,
    progress: ProgressFunction,
) -> dict[str, Any]:
    """Measure our search; if OpenSpiel is installed, measure its search too and play against it."""
    measure.pin_to_one_core()
    rows: list[Row] = []
    notes = []
    systems: list[tuple[str, Callable[[Game], measure.StepFunction]]] = [
        ("zermelo", _zermelo_steps)
    ]
    if measure.is_installed("open_spiel"):
        systems.append(("open_spiel", _open_spiel_steps))
    else:
        notes.append("open_spiel is not measured: it is not installed")
    for system, steps in systems:
        for name in names:
            progress(f"{name} with {system}")
            rate = measure.measure_rate(steps(registry.game(name)), seconds, repeat)
            rows.append(measure.create_row(name, "mcts", system, rate, "simulations/s"))
    if len(systems) > 1 and matches:
        for name in [name for name in names if name in MATCH_GAMES]:
            rows += _play_matches(name, matches, progress)
    return measure.create_report("mcts", rows, notes)


def _zermelo_steps(game: Game) -> measure.StepFunction:
    tree = MCTSTree(game, c=_UCT_C, use_solver=False, seed=1)

    def steps(count: int) -> int:
        for _ in range(count):
            tree.reset(game.initial())
            for _done in tree.simulate(_SIMULATIONS, SearchClock()):
                pass
        return count * _SIMULATIONS

    return steps


def _open_spiel_steps(game: Game) -> measure.StepFunction:
    pyspiel = importlib.import_module("pyspiel")
    open_spiel_players = importlib.import_module("zermelo.envs.open_spiel_players")
    spiel_game = open_spiel_players.load_open_spiel_game(game)
    evaluator = pyspiel.RandomRolloutEvaluator(1, 1)
    start = spiel_game.new_initial_state()
    # The last four arguments: memory for the tree in MB, no solver, the seed, not verbose.
    bot = pyspiel.MCTSBot(spiel_game, evaluator, _UCT_C, _SIMULATIONS, 1000, False, 1, False)  # noqa: FBT003

    def steps(count: int) -> int:
        for _ in range(count):
            bot.mcts_search(start)
        return count * _SIMULATIONS

    return steps


def _play_matches(name: str, games: int, progress: ProgressFunction) -> list[Row]:
    """Return both players' scores in percent, with equal simulations and with equal time."""
    sims, seconds = _EQUAL_SIMS[name], _EQUAL_SECONDS
    pairs = {
        f"{sims} simulations each": (
            f"mcts:sims={sims},c={_UCT_C},solver=false,reuse=false",
            f"openspiel:mcts,sims={sims},c={_UCT_C},solver=false",
        ),
        f"{1000 * seconds:g} ms a move each": (
            f"mcts:seconds={seconds}",
            f"openspiel:mcts,sims=100000000,seconds={seconds},c={_UCT_C},solver=true",
        ),
    }
    rows = []
    for task, players in pairs.items():
        progress(f"{name}, {task}: {games} games")
        result = tournament(name, players, games=games, processes=1)
        tally = result.standings.head_to_head(*result.plan.names)
        points = 100 * (tally.wins + tally.draws / 2) / games
        for system, share in (("zermelo", points), ("open_spiel", 100 - points)):
            rows.append(measure.create_row(name, task, system, share, "points of 100"))
    return rows
