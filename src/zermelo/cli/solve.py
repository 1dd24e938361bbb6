"""Commands that walk a game's tree: the solver, the textbook's searches, counts."""

import contextlib
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zermelo.cli import options
from zermelo.core.phrases import word_for
from zermelo.ui import texts

if TYPE_CHECKING:
    from zermelo.core.position import Position


@click.command()
@click.argument("game")
@options.position_options
@click.option(
    "--goal",
    type=click.Choice(["exact", "wdl", "win"]),
    default="exact",
    help="With distance; win, draw or loss; or only whether it wins.",
)
@click.option("--seconds", type=options.Seconds(), help="Give up proving after so long.")
@click.option("--nodes", type=click.IntRange(1), help="Give up proving after so many positions.")
@click.option(
    "--threads",
    type=click.IntRange(1, 64),
    default=1,
    help="Split the first moves, or the lines of --stdin, among so many.",
)
@options.json_option
def solve(
    game: str,
    moves: str | None,
    board: str | None,
    from_stdin: bool,
    goal: str,
    seconds: float | None,
    nodes: int | None,
    threads: int,
    as_json: bool,
) -> int:
    """The exact value of a position of GAME, its distance and all best moves.

    What the limit, or Ctrl-C, leaves unproven is answered by an estimate.
    """
    from zermelo.core.game import WordGame
    from zermelo.core.player import Limit
    from zermelo.games import registry
    from zermelo.search.solver import solution
    from zermelo.search.solver.solver import Settings, Solver

    rules = registry.game(game)
    settings = Settings(threads=1 if from_stdin else threads)

    def make() -> Solver | None:
        return solution.solver_for(rules, settings) if isinstance(rules, WordGame) else None

    stop = threading.Event()
    solvers = options.Pool(make, threads if from_stdin else 1)
    with options.progress(f"solving {game}") as progress:

        def find(position: "Position") -> dict[str, Any]:
            with solvers.one() as solver:
                found = solution.solve(
                    position,
                    goal,
                    Limit(seconds, nodes, stop=stop),
                    solver=solver,
                    progress=lambda nodes: progress(f"{nodes:,} positions"),
                )
            return found.to_json(game)

        workers = threads if from_stdin else 1
        return options.answer(
            rules,
            find,
            moves,
            board,
            from_stdin,
            as_json,
            solution_text,
            workers=workers,
            stop=stop,
        )


@click.command()
@click.argument("game")
@options.position_options
@click.option("--player", help="Whose thoughts: a player spec.  [exact search, else estimates]")
@click.option("--seconds", type=options.Seconds(), help="Time for it.  [10]")
@click.option("--db", type=click.Path(dir_okay=False, path_type=Path), help="Keep it here.")
@options.json_option
def analyze(
    game: str,
    moves: str | None,
    board: str | None,
    from_stdin: bool,
    player: str | None,
    seconds: float | None,
    db: Path | None,
    as_json: bool,
) -> int:
    """Every legal move of a position of GAME: value, line, and reasons that search has verified."""
    from zermelo.core.player import Limit
    from zermelo.games import registry
    from zermelo.players import registry as roster
    from zermelo.search.explain import analysis
    from zermelo.store.runs import Runs

    rules = registry.game(game)
    analyst = analysis.Analyst()
    thinker = None if player is None else roster.player(player)

    def find(position: "Position") -> dict[str, Any]:
        found = analysis.analyze(position, Limit(seconds=seconds), analyst=analyst, player=thinker)
        answer = analysis.to_json(position, found, game)
        if store is not None:
            store.add_analysis(game, position.moves, player or "", answer)
        return answer

    with contextlib.ExitStack() as stack, options.progress(f"analysing {game}") as progress:
        store = None if db is None else stack.enter_context(Runs(db))
        progress("…")
        return options.answer(rules, find, moves, board, from_stdin, as_json, texts.analysis_text)


def solution_text(found: dict[str, Any]) -> str:
    """A solution in one line."""
    value = found["value"] or f"not proven: {word_for(None, found['estimate'])}"
    if found.get("wins") is False:
        value = "does not win, proven"
    plies = f" in {found['plies']} plies" if found["plies"] else ""
    depth = f", {found['depth']} plies ahead" if found.get("depth") else ""
    parts = [f"{value}{plies}{depth}"]
    parts += [
        f"{name} {found[name]:+d}" for name in ("score", "diff") if found.get(name) is not None
    ]
    parts += [f"best {' '.join(found['best'])}"] if found["best"] else []
    parts += [f"line {' '.join(found['pv'])}"] if found["pv"] else []
    return f"{'; '.join(parts)} ({found['nodes']:,} nodes, {found['seconds']:.2f} s)"


