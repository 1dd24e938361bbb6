"""Commands that describe games and players: `games`, `players` and `count`."""

from typing import Any

import click

from zermelo.cli.common import options
from zermelo.cli.common.options import Fields
from zermelo.cli.common.progress import Progress
from zermelo.core.phrases import count as count_text


@click.command()
@options.json_option
def games(as_json: bool) -> None:
    """List the games with their parameters."""
    from zermelo.games import registry

    rows: list[Fields] = [entry.to_dict() for entry in registry.list_games()]
    if as_json:
        options.print_json(rows)
        return
    options.print_table(
        ("game", "description", "parameters", "example"),
        [(r["name"], r["summary"], _parameters_text(r), r["example"]) for r in rows],
    )


@click.command()
@options.json_option
def players(as_json: bool) -> None:
    """List the players with their parameters."""
    from zermelo.players.registry import list_players

    rows: list[Fields] = [entry.to_dict() for entry in list_players()]
    if as_json:
        options.print_json(rows)
        return
    options.print_table(
        ("player", "description", "parameters"),
        [(r["name"], r["summary"], _parameters_text(r)) for r in rows],
    )


def _parameters_text(row: Fields) -> str:
    """Return the parameters in the notation of specs, each with its default if it has one."""
    return " ".join(
        name if default is None else f"{name}={_default_text(default)}"
        for name, default in row["parameters"].items()
    )


def _default_text(default: Any) -> str:
    return str(default).lower() if isinstance(default, bool) else str(default)


@click.command()
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
