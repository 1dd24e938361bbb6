"""Commands that describe games and players: `games`, `rules`, `players` and `count`."""

from typing import Any

import click

from zermelo.cli.common import options
from zermelo.cli.common.help import command
from zermelo.cli.common.options import Fields
from zermelo.cli.common.progress import Progress
from zermelo.core import specs
from zermelo.core.phrases import count as count_text
from zermelo.core.phrases import escape_controls


@command(examples=("zermelo games", "zermelo games gomoku"))
@click.argument("name", required=False)
@options.json_option
def games(name: str | None, as_json: bool) -> None:
    """List the games with all their parameters, or only NAME."""
    from zermelo.games import registry

    rows = [entry.to_dict() for entry in registry.list_games()]
    _print_entries("game", rows, name, as_json=as_json)
    if not as_json and name is None:
        options.print_line("")
        options.print_line("`zermelo rules GAME` explains how a game is played. GAME may also be a")
        options.print_line("Python file with a game of your own.")


@command(examples=("zermelo players", "zermelo players mcts"))
@click.argument("name", required=False)
@options.json_option
def players(name: str | None, as_json: bool) -> None:
    """List the players with all their parameters, or only NAME.

    Write parameters after the name and a colon, as in mcts:sims=200,seed=1.
    """
    from zermelo.players.registry import list_players

    _print_entries("player", [e.to_dict() for e in list_players()], name, as_json=as_json)


def _print_entries(kind: str, rows: list[Fields], name: str | None, *, as_json: bool) -> None:
    """Print games or players, or only the one of this name; parameters are below their owner."""
    if name is not None:
        names = [row["name"] for row in rows]
        if name not in names:
            specs.raise_unknown(kind, name, names)
        rows = [rows[names.index(name)]]
    if as_json:
        options.print_json(rows if name is None else rows[0])
        return
    head_width = max(len(row["name"]) for row in rows) + 2
    parts = [(row, [_parameter_cells(p) for p in row["parameter_list"]]) for row in rows]
    width = max((len(cell) for _, cells in parts for cell, _ in cells), default=0)
    for row, cells in parts:
        options.print_line(f"{row['name']:{head_width}}{row['summary']}", bold=True)
        for cell, meaning in cells:
            text = escape_controls(f"  {cell:{width}}  {meaning}".rstrip())
            options.print_text(options.output_style().wrap(text, width + 4))
        if row["example"] not in ("", row["name"]):
            options.print_line(f"  such as {row['example']}")


def _parameter_cells(parameter: Fields) -> tuple[str, str]:
    """Return a parameter with its default, and its meaning with the choices."""
    name, default = parameter["name"], parameter["default"]
    has_default = default is not None and default != ""
    meaning = parameter["meaning"]
    if parameter["choices"]:
        choices = " or ".join(parameter["choices"])
        meaning = f"{choices}; {meaning}" if meaning else choices
    return f"{name}={_default_text(default)}" if has_default else name, meaning


def _default_text(default: Any) -> str:
    return str(default).lower() if isinstance(default, bool) else str(default)


@command(examples=("zermelo rules squava", "zermelo rules gomoku:size=9,overline=exact"))
@click.argument("game")
@options.json_option
def rules(game: str, as_json: bool) -> None:
    """Explain how GAME is played, and how to write its moves."""
    from zermelo.games.descriptions import describe_rules

    text = describe_rules(game)
    if as_json:
        options.print_json(text.to_dict() | {"game": game})
        return
    style = options.output_style()
    options.print_line(game, bold=True)
    for sentence in text.sentences:
        options.print_text(style.wrap(escape_controls(sentence)))
    options.print_text(style.wrap(escape_controls(f"Moves: {text.move_forms}.")))
    options.print_text(f"\n{text.start}")


@command(
    examples=(
        "zermelo count tictactoe --states --games",
        "zermelo count connect4 --perft 6",
    )
)
@click.argument("game")
@options.integer_option("--perft", "Count move sequences of each length from 1 to N.", high=1000)
@click.option("--states", is_flag=True, help="Count distinct states, in total and by ply.")
@click.option("--symmetric", is_flag=True, help="With --states: count symmetric states as one.")
@click.option("--games", "whole_games", is_flag=True, help="Count complete games by outcome.")
@options.json_option
def count(
    game: str, perft: int | None, states: bool, symmetric: bool, whole_games: bool, as_json: bool
) -> None:
    """Count the move sequences, states or complete games of GAME."""
    from zermelo.games import registry
    from zermelo.search import count as counting

    rules = registry.game(game)
    if perft is None and not states and not whole_games:
        msg = "say what to count: --perft N, --states or --games"
        raise click.UsageError(msg)
    if symmetric and not states:
        msg = "--symmetric needs --states"
        raise click.UsageError(msg)
    with Progress(f"counting {game}") as progress:
        counts = counting.count(
            rules,
            max_ply=None if states or whole_games else perft,
            states=states,
            paths=perft is not None or whole_games,
            symmetric=symmetric,
            progress=lambda ply, total: progress(f"ply {ply}: {total:,} states"),
        )
    fields: Fields = {"game": game}
    if perft is not None:
        fields["perft"] = counts.perft(perft)
    if states:
        fields["states"], fields["by_ply"] = counts.states, counts.by_ply
    if whole_games:
        fields["games"] = counts.games
    if as_json:
        options.print_json(fields)
    else:
        _print_counts(fields, symmetric=symmetric)


def _print_counts(fields: Fields, *, symmetric: bool) -> None:
    by_ply, perft = fields.get("by_ply", []), fields.get("perft", [])
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
    if "states" in fields:
        states = count_text(fields["states"], "state")
        click.echo(f"{states}{' up to symmetry' if symmetric else ''}")
    if "games" in fields:
        games = fields["games"]
        click.echo(
            f"{count_text(games['total'], 'game')}: {games['first']:,} won by the first player, "
            f"{games['second']:,} by the second, {games['draw']:,} drawn"
        )
