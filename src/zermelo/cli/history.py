"""History: stored games and runs, looked at and written out."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zermelo.cli import options
from zermelo.core.errors import ZermeloError

if TYPE_CHECKING:
    from zermelo.core.game import Game
    from zermelo.matches.match import Match
    from zermelo.store.history import History, Kept
    from zermelo.store.runs import Run


@click.command()
@click.argument("action", type=click.Choice(["list", "show", "export"]), default="list")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option(
    "--db",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The store.  [that of the studio]",
)
@click.option("--game", help="Only this game; a file is named here to be loaded.")
@click.option("--player", help="Only games of this player.")
@click.option("--limit", type=click.IntRange(1, 10**9), help="At most so many.  [20 in lists]")
@click.option("--format", "form", default="text", help="Of export; as in zermelo convert.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="A file, or a folder for one file a game."
)
@options.json_option
def history(
    action: str,
    ids: tuple[str, ...],
    db: Path | None,
    game: str | None,
    player: str | None,
    limit: int | None,
    form: str,
    out: Path | None,
    as_json: bool,
) -> None:
    """Stored games and runs: list them, show some by ID, export games as records.

    The ID of a run is a number, that of a game in it RUN/NUMBER, that of a match a word.
    """
    from zermelo.core import home
    from zermelo.store.history import History

    if action == "show" and not ids:
        msg = "show what? zermelo history lists the ids"
        raise click.UsageError(msg)
    if action == "list" and ids:
        msg = f"list takes no ids: zermelo history show {' '.join(ids)}"
        raise click.UsageError(msg)
    with History(db or home.database()) as store:
        if action == "list":
            _list(store, game, player, limit or 20, as_json=as_json)
        elif action == "show":
            for key in ids:
                _show(store, key, game, as_json=as_json)
        else:
            found = _chosen(store, ids, player, game, limit or 10**9)
            _export(found, form, out, game)


def _list(
    store: "History", game: str | None, player: str | None, limit: int, *, as_json: bool
) -> None:
    runs = store.runs(game, player, limit)
    games = store.games(game, player, limit)
    if as_json:
        options.print_json(
            {"runs": [_run_json(store, run) for run in runs], "games": [vars(g) for g in games]}
        )
        return
    if not runs and not games:
        click.echo("nothing is kept here yet")
    if runs:
        options.table(
            ("run", "kind", "game", "players", "games", "state", "when"),
            [
                (
                    r.id,
                    r.kind,
                    r.game,
                    _players(r),
                    store.num_games(r.id),
                    r.state,
                    _when(r.updated),
                )
                for r in runs
            ],
        )
    if runs and games:
        click.echo()
    if games:
        options.table(
            ("id", "game", "first", "second", "result", "plies", "when"),
            [
                (g.id, g.game, g.first, g.second, _result(g), len(g.moves), _when(g.played))
                for g in games
            ],
        )


def _show(store: "History", key: str, game: str | None, *, as_json: bool) -> None:
    run = store.run(key)
    if run is not None:
        _show_run(store, run, as_json=as_json)
        return
    found = _one(store, key)
    if as_json:
        options.print_json(vars(found))
        return
    click.echo(f"{found.id}: {found.game}, {found.first} against {found.second}")
    match = _match(found, game)
    if match is None:
        click.echo(f"{found.game} is a file: --game {found.game} loads it, to show the board")
    else:
        click.echo(match.position.to_text())
    click.echo(f"moves: {' '.join(found.moves) or 'none'}")
    if found.opening:
        click.echo(f"the first {found.opening} were drawn as an opening")
    click.echo(f"result: {_result(found)}")


def _show_run(store: "History", run: "Run", *, as_json: bool) -> None:
    if as_json:
        options.print_json(_run_json(store, run))
        return
    click.echo(f"{run.id}: {run.kind} of {run.game}, {run.state}, {_when(run.updated)}")
    for name, value in run.settings.items():
        click.echo(f"  {name}: {value}")
    click.echo(f"{store.num_games(run.id):,} games are kept")
    result = run.result or {}
    if "results" in result:
        click.echo()
        rows = [
            (r["first"], r["second"], r["wins"], r["draws"], r["losses"]) for r in result["results"]
        ]
        options.table(("first", "second", "wins", "draws", "losses"), rows)
    if "elo" in result:
        click.echo()
        elo = sorted(result["elo"].items(), key=lambda item: -item[1]["rating"])
        rated = [
            (name, f"{e['rating']:+.0f}", f"{e['low']:+.0f} to {e['high']:+.0f}") for name, e in elo
        ]
        options.table(("player", "Elo", "95%"), rated)
        for lost in result["forfeits"]:
            click.echo(f"{lost['player']} lost {lost['games']:,}: {lost['reason']}")
    elif result:
        for name, value in result.items():
            click.echo(f"  {name}: {value}")


def _export(found: list["Kept"], form: str, out: Path | None, game: str | None) -> None:
    from zermelo import records
    from zermelo.records import Record

    if form not in records.FORMATS:
        records.write(Record.of(_replayed(found[0], game)), form)  # says which there are
    texts = {}
    for kept in found:
        text = records.write(Record.of(_replayed(kept, game)), form)
        texts[kept.id] = text if text.endswith("\n") else f"{text}\n"
    try:
        if out is not None and out.is_dir():
            for key, text in texts.items():
                (out / f"{key.replace('/', '-')}.{form}").write_text(text, encoding="utf-8")
            return
        if len(texts) > 1 and not records.FORMATS[form].by_line:
            msg = f"{len(texts)} games, but {form} holds one: name it by its id, or --out a folder"
            raise ZermeloError(msg)
        if out is None:
            click.echo("".join(texts.values()), nl=False)
        else:
            out.write_text("".join(texts.values()), encoding="utf-8")
    except OSError as error:
        msg = f"cannot write {out}: {error.strerror}"
        raise click.ClickException(msg) from None


def _chosen(
    store: "History", ids: tuple[str, ...], player: str | None, game: str | None, limit: int
) -> list["Kept"]:
    """The games to export: those named, all games of the runs named, or all."""
    if not ids:
        found = store.games(game, player, limit)
    else:
        found = []
        for key in ids:
            run = store.run(key)
            found += [_one(store, key)] if run is None else store.games_in(run.id)
    if not found:
        msg = "there is no such game to export"
        raise ZermeloError(msg)
    return found[:limit]


def _one(store: "History", key: str) -> "Kept":
    found = store.one(key)
    if found is None:
        msg = f"there is no game or run {key!r}: zermelo history lists them"
        raise ZermeloError(msg)
    return found


def _replayed(kept: "Kept", game: str | None) -> "Match":
    match = _match(kept, game)
    if match is None:
        msg = f"{kept.id} is a game of a file: --game {kept.game} loads it"
        raise ZermeloError(msg)
    return match


def _match(kept: "Kept", game: str | None) -> "Match | None":
    """The game played again; None where that takes a file which nobody has named."""
    from zermelo.matches.match import Match

    rules = _rules(kept.game, game)
    if rules is None:
        return None
    match = Match(rules, kept.moves)
    if kept.is_match:
        match.resigned = kept.resigned
    elif match.outcome is None:  # a fault ended it
        match.resigned = 1 if kept.outcome == "first" else 0
    return match


def _rules(spec: str, named: str | None) -> "Game | None":
    from zermelo.games import files, registry

    if files.is_file(spec) and named != spec:
        return None
    return registry.game(spec)


def _run_json(store: "History", run: "Run") -> dict[str, Any]:
    return {**vars(run), "games": store.num_games(run.id)}


def _players(run: "Run") -> str:
    players = run.settings.get("players") or [run.settings.get("player", "")]
    text = ", ".join(players)
    return text if len(text) <= 50 else f"{text[:49]}…"


def _result(kept: "Kept") -> str:
    if kept.is_match:
        return kept.outcome
    said = {"first": "1-0", "second": "0-1", "draw": "1/2-1/2"}[kept.outcome]
    return f"{said} {kept.reason}".strip()


def _when(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