@click.command()
@click.argument("game")
@click.option("--moves", help='Moves from the start: "b2 a1"')
@click.option(
    "--method",
    type=click.Choice(["minimax", "alphabeta", "memo", "both", "value-iteration"]),
    default="minimax",
)
@click.option("--depth", type=click.IntRange(1, 1000), help="Look so many plies ahead.")
@click.option("--order", type=click.Choice(["index", "centre"]), default="index")
@click.option("--deepen", is_flag=True, help="Depth 1, 2, 3, … to the limit.")
@click.option("--distance", is_flag=True, help="Prefer the faster win and the slower loss.")
@options.json_option
def textbook(
    game: str,
    moves: str | None,
    method: str,
    depth: int | None,
    order: str,
    deepen: bool,
    distance: bool,
    as_json: bool,
) -> None:
    """Search GAME as the textbook does, and count what it costs."""
    from zermelo.games import registry
    from zermelo.games.reversi.rules import Reversi
    from zermelo.search import textbook as book
    from zermelo.search.solver.solution import scores

    rules = registry.game(game)
    position = rules.position(moves=moves)
    switches = {"method": method, "depth": depth, "order": order, "distance": distance}
    if method == "value-iteration" and (depth or deepen or distance or order != "index"):
        msg = "value iteration has no depth, order or distance"
        raise click.UsageError(msg)
    found = book.solve_position(position, deepening=deepen, **switches)
    diff = rules.diff(position.state) if position.is_over and isinstance(rules, Reversi) else None
    found |= scores(position, found["value"], found["plies"], diff)
    if as_json:
        options.print_json({**found, "game": game})
        return
    click.echo(solution_text(found))
    click.echo(
        " ".join(f"{name} {found[name]:,}" for name in ("nodes", "leaves", "cutoffs", "cache_hits"))
    )


@click.command()
@click.argument("game")
@click.option("--perft", type=click.IntRange(0, 1000), help="Move sequences of length 1 to N.")
@click.option("--states", is_flag=True, help="Distinct states, and how many a ply.")
@click.option("--symmetric", is_flag=True, help="With --states: up to symmetry.")
@click.option("--games", "whole_games", is_flag=True, help="Whole games, by who wins.")
@options.json_option
def count(
    game: str,
    perft: int | None,
    states: bool,
    symmetric: bool,
    whole_games: bool,
    as_json: bool,
) -> None:
    """Count move sequences, states and whole games of GAME."""
    from zermelo.games import registry
    from zermelo.search import count as counting

    rules = registry.game(game)
    if perft is None and not states and not whole_games:
        msg = "what to count? --perft N, --states or --games"
        raise click.UsageError(msg)
    if symmetric and not states:
        msg = "--symmetric goes with --states"
        raise click.UsageError(msg)
    found: dict[str, Any] = {"game": game}
    whole = states or whole_games
    with options.progress(f"counting {game}") as progress:
        counts = counting.count(
            rules,
            max_ply=None if whole else perft,
            states=states,
            paths=perft is not None or whole_games,
            symmetric=symmetric,
            progress=lambda ply, total: progress(f"ply {ply}: {total:,} states"),
        )
    if perft is not None:
        found["perft"] = counts.perft(perft)
    if states:
        found["states"], found["by_ply"] = counts.states, counts.by_ply
    if whole_games:
        found["games"] = counts.games
    if as_json:
        options.print_json(found)
    else:
        _print_counts(found, symmetric=symmetric)


def _print_counts(found: dict[str, Any], *, symmetric: bool) -> None:
    by_ply, perft = found.get("by_ply", []), found.get("perft", [])
    rows = [
        (
            ply,
            f"{by_ply[ply]:,}" if ply < len(by_ply) else "",
            f"{perft[ply - 1]:,}" if 0 < ply <= len(perft) else "",
        )
        for ply in range(max(len(by_ply), len(perft) + 1))
    ]
    if by_ply or perft:
        options.print_table(("ply", "new states", "sequences"), rows)
    if "states" in found:
        click.echo(f"{found['states']:,} states{' up to symmetry' if symmetric else ''}")
    if "games" in found:
        ends = found["games"]
        click.echo(
            f"{ends['total']:,} games: {ends['first']:,} won by the first player, "
            f"{ends['second']:,} by the second, {ends['draw']:,} drawn"
        )
