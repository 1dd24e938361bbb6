"""Monte Carlo tree search beside OpenSpiel's: simulations a second, then games.

Rates: one search from the start with so many simulations, a uniformly random rollout each, the
same constant, no solver, nothing kept between searches, on one core. Games, from paired openings
with the seats swapped:

- equal simulations, the same switches: the same algorithm should score 50%
- equal time, a move each: what the speed is worth, ours with its own switches
"""

import importlib
from collections.abc import Callable, Sequence
from typing import Any

from zermelo.arena.tournament import tournament
from zermelo.bench import measure
from zermelo.core.game import Game
from zermelo.games import registry
from zermelo.search.limits import SearchClock
from zermelo.search.mcts.tree import Tree

GAMES = ("tictactoe", "connect4", "gomoku6", "gomoku", "reversi")
MATCHED = ("connect4", "gomoku6", "reversi")  #: games are played of these
_SIMS = 10_000  # a search
_C = 2.0  # OpenSpiel's own choice in its examples
_EQUAL_SIMS = {"connect4": 300, "gomoku6": 300, "reversi": 40}
_EQUAL_SECONDS = 0.005  # a move


def run(
    seconds: float,
    repeat: int,
    names: Sequence[str],
    matches: int,
    progress: Callable[[str], None],
) -> dict[str, Any]:
    """Measure ours, and OpenSpiel's if it is installed; `matches` games of each kind."""
    measure.use_one_core()
    rows: list[dict[str, Any]] = []
    notes = []
    systems: list[tuple[str, Callable[[Game], measure.Steps]]] = [("zermelo", _ours)]
    if measure.is_installed("open_spiel"):
        systems.append(("open_spiel", _open_spiel))
    else:
        notes.append("open_spiel is not installed: not measured")
    for system, steps in systems:
        for name in names:
            progress(f"{name} with {system}")
            value = measure.rate(steps(registry.game(name)), seconds, repeat)
            rows.append(measure.row(name, "mcts", system, value, "simulations/s"))
    if len(systems) > 1 and matches:
        for name in [name for name in names if name in MATCHED]:
            rows += _matches(name, matches, progress)
    return measure.report("mcts", rows, notes)


def _ours(game: Game) -> measure.Steps:
    tree = Tree(game, c=_C, sure=False, seed=1)

    def steps(count: int) -> int:
        for _ in range(count):
            tree.plant(game.initial())
            for _done in tree.simulate(_SIMS, SearchClock()):
                pass
        return count * _SIMS

    return steps


def _open_spiel(game: Game) -> measure.Steps:
    pyspiel = importlib.import_module("pyspiel")
    theirs = importlib.import_module("zermelo.envs.open_spiel_players").load(game)
    evaluator = pyspiel.RandomRolloutEvaluator(1, 1)
    start = theirs.new_initial_state()
    # A tree's memory in MB, no solver, a seed, quiet.
    bot = pyspiel.MCTSBot(theirs, evaluator, _C, _SIMS, 1000, False, 1, False)  # noqa: FBT003

    def steps(count: int) -> int:
        for _ in range(count):
            bot.mcts_search(start)
        return count * _SIMS

    return steps


def _matches(name: str, games: int, progress: Callable[[str], None]) -> list[dict[str, Any]]:
    """Points in 100 of each side, at equal simulations and at equal time."""
    sims, seconds = _EQUAL_SIMS[name], _EQUAL_SECONDS
    pairs = {
        f"{sims} simulations each": (
            f"mcts:sims={sims},c={_C},solver=false,reuse=false",
            f"openspiel:mcts,sims={sims},c={_C},solver=false",
        ),
        f"{1000 * seconds:g} ms a move each": (
            f"mcts:seconds={seconds}",
            f"openspiel:mcts,sims=100000000,seconds={seconds},c={_C},solver=true",
        ),
    }
    rows = []
    for task, players in pairs.items():
        progress(f"{name}, {task}: {games} games")
        result = tournament(name, players, games=games, processes=1)
        tally = result.standings.meeting(*result.plan.names)
        points = 100 * (tally.wins + tally.draws / 2) / games
        for system, share in (("zermelo", points), ("open_spiel", 100 - points)):
            rows.append(measure.row(name, task, system, share, "points of 100"))
    return rows
