"""Commands for improving your play: `review` a game, or solve a `puzzle`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from zermelo.cli.common import options
from zermelo.cli.common.help import command
from zermelo.cli.common.progress import Progress
from zermelo.core.phrases import count, count_moves, escape_controls

if TYPE_CHECKING:
    from zermelo.matches.match import Match
    from zermelo.search.explain.review import ReviewedMove


_FORMATS_BY_SUFFIX = {".sgf": "sgf", ".psq": "psq", ".json": "json", ".jsonl": "json"}
_COLOURS = {"mistake": "loss", "slip": "draw"}  # the value in whose colour a line is shown


@command(
    examples=(
        'zermelo review tictactoe --moves "b2 b1 b3 a1"',
        "zermelo review game.sgf",
        "zermelo history export 1 | zermelo review -",
    )
)
@click.argument("record", metavar="RECORD")
@click.option("--moves", help='Moves of the game, as in "b2 a1"; RECORD is then a game.')
@click.option(
    "--from",
    "record_format",
    metavar="FORMAT",
    show_default="by the suffix of the file, otherwise text",
    help="Format of the record; see `zermelo convert --help`.",
)
@click.option(
    "--game",
    metavar="GAME",
    help="The game that was played; needed if the format does not name it.",
)
@options.seconds_option("Time limit for the review of each game.", 10.0)
@options.json_option
def review(
    record: str,
    moves: str | None,
    record_format: str | None,
    game: str | None,
    seconds: float,
    as_json: bool,
) -> None:
    """Review a game move by move and point out its mistakes.

    RECORD is a file of game records, or - for standard input. Prints the value of the position
    after every move and, for a mistake, the better move. With --json, prints a line for each game:
    a list with one object for the initial position and one for every move.
    """
    from zermelo.core.player import Limit
    from zermelo.matches.match import Match
    from zermelo.search.explain.review import iter_review

    if moves is not None:
        matches = [Match(record, moves)]
    else:
        matches = _read_matches(record, record_format, game)
    for match in matches:
        reviewed = []
        with Progress(f"reviewing {match.game.spec}") as progress:
            for move in iter_review(match, Limit(seconds=seconds)):
                reviewed.append(move)
                num_moves = len(match.moves)
                progress(f"move {move.ply} of {num_moves}", move.ply / max(1, num_moves))
        if as_json:
            options.print_json([record.to_dict() for record in reviewed])
        else:
            _print_review(match, reviewed)


def _read_matches(name: str, record_format: str | None, game: str | None) -> "list[Match]":
    """Return the games of a file of records, or of standard input if the name is `-`."""
    from zermelo import records
    from zermelo.games import registry

    path = Path(name)
    record_format = record_format or _FORMATS_BY_SUFFIX.get(path.suffix.lower(), "text")
    rules = registry.game(game) if game else None
    if name != "-" and not path.is_file():
        msg = (
            f"there is no file {escape_controls(name)!r}: give a file of game records, `-` to read "
            'standard input, or a game and its moves, as in `tictactoe --moves "b2 a1"`'
        )
        raise click.UsageError(msg)
    with click.open_file(name, encoding="utf-8", errors="replace") as file:
        found = list(records.read_all(file, record_format, rules))
    if not found:
        msg = f"{'standard input' if name == '-' else name} contains no game"
        raise click.UsageError(msg)
    return [record.to_match() for record in found]


def _print_review(match: "Match", reviewed: "list[ReviewedMove]") -> None:
    style = options.output_style()
    for move in reviewed:
        text = style.wrap(escape_controls(_to_text(move, match.game.symbols)), indent=5)
        options.print_styled(style.paint(text, _COLOURS.get(move.mistake or "")))
    mistakes = sum(move.mistake == "mistake" for move in reviewed)
    slips = sum(move.mistake == "slip" for move in reviewed)
    text = count(mistakes, "mistake") + (f", {count(slips, 'slip')}" if slips else "")
    options.print_line(f"{text}; {match.verdict}")


def _to_text(record: "ReviewedMove", symbols: str) -> str:
    """Return a line such as `  2. O b1    loses in 3 moves (proven); mistake: better a1 (…)`."""
    certainty = "proven" if record.exact else "estimate"
    move = "start" if record.player is None else f"{symbols[record.player]} {record.move}"
    text = f"{record.ply:>3}. {move:7} {record.description} ({certainty})"
    if record.better is not None:
        reasons = ", ".join(reason.text for reason in record.better.reasons)
        text += f"; {record.mistake}: better {record.better.move}"
        text += f" ({reasons})" if reasons else ""
    return text


@command(examples=("zermelo puzzle connect4", "zermelo puzzle squava --plies 5 --solution"))
@click.argument("game")
@click.option("--plies", type=int, default=3, help="Length of the win in plies: 3, 5, 7 or 9.")
@options.integer_option("--seed", "Random seed; the same seed gives the same puzzle.", 1)
@click.option("--solution", is_flag=True, help="Also print the winning move.")
@options.json_option
def puzzle(game: str, plies: int, seed: int, solution: bool, as_json: bool) -> None:
    """Show a puzzle: a position of GAME with one winning move.

    Only that move wins, and the win takes --plies plies. The JSON object always has the solution.
    """
    from zermelo.search.explain import puzzles

    with Progress(f"looking for a puzzle of {game}") as progress:
        progress("")
        found = puzzles.puzzle(game, plies, seed)
    if as_json:
        options.print_json(found.to_dict() | {"game": game, "solution": found.solution})
        return
    position = found.position
    options.print_text(position.to_text())
    mover = position.game.symbols[position.player]
    options.print_line(
        f"{mover} to move wins in {count_moves(plies)}, and only one first move wins."
    )
    if solution:
        options.print_line(f"Solution: {found.solution}")
        return
    options.print_line(f"Solution: zermelo puzzle {game} --plies {plies} --seed {seed} --solution")
    moves = " ".join(position.moves or ())
    options.print_line(f'Why:      zermelo analyze {game} --moves "{moves}"')
