"""Commands that solve a game ahead of time: `table` for all states, `book` for the opening."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zermelo.cli.common import options
from zermelo.cli.common.help import command
from zermelo.cli.common.options import Fields
from zermelo.cli.common.progress import Progress
from zermelo.core.errors import ZermeloError
from zermelo.core.phrases import count

if TYPE_CHECKING:
    from zermelo.core.game import WordGame
    from zermelo.search.tablebase.tablebase import Tablebase


@command(
    examples=(
        "zermelo table tictactoe",
        "zermelo table mnk:4x4x3 --remove",
    )
)
@click.argument("game")
@click.option("--remove", is_flag=True, help="Delete the tablebase instead of building it.")
@options.json_option
def table(game: str, remove: bool, as_json: bool) -> None:
    """Solve every state of GAME and store its tablebase.

    The solver and the perfect player then look values up instead of searching. The tablebase is a
    file in the cache folder.
    """
    from zermelo.search.tablebase.files import tablebase_path

    rules = _word_game(game)
    path = tablebase_path(rules)
    if remove:
        fields: Fields = {"game": game, "path": str(path), "removed": _remove(path)}
        text = f"{game}: {'removed' if fields['removed'] else 'there is no tablebase'}"
    else:
        begin = time.perf_counter()
        stored = _read(path, rules)
        states = len(_build(path, rules) if stored is None else stored)
        fields = {
            "game": game,
            "states": states,
            "bytes": path.stat().st_size,
            "path": str(path),
            "seconds": round(time.perf_counter() - begin, 3),
            "built": stored is None,
        }
        text = _to_text(fields)
    if as_json:
        options.print_json(fields)
    else:
        click.echo(text)


@command(
    examples=(
        "zermelo book mnk:4x5x4 --plies 2",
        "zermelo book connect4:5x5 --plies 4 --out 5x5.book",
    )
)
@click.argument("game")
@click.option("--plies", type=int, default=4, help="Number of plies that the book covers.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    show_default="a file in the cache folder",
    help="File to write.",
)
@options.integer_option("--threads", "Number of threads.", 1, low=1, high=64)
@options.json_option
def book(game: str, plies: int, out: Path | None, threads: int, as_json: bool) -> None:
    """Solve the first plies of GAME and store the opening book.

    If the command is interrupted, running it again continues where it stopped.
    """
    from zermelo.search.solver.book_builder import build_book
    from zermelo.search.tablebase.opening_book import book_path

    rules = _word_game(game)
    path = out or book_path(rules)
    partial = path.with_name(f"{path.name}.part")
    begin = time.perf_counter()
    with Progress(f"building the book of {game}") as progress:
        progress("")
        opening_book = build_book(
            rules,
            plies,
            partial,
            threads=threads,
            progress=lambda done, total: progress(
                f"{done:,} of {total:,} states solved", done / total
            ),
        )
    opening_book.write(path)
    partial.unlink()
    fields: Fields = {
        "game": game,
        "plies": plies,
        "states": len(opening_book),
        "bytes": path.stat().st_size,
        "path": str(path),
        "seconds": round(time.perf_counter() - begin, 3),
        "built": True,
    }
    if as_json:
        options.print_json(fields)
    else:
        click.echo(_to_text(fields))


def _word_game(spec: str) -> "WordGame":
    from zermelo.core.game import WordGame
    from zermelo.games import registry

    game = registry.game(spec)
    if not isinstance(game, WordGame):
        msg = f"cannot solve {spec} ahead of time: its board has more than 64 cells"
        raise ZermeloError(msg)
    return game


def _remove(path: Path) -> bool:
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True


def _read(path: Path, game: "WordGame") -> "Tablebase | None":
    """Return the stored tablebase, or None if it is missing or invalid."""
    from zermelo.search.tablebase.files import BadTablebase
    from zermelo.search.tablebase.tablebase import Tablebase

    if not path.exists():
        return None
    try:
        return Tablebase.read(path, game)
    except BadTablebase as error:
        click.echo(f"zermelo: {error}; building it again", err=True)
        return None


def _build(path: Path, game: "WordGame") -> "Tablebase":
    from zermelo.search.tablebase.tablebase import Tablebase

    with Progress(f"building the tablebase of {game.spec}") as progress:

        def report(num_solved: int, num_states: int) -> None:
            if num_solved:
                share = num_solved / num_states
                progress(f"{num_solved:,} of {num_states:,} states solved", share)
            else:
                progress(f"{num_states:,} states found")

        progress("")
        tablebase = Tablebase.build(game, report)
    tablebase.write(path)
    return tablebase


def _to_text(fields: Fields) -> str:
    """Return a line such as `tictactoe: 765 states, 1.8 kB, built in 0.05 s`."""
    status = f"built in {fields['seconds']:.2f} s" if fields["built"] else "up to date"
    size = options.format_bytes(fields["bytes"])
    return f"{fields['game']}: {count(fields['states'], 'state')}, {size}, {status}"
