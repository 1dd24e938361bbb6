"""Commands for improving your play: `review` a game, or solve a `puzzle`."""

from typing import TYPE_CHECKING

import click

from zermelo.cli.common import options
from zermelo.cli.common.progress import Progress
from zermelo.core.phrases import count

if TYPE_CHECKING:
    from zermelo.search.explain.review import ReviewedMove


@click.command()
@click.argument("game")
@click.option("--moves", required=True, help='Moves of the game, as in "b2 a1".')
@options.seconds_option("Time limit for the whole review.", 10.0)
@options.json_option
def review(game: str, moves: str, seconds: float, as_json: bool) -> None:
    """Review a game move by move and point out its mistakes.

    Prints the value of the position after every move and, for a mistake, the better move. With
    --json, prints a list with one object for the initial position and one for every move.
    """
    from zermelo.core.player import Limit
    from zermelo.matches.match import Match
    from zermelo.search.explain.review import iter_review

    match = Match(game, moves)
    records = []
    with Progress(f"reviewing {game}") as progress:
        for record in iter_review(match, Limit(seconds=seconds)):
            records.append(record)
            num_moves = len(match.moves)
            progress(f"move {record.ply} of {num_moves}", record.ply / max(1, num_moves))
    if as_json:
        options.print_json([record.to_dict() for record in records])
        return
    for record in records:
        options.print_text(_to_text(record, match.game.symbols))
    mistakes = sum(record.mistake is not None for record in records)
    options.print_line(f"{count(mistakes, 'mistake')}; {match.verdict}")


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


@click.command()
@click.argument("game")
@click.option("--plies", type=int, default=3, help="Length of the win in plies, from 3 to 9.")
@options.integer_option("--seed", "Random seed; the same seed gives the same puzzle.", 1)
@options.json_option
def puzzle(game: str, plies: int, seed: int, as_json: bool) -> None:
    """Show a puzzle: a position of GAME with one winning move.

    Only that move wins, and the win takes --plies plies.
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
        f"{mover} to move wins in {(plies + 1) // 2} moves, and only one first move wins."
    )
    options.print_line(f'Solution: zermelo solve {game} --moves "{" ".join(position.moves or ())}"')
