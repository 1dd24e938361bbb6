"""Commands about games being played: what there is to play, a match, a move, a record."""

import sys
from typing import IO, TYPE_CHECKING, Any

import click

from zermelo.cli import options

if TYPE_CHECKING:
    from zermelo.core.player import Limit
    from zermelo.core.position import Position
    from zermelo.matches.match import Match


@click.command()
@options.json_option
def games(as_json: bool) -> None:
    """What games there are, with their parameters."""
    from zermelo.games import files, registry

    rows = [
        {
            "name": e.name,
            "summary": e.summary,
            "parameters": {p.name: p.default for p in e.parameters},
            "example": e.example,
        }
        for e in registry.entries()
    ]
    rows += [
        {"name": name, "summary": "from an installed package", "parameters": {}, "example": name}
        for name in files.installed_names()
    ]
    if as_json:
        options.print_json(rows)
        return
    options.table(
        ("game", "what it is", "parameters", "example"),
        [(r["name"], r["summary"], _parameters(r), r["example"]) for r in rows],
    )


@click.command()
@options.json_option
def players(as_json: bool) -> None:
    """What players there are, with their parameters."""
    from zermelo.players import registry as roster

    rows = [
        {
            "name": e.name,
            "summary": e.summary,
            "parameters": {p.name: p.default for p in e.parameters},
        }
        for e in roster.entries()
    ]
    if as_json:
        options.print_json(rows)
        return
    options.table(
        ("player", "who it is", "parameters"),
        [(r["name"], r["summary"], _parameters(r)) for r in rows],
    )


def _parameters(row: dict[str, Any]) -> str:
    shown = {k: str(v).lower() if isinstance(v, bool) else v for k, v in row["parameters"].items()}
    return " ".join(k if v is None else f"{k}={v}" for k, v in shown.items())


@click.command()
@click.argument("game", required=False)
@click.option("--first", help="Who moves first; a player spec.  [human]")
@click.option("--second", help="Who moves second; a player spec.  [random]")
@click.option("--seconds", type=options.Seconds(), help="Thinking time a move.")
@click.option("--show-thinking", is_flag=True, help="What the players think of every move.")
@click.option("--indices", is_flag=True, help="Show what to type in the empty cells.")
@click.option("--full-screen", is_flag=True, help="Board, moves and analysis on one screen.")
@click.option("--resume", is_flag=True, help="Go on with the game that was left.")
def play(
    game: str | None,
    first: str | None,
    second: str | None,
    seconds: float | None,
    show_thinking: bool,
    indices: bool,
    full_screen: bool,
    resume: bool,
) -> None:
    """Play GAME in the terminal, with 0, 1 or 2 humans."""
    from zermelo.core.player import Limit
    from zermelo.matches.match import Match
    from zermelo.players import registry as roster
    from zermelo.ui import commands, terminal

    moves: tuple[str, ...] = ()
    if resume:
        save = options.saved(game, first, second)
        game, first, second, moves = save.game, save.first, save.second, save.moves
    if game is None:
        msg = "which game? zermelo play tictactoe, or zermelo games for the list"
        raise click.UsageError(msg)
    match = Match(game, moves)
    players = (first or roster.HUMAN).strip(), (second or "random").strip()
    limit = Limit(seconds=seconds)
    if full_screen:
        _fill_screen(match, players, limit, show_thinking)
        return
    screen = commands.Options(indices, terminal.wants_colour(), show_thinking, limit)
    terminal.play(match, players, screen)


def _fill_screen(match: "Match", players: tuple[str, str], limit: "Limit", watch: bool) -> None:
    """The full screen, which needs a package and a terminal."""
    from zermelo.ui.session import Session

    try:
        from zermelo.ui.fullscreen import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("textual", "rich"):
            raise
        msg = 'the full screen needs textual: pip install "zermelo[tui]"'
        raise click.UsageError(msg) from None
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        msg = "the full screen needs a terminal: leave --full-screen out"
        raise click.UsageError(msg)
    session = Session(match.game, *players, moves=match.moves, limit=limit)
    session.analyze(watch)
    said = app.run(session)
    if said:
        click.echo(said)


@click.command()
@click.argument("game")
@click.argument("player")
@options.position_options
@click.option("--seconds", type=options.Seconds(), help="Thinking time.")
@options.json_option
def choose(
    game: str,
    player: str,
    moves: str | None,
    board: str | None,
    from_stdin: bool,
    seconds: float | None,
    as_json: bool,
) -> int:
    """PLAYER's move in GAME, for scripts."""
    from zermelo.core.player import Limit, last_of
    from zermelo.games import registry
    from zermelo.players import registry as roster

    rules = registry.game(game)
    chooser = roster.player(player)

    def answer(position: "Position") -> dict[str, Any]:
        if position.is_over:
            return chooser.choose(position).choice()  # says that there is nothing to choose
        return last_of(chooser.think(position, Limit(seconds=seconds))).choice()

    return options.answer(
        rules, answer, moves, board, from_stdin, as_json, lambda found: found["move"]
    )


@click.command()
@click.argument("file", type=click.File("r", encoding="utf-8", errors="replace"))
@click.option("--from", "source", default="text", help="The file's format.")
@click.option("--to", "target", default="text", help="The format to write.")
@click.option("--game", help="The game, where the format does not name it.")
def convert(file: IO[str], source: str, target: str, game: str | None) -> None:
    """Games in FILE (- for standard input) from one record format to another, all checked.

    Formats: text, json, psq, sgf, digits (Connect Four), transcript (Reversi).
    """
    from zermelo import records
    from zermelo.games import registry

    rules = registry.game(game) if game else None
    for record in list(records.read_all(file, source, rules)):  # all of them, or none
        click.echo(records.write(record, target).rstrip("\n"))
