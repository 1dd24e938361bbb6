"""Commands about recorded games: `history` for the database, `convert` for record files."""

import json
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from zermelo.cli.common import options
from zermelo.cli.common.help import command
from zermelo.cli.common.options import Fields
from zermelo.core.errors import ZermeloError
from zermelo.core.phrases import count

if TYPE_CHECKING:
    from zermelo.core.game import Game
    from zermelo.matches.match import Match
    from zermelo.store.history import History, StoredGame
    from zermelo.store.runs import StoredRun

_LIST_LIMIT = 20
_MAX_PLAYERS = 50  # characters in the players column of a table


@command(
    examples=(
        "zermelo history",
        "zermelo history show 1",
        "zermelo history export 1 --format sgf",
    )
)
@click.argument("action", type=click.Choice(["list", "show", "export", "recover"]), default="list")
@click.argument("ids", nargs=-1, metavar="[ID|FILE]...")
@options.db_option("SQLite file to read.", "the studio's database")
@click.option(
    "--game",
    metavar="GAME",
    help="Select only matches of this game. A Python file is loaded only if it is named here.",
)
@click.option("--player", metavar="PLAYER", help="Select only games with this player.")
@options.integer_option(
    "--limit",
    "Maximum number of games, and of runs.",
    low=1,
    high=10**9,
    show_default=f"{_LIST_LIMIT} for `list`, none for `export`",
)
@click.option(
    "--format",
    "record_format",
    metavar="FORMAT",
    default="text",
    help="Record format for `export`; see `zermelo convert --help`.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    show_default="standard output",
    help="File for `export` or `recover` to write; for `export`, a folder gets one file per game.",
)
@options.json_option
def history(
    action: str,
    ids: tuple[str, ...],
    db: Path | None,
    game: str | None,
    player: str | None,
    limit: int | None,
    record_format: str,
    out: Path | None,
    as_json: bool,
) -> None:
    """List, show, export or recover the stored games and runs.

    The ID of a run is a number, the ID of a game in a run is RUN/NUMBER, and the ID of a match is a
    word. `export` writes the games with the given IDs and all games of the runs with the given IDs,
    or every game if no ID is given. `recover` copies what can be read of the damaged FILE to the
    new file --out.
    """
    from zermelo.core import home
    from zermelo.store.history import History

    if action == "show" and not ids:
        msg = "name a game or run to show; `zermelo history` lists their IDs"
        raise click.UsageError(msg)
    if action == "list" and ids:
        msg = f"`list` takes no ID; try `zermelo history show {' '.join(ids)}`"
        raise click.UsageError(msg)
    if action == "recover":
        _recover(ids, db or home.database(), out, as_json=as_json)
        return
    with History(db or home.database()) as store:
        if action == "list":
            _list(store, game, player, limit or _LIST_LIMIT, as_json=as_json)
        elif action == "show":
            for key in ids:
                _show(store, key, game, as_json=as_json)
        else:
            games = _select_games(store, ids, player, game, limit or 10**9)
            _export(games, record_format, out, game)


def _recover(files: tuple[str, ...], db: Path, out: Path | None, *, as_json: bool) -> None:
    from zermelo.store.recovery import recover

    if len(files) > 1 or out is None:
        usage = "zermelo history recover FILE --out NEW"
        msg = f"`recover` needs a file to read and a new file to write: {usage}"
        raise click.UsageError(msg)
    file = Path(files[0]) if files else db
    recovered = recover(file, out)
    if as_json:
        options.print_json({"file": str(file), "out": str(out), "recovered": recovered})
        return
    names = {"matches": "match", "analyses": "analysis"}
    parts = [
        count(number, names.get(table, table.removesuffix("s")), table)
        for table, number in recovered.items()
        if number
    ]
    click.echo(f"recovered {', '.join(parts)} from {file} to {out}")


