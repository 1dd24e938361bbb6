"""The commands about tables and books: all states of a game, or the first, solved and kept."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zermelo.cli import options
from zermelo.core.errors import ZermeloError

if TYPE_CHECKING:
    from zermelo.core.game import WordGame
    from zermelo.search.tablebase.tablebase import Table


@click.command()
@click.argument("game")
@click.option("--remove", is_flag=True, help="Delete the table instead.")
@options.json_option
def table(game: str, remove: bool, as_json: bool) -> None:
    """Solve every state of GAME and keep the table in the cache folder."""
    from zermelo.search.tablebase import tablebase

    rules = _word_game(game)
    path = tablebase.path_of(rules)
    if remove:
        found: dict[str, Any] = {"game": game, "path": str(path), "removed": _remove(path)}
        text = f"{game}: {'removed' if found['removed'] else 'there is no table'}"
    else:
        begin = time.perf_counter()
        solved = _read(path, rules)
        built = solved is None
        if solved is None:
            solved = _build(path, rules)
        found = {
            "game": game,
            "states": len(solved),
            "bytes": path.stat().st_size,
            "path": str(path),
            "seconds": round(time.perf_counter() - begin, 3),
            "built": built,
        }
        text = _text(found)
    if as_json:
        options.print_json(found)
    else:
        click.echo(text)


@click.command()
@click.argument("game")
@click.option("--plies", type=int, default=4, show_default=True, help="How far the book goes.")
@click.option("--out", type=click.Path(path_type=Path), help="The file; else in the cache folder.")
@click.option("--threads", type=click.IntRange(1, 64), default=1, show_default=True)
@options.json_option
def book(game: str, plies: int, out: Path | None, threads: int, as_json: bool) -> None:
    """Solve the first plies of GAME and keep them in a file.

    A build that is stopped goes on where it was when the same command is given again.
    """
    from zermelo.search.tablebase import books

    rules = _word_game(game)
    path = out or books.path_of(rules)
    notebook = path.with_name(f"{path.name}.part")
    begin = time.perf_counter()
    with options.progress(f"building the book of {game}") as progress:
        progress("compiling")
        made = books.build(
            rules,
            plies,
            notebook,
            threads=threads,
            progress=lambda done, all_: progress(f"{done:,} of {all_:,} states solved"),
        )
    made.write(path)
    notebook.unlink()
    found: dict[str, Any] = {
        "game": game,
        "plies": plies,
        "states": len(made),
        "bytes": path.stat().st_size,
        "path": str(path),
        "seconds": round(time.perf_counter() - begin, 3),
        "built": True,
    }
    if as_json:
        options.print_json(found)
    else:
        click.echo(_text(found))


def _word_game(spec: str) -> "WordGame":
    from zermelo.core.game import WordGame
    from zermelo.games import registry

    game = registry.game(spec)
    if not isinstance(game, WordGame):
        msg = f"{spec}: tables are for word games, with boards of at most 64 cells"
        raise ZermeloError(msg)
    return game


def _remove(path: Path) -> bool:
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True


def _read(path: Path, game: "WordGame") -> "Table | None":
    """The table that is there; None where there is none, or none that is right."""
    from zermelo.search.tablebase.files import BadTable
    from zermelo.search.tablebase.tablebase import Table

    if not path.exists():
        return None
    try:
        return Table.read(path, game)
    except BadTable as error:
        click.echo(f"zermelo: {error}: building it anew", err=True)
        return None


def _build(path: Path, game: "WordGame") -> "Table":
    from zermelo.search.tablebase.tablebase import Table

    with options.progress(f"building {game.spec}") as progress:

        def say(settled: int, states: int) -> None:
            progress(
                f"{settled:,} of {states:,} states solved" if settled else f"{states:,} states"
            )

        progress("compiling")
        solved = Table.build(game, say)
    solved.write(path)
    return solved


def _text(found: dict[str, Any]) -> str:
    """Such as: tictactoe: 765 states, 1.8 kB, built in 0.05 s."""
    done = f"built in {found['seconds']:.2f} s" if found["built"] else "there and right"
    return f"{found['game']}: {found['states']:,} states, {options.size(found['bytes'])}, {done}"
