"""Commands that search: `solve`, `analyze`, `textbook` and `prove`."""

import contextlib
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zermelo.cli.common import options
from zermelo.cli.common.help import command
from zermelo.cli.common.options import Fields, PositionSource
from zermelo.cli.common.progress import Progress
from zermelo.core.phrases import count, describe_value, escape_controls, word_for

if TYPE_CHECKING:
    from zermelo.core.position import Position
    from zermelo.search.solver.solver import Solver

_REFUSED = 1  # exit code


@command(
    examples=(
        "zermelo solve mnk:4x4x3",
        "zermelo solve connect4 --moves 444444 --seconds 10",
    )
)
@click.argument("game")
@options.position_options
@click.option(
    "--goal",
    type=click.Choice(["exact", "wdl", "win"]),
    default="exact",
    help="What to prove: value and distance, win/draw/loss, or only whether the side to move wins.",
)
@options.seconds_option("Time limit for the proof.")
@options.integer_option("--nodes", "Maximum number of nodes to search for the proof.", low=1)
@options.integer_option(
    "--threads",
    "Number of threads; they share the moves of a position or, with --stdin, the input lines.",
    1,
    low=1,
    high=64,
)
@options.json_option
def solve(
    game: str,
    source: PositionSource,
    goal: str,
    seconds: float | None,
    nodes: int | None,
    threads: int,
    as_json: bool,
) -> int:
    """Solve a position of GAME exactly.

    Prints the value, the distance to the end, all best moves and a line of best play. If the search
    reaches a limit or is stopped with Ctrl-C, the answer is an estimate.
    """
    from zermelo.core.game import WordGame
    from zermelo.core.player import Limit
    from zermelo.games import registry
    from zermelo.search.solver import solution
    from zermelo.search.solver.solver import SolverSettings

    rules = registry.game(game)
    stop = threading.Event()
    workers = threads if source.stdin else 1
    settings = SolverSettings(threads=1 if source.stdin else threads)
    by_thread = threading.local()

    def solver() -> "Solver | None":
        if not hasattr(by_thread, "solver"):
            by_thread.solver = (
                solution.solver_for(rules, settings) if isinstance(rules, WordGame) else None
            )
        found: Solver | None = by_thread.solver
        return found

    with Progress(f"solving {game}") as progress:

        def answer(position: "Position") -> Fields:
            return solution.solve(
                position,
                goal,
                Limit(seconds, nodes, stop=stop),
                solver=solver(),
                progress=lambda nodes: progress(f"{nodes:,} nodes"),
            ).to_dict(game)

        return options.answer_positions(
            rules, source, answer, _solution_text, as_json=as_json, workers=workers, stop=stop
        )


def _solution_text(fields: Fields) -> str:
    """Return a solution as text: one line, or several if the terminal is narrower."""
    parts = [_value_text(fields)]
    if fields.get("score") is not None:
        parts.append(f"score {fields['score']:+d}")
    if fields["best"]:
        parts.append(f"best {' '.join(fields['best'])}")
    if fields["pv"]:
        parts.append(f"line {' '.join(fields['pv'])}")
    effort = f"({count(fields['nodes'], 'node')}, {fields['seconds']:.2f} s)"
    style = options.output_style()
    text = style.wrap(escape_controls(f"{'; '.join(parts)} {effort}"), indent=2)
    value = min(len(parts[0]), style.width or len(parts[0]))  # the colour ends with the line
    return style.paint(text[:value], fields["value"]) + text[value:]


def _value_text(fields: Fields) -> str:
    if fields.get("wins") is False:
        return "does not win (proven)"
    if fields["value"] is not None:
        return describe_value(fields["value"], None, fields["plies"], fields.get("diff"))
    depth = f", searched to depth {fields['depth']}" if fields.get("depth") else ""
    return f"not proven: {word_for(None, fields['estimate'])}{depth}"


@command(
    examples=(
        'zermelo analyze tictactoe --moves "b2 b1"',
        "zermelo analyze connect4 --moves 4455 --seconds 5",
    )
)
@click.argument("game")
@options.position_options
@click.option(
    "--player",
    metavar="PLAYER",
    show_default="exact search, with estimates where it does not finish",
    help="Player that evaluates the moves; `zermelo players` lists them.",
)
@options.seconds_option("Time limit for the analysis.", show_default="10")
@options.db_option("Store the analysis in this SQLite file.")
@options.json_option
@options.runs_players
def analyze(
    game: str,
    source: PositionSource,
    player: str | None,
    seconds: float | None,
    db: Path | None,
    as_json: bool,
) -> int:
    """Analyze every legal move of a position of GAME.

    Prints the value of each move, the line of play that follows it, and reasons that a search has
    verified.
    """
    from zermelo.core.player import Limit
    from zermelo.games import registry
    from zermelo.players.registry import load_player
    from zermelo.search.explain import analysis
    from zermelo.store.runs import RunStore
    from zermelo.ui import texts

    rules = registry.game(game)
    analyst = analysis.Analyst()
    evaluator = None if player is None else load_player(player)

    def answer(position: "Position") -> Fields:
        result = analysis.analyze(
            position, Limit(seconds=seconds), analyst=analyst, player=evaluator
        )
        fields = result.to_dict(game, position)
        if store is not None:
            store.add_analysis(game, position.moves, player or "", fields)
        return fields

    def to_text(fields: Fields) -> str:
        return texts.analysis_text(fields, style=options.output_style())

    with contextlib.ExitStack() as stack, Progress(f"analyzing {game}") as progress:
        store = None if db is None else stack.enter_context(RunStore(db))
        progress("")
        return options.answer_positions(rules, source, answer, to_text, as_json=as_json)