def _list(
    store: "History", game: str | None, player: str | None, limit: int, *, as_json: bool
) -> None:
    runs = store.runs(game, player, limit)
    games = store.games(game, player, limit)
    if as_json:
        options.print_json(
            {"runs": [_run_fields(store, run) for run in runs], "games": [vars(g) for g in games]}
        )
        return
    if not runs and not games:
        options.print_line("no games or runs are stored yet")
    if runs:
        options.print_table(
            ("run", "kind", "game", "players", "games", "state", "date"),
            [
                (
                    r.id,
                    r.kind,
                    r.game,
                    _players_text(r),
                    store.num_games(r.id),
                    r.state,
                    _date_text(r.updated),
                )
                for r in runs
            ],
        )
    if runs and games:
        options.print_line("")
    if games:
        options.print_table(
            ("id", "game", "first", "second", "result", "moves", "date"),
            [
                (
                    g.id,
                    g.game,
                    g.first,
                    g.second,
                    _result_text(g),
                    len(g.moves),
                    _date_text(g.played),
                )
                for g in games
            ],
        )


def _show(store: "History", key: str, game: str | None, *, as_json: bool) -> None:
    run = store.run(key)
    if run is not None:
        _show_run(store, run, as_json=as_json)
        return
    stored = _find_game(store, key)
    if as_json:
        options.print_json(vars(stored))
        return
    options.print_line(f"{stored.id}: {stored.game}, {stored.first} against {stored.second}")
    match = _replay(stored, game)
    if match is None:
        options.print_line(
            f"{stored.game} is a Python file: add --game {stored.game} to see the board"
        )
    else:
        options.print_text(match.position.to_text())
    options.print_line(f"moves: {' '.join(stored.moves) or 'none'}")
    if stored.opening:
        options.print_line(f"opening: the first {count(stored.opening, 'move')}, chosen at random")
    options.print_line(f"result: {_result_text(stored)}")


def _show_run(store: "History", run: "StoredRun", *, as_json: bool) -> None:
    if as_json:
        options.print_json(_run_fields(store, run))
        return
    options.print_line(
        f"{run.id}: {run.kind} of {run.game}, {run.state}, {_date_text(run.updated)}"
    )
    for name, value in run.settings.items():
        options.print_line(f"  {name}: {value}")
    options.print_line(f"{count(store.num_games(run.id), 'stored game')}")
    try:
        _print_result(run.result or {})
    except (LookupError, TypeError, ValueError, AttributeError):
        msg = f"the result of run {run.id} is damaged: {json.dumps(run.result)[:80]}"
        raise ZermeloError(msg) from None


def _print_result(result: Fields) -> None:
    if "results" in result:
        options.print_line("")
        rows = [
            (r["first"], r["second"], r["wins"], r["draws"], r["losses"]) for r in result["results"]
        ]
        options.print_table(("first", "second", "wins", "draws", "losses"), rows)
    if "elo" in result:
        options.print_line("")
        ratings = sorted(result["elo"].items(), key=lambda item: -item[1]["rating"])
        rating_rows = [
            (name, f"{r['rating']:+.0f}", f"{r['low']:+.0f} to {r['high']:+.0f}")
            for name, r in ratings
        ]
        options.print_table(("player", "Elo", "95%"), rating_rows)
        for forfeit in result["forfeits"]:
            games = count(forfeit["games"], "game")
            options.print_line(f"{forfeit['player']} forfeited {games}: {forfeit['reason']}")
    elif result:
        for name, value in result.items():
            options.print_line(f"  {name}: {value}")


def _export(
    games: list["StoredGame"], record_format: str, out: Path | None, game: str | None
) -> None:
    from zermelo import records
    from zermelo.records import Record

    texts = {}
    for stored in games:
        text = records.write(Record.of(_replay_or_fail(stored, game)), record_format)
        texts[stored.id] = text if text.endswith("\n") else f"{text}\n"
    try:
        if out is not None and out.is_dir():
            for key, text in texts.items():
                file = out / f"{key.replace('/', '-')}.{record_format}"
                file.write_text(text, encoding="utf-8")
            return
        if len(texts) > 1 and not records.FORMATS[record_format].by_line:
            msg = (
                f"a file in the format {record_format} holds one game, not {len(texts)}: give one "
                "ID, or a folder for --out"
            )
            raise ZermeloError(msg)
        if out is None:
            options.print_record("".join(texts.values()).removesuffix("\n"))
        else:
            out.write_text("".join(texts.values()), encoding="utf-8")
    except OSError as error:
        msg = f"cannot write {out}: {error.strerror}"
        raise click.ClickException(msg) from None


