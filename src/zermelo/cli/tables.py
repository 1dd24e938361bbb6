"""The command about tables: the states of a small game, all solved and kept in a file."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zermelo.cli import asking
from zermelo.errors import ZermeloError

if TYPE_CHECKING:
    from zermelo.contract import WordGame
    from zermelo.search.tables import Table


@click.command()
@click.argument("game")
@click.option("--remove", is_flag=True, help="Delete the table instead.")
@asking.json_option
def table(game: str, remove: bool, as_json: bool) -> None:
    """Solve every state of GAME and keep the table in the cache folder."""
    from zermelo.search import tables

    rules = _word_game(game)
    path = tables.path_of(rules)
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
        asking.print_json(found)
    else:
        click.echo(text)


def _word_game(spec: str) -> "WordGame":
    from zermelo.contract import WordGame
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
    from zermelo.search.table_files import BadTable
    from zermelo.search.tables import Table

    if not path.exists():
        return None
    try:
        return Table.read(path, game)
    except BadTable as error:
        click.echo(f"zermelo: {error}: building it anew", err=True)
        return None


def _build(path: Path, game: "WordGame") -> "Table":
    from zermelo.search.tables import Table

    with asking.progress(f"building {game.spec}") as progress:

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
    return f"{found['game']}: {found['states']:,} states, {asking.size(found['bytes'])}, {done}"