@command(
    examples=(
        "zermelo textbook tictactoe --method alphabeta",
        "zermelo textbook mnk:3x4x3 --method both --order centre",
    )
)
@click.argument("game")
@options.moves_option
@click.option(
    "--method",
    type=click.Choice(["minimax", "alphabeta", "memo", "both", "value-iteration"]),
    default="minimax",
    help="Algorithm. `memo`: minimax with a transposition table; `both`: alpha-beta with a table.",
)
@options.integer_option("--depth", "Depth limit in plies.", low=1, high=1000)
@click.option(
    "--order",
    type=click.Choice(["index", "centre"]),
    default="index",
    help="Order in which moves are tried.",
)
@click.option(
    "--deepen", is_flag=True, help="Use iterative deepening: depth 1, 2, 3, … up to --depth."
)
@click.option("--distance", is_flag=True, help="Prefer faster wins and slower losses.")
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
    """Solve a position of GAME with a textbook algorithm.

    The algorithms are plain Python, for teaching. The counts of nodes, leaves, cutoffs and cache
    hits show how pruning, move ordering and caching reduce the work.
    """
    from zermelo.games import registry
    from zermelo.search import textbook as algorithms
    from zermelo.search.solver.solution import final_score

    rules = registry.game(game)
    position = rules.position(moves=moves)
    switches = {"method": method, "depth": depth, "order": order, "distance": distance}
    if method == "value-iteration" and (depth or deepen or distance or order != "index"):
        msg = "--method value-iteration does not take --depth, --order, --deepen or --distance"
        raise click.UsageError(msg)
    with Progress(f"searching {game}") as progress:
        progress(method)
        fields = algorithms.solve_position(position, deepening=deepen, **switches)
    diff = final_score(position) if position.is_over else None
    fields |= rules.score_fields(position.state, fields["value"], fields["plies"], diff)
    if as_json:
        options.print_json({**fields, "game": game})
        return
    click.echo(_solution_text(fields))
    click.echo(
        f"{count(fields['nodes'], 'node')}, {count(fields['leaves'], 'leaf', 'leaves')}, "
        f"{count(fields['cutoffs'], 'cutoff')}, {count(fields['cache_hits'], 'cache hit')}"
    )


@command(
    examples=(
        "zermelo prove tictactoe --out proof.txt",
        "zermelo prove connect4:4x5 --out proof.txt",
    )
)
@click.argument("game")
@options.file_option("--out", "File to write.", required=True)
@options.json_option
def prove(game: str, out: Path, as_json: bool) -> int:
    """Write a proof of the value of GAME to a file.

    The proof is a strategy for the winner or, in a drawn game, one for each side. `zermelo
    check-proof FILE` checks the strategy against every reply. Exits with 1 if the proof exceeds 2
    million positions (200,000 for a game of your own) or 20 MB.
    """
    from zermelo.core.errors import TooLarge
    from zermelo.games import registry
    from zermelo.search.proofs import proof as proofs

    rules = registry.game(game)
    if not out.parent.is_dir() or (out.exists() and not out.is_file()):
        msg = f"--out {out}: name a file in an existing folder"
        raise click.UsageError(msg)
    begin = time.perf_counter()
    try:
        with Progress(f"proving {game}") as progress:
            proof = proofs.prove(rules, progress)
    except TooLarge as error:
        click.echo(f"zermelo: {error}", err=True)
        return _REFUSED
    size = proof.write(out)
    fields = {
        "game": game,
        "claim": proof.claim,
        "positions": len(proof.lines),
        "bytes": size,
        "path": str(out),
        "seconds": round(time.perf_counter() - begin, 3),
    }
    if as_json:
        options.print_json(fields)
    else:
        value = "a draw" if proof.claim == "draw" else f"the {proof.claim} player wins"
        positions = count(len(proof.lines), "position")
        click.echo(
            f"{game}: {value}; {positions}, {options.format_bytes(size)}, "
            f"in {fields['seconds']:.2f} s"
        )
    return 0


def _check_rules(file: Path, game: Path) -> str:
    """Return the verdict on the proof of a game in a file, which must pass its trial first."""
    from zermelo.games import registry
    from zermelo.search.proofs import check_rules_proof

    registry.game(str(game))
    return check_rules_proof.check_file(file, game)


@command(
    "check-proof",
    examples=("zermelo check-proof proof.txt", "zermelo check-proof --source > check_proof.py"),
)
@click.argument(
    "file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option(
    "--game",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Python file with the rules, for the proof of a game of your own. The file is run.",
)
@click.option("--source", is_flag=True, help="Print the checker itself, a script that runs alone.")
@options.json_option
def check_proof(file: Path | None, game: Path | None, source: bool, as_json: bool) -> int:
    """Check a proof that `zermelo prove` wrote.

    Tries every reply to the strategy in FILE. The checker has rules of its own and uses no other
    code of this package; the proof of a game of your own is checked with the rules in --game.
    Exits with 1 if the file proves nothing.
    """
    from zermelo.search.proofs import check_proof as line_checker
    from zermelo.search.proofs import check_rules_proof as rules_checker

    if source == (file is not None):
        msg = "name the proof to check, as in `zermelo check-proof proof.txt`, or give --source"
        raise click.UsageError(msg)
    if file is None:
        path = line_checker.__file__ if game is None else rules_checker.__file__
        options.print_record(Path(str(path)).read_text(encoding="utf-8").rstrip("\n"))
        return 0
    verdict = line_checker.check_file(file) if game is None else _check_rules(file, game)
    is_proven = verdict.startswith("proven")
    if as_json:
        options.print_json({"path": str(file), "proven": is_proven, "verdict": verdict})
    else:
        options.print_line(verdict)
    return 0 if is_proven else _REFUSED