def _select_games(
    store: "History", ids: tuple[str, ...], player: str | None, game: str | None, limit: int
) -> list["StoredGame"]:
    """Return the games and all games of the runs with these IDs; every game if there is no ID."""
    games: list[StoredGame] = []
    for key in ids:
        run = store.run(key)
        games += [_find_game(store, key)] if run is None else store.games_in(run.id)
    if not ids:
        games = store.games(game, player, limit)
    if not games:
        msg = "there is no game to export"
        raise ZermeloError(msg)
    return games[:limit]


def _find_game(store: "History", key: str) -> "StoredGame":
    stored = store.game(key)
    if stored is None:
        msg = f"there is no game or run {key!r}; `zermelo history` lists them"
        raise ZermeloError(msg)
    return stored


def _replay_or_fail(stored: "StoredGame", game: str | None) -> "Match":
    match = _replay(stored, game)
    if match is None:
        msg = f"game {stored.id} uses rules from a Python file: load them with --game {stored.game}"
        raise ZermeloError(msg)
    return match


def _replay(stored: "StoredGame", game: str | None) -> "Match | None":
    """Return a stored game as a match, or None if its rules are a Python file other than `game`."""
    from zermelo.matches.match import Match

    rules = _load_rules(stored.game, game)
    if rules is None:
        return None
    match = Match(rules, stored.moves)
    if stored.is_match:
        match.resigned = stored.resigned
    elif match.outcome is None:  # a forfeit ended the game
        match.resigned = 1 if stored.outcome == "first" else 0
    return match


def _load_rules(spec: str, named: str | None) -> "Game | None":
    from zermelo.games import registry, user_games

    if user_games.is_game_file(spec) and named != spec:
        return None
    return registry.game(spec)


def _run_fields(store: "History", run: "StoredRun") -> Fields:
    return {**vars(run), "games": store.num_games(run.id)}


def _players_text(run: "StoredRun") -> str:
    players = run.settings.get("players") or [run.settings.get("player", "")]
    text = ", ".join(map(str, players if isinstance(players, list) else [players]))
    return text if len(text) <= _MAX_PLAYERS else f"{text[: _MAX_PLAYERS - 1]}…"


def _result_text(stored: "StoredGame") -> str:
    if stored.is_match:
        return stored.outcome
    result = {"first": "1-0", "second": "0-1", "draw": "1/2-1/2"}[stored.outcome]
    return f"{result} {stored.reason}".strip()


def _date_text(seconds: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
    except (OverflowError, ValueError, OSError):  # in a damaged row
        return "unknown"


@command(
    examples=(
        "zermelo convert game.sgf --from sgf --to text",
        "zermelo convert games.txt --from digits --game connect4 --to json",
    )
)
@click.argument("file", type=click.File("r", encoding="utf-8", errors="replace"))
@click.option("--from", "source", metavar="FORMAT", default="text", help="Format of FILE.")
@click.option("--to", "target", metavar="FORMAT", default="text", help="Format to write.")
@click.option(
    "--game",
    metavar="GAME",
    help="The game that was played; needed if the format does not name it.",
)
def convert(file: IO[str], source: str, target: str, game: str | None) -> None:
    """Convert game records from one format to another.

    FILE may be - for standard input. All moves are checked. Formats: text, json, psq, sgf, digits
    (Connect Four), transcript (Reversi).
    """
    from zermelo import records
    from zermelo.games import registry

    rules = registry.game(game) if game else None
    games = list(records.read_all(file, source, rules))  # all are read before any is written
    for record in games:
        options.print_record(records.write(record, target).rstrip("\n"))
