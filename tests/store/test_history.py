"""`zermelo history`: stored games and runs, listed, shown and exported."""

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import zermelo as z
from support.commands import zermelo
from support.paths import ROOT
from support.stores import create_version_1
from zermelo import records
from zermelo.store.matches import MatchRow, MatchStore
from zermelo.store.runs import RunStore


@pytest.fixture
def version_1(tmp_path: Path) -> Path:
    return create_version_1(tmp_path / "old.db")


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tournaments, a match that was won and one that was resigned."""
    folder = tmp_path_factory.mktemp("stored")
    path, player = folder / "k.db", folder / "crash.py"
    player.write_text(
        "import zermelo as z\nclass Crash(z.Player):\n def think(self, position, limit):\n"
        "  if len(position.history) > 3: raise ValueError('no')\n"
        "  yield z.Analysis(position.legal[0])\n"
    )
    options: dict[str, Any] = {"games": 4, "processes": 1, "db": path}
    z.tournament("connect4", ["random", "greedy"], **options)
    z.tournament("tictactoe", ["random", str(player)], **options)
    with MatchStore(path) as store:
        for key, moves, resigned, verdict in (
            ("won", "a1 a2 b1 b2 c1", None, "X wins"),
            ("resigned", "b2", 1, "X wins: O resigned"),
        ):
            plies = len(moves.split())
            store.add(
                MatchRow(key, "tictactoe", "human", "greedy", moves, plies, resigned, verdict, 1)
            )
    return path


def test_analyze_stores_its_analyses_if_a_store_is_given(tmp_path: Path) -> None:
    db = tmp_path / "a.db"
    lines = "b2\nb2 a1\nboard:XO./.../...\n"
    done = zermelo("analyze", "tictactoe", "--stdin", "--json", "--db", str(db), given=lines)
    with contextlib.closing(sqlite3.connect(db)) as base:
        rows = base.execute("SELECT game, moves, player, record FROM analyses").fetchall()
    assert [row[:3] for row in rows] == [
        ("tictactoe", "b2", ""), ("tictactoe", "b2 a1", ""), ("tictactoe", None, ""),
    ]  # fmt: skip
    assert [json.loads(r[3]) for r in rows] == [json.loads(s) for s in done.stdout.splitlines()]


def history(path: Path, *arguments: str) -> str:
    done = zermelo("history", *arguments, "--db", str(path))
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_list(stored: Path) -> None:
    text = history(stored)
    assert "2    arena  tictactoe" in text
    assert "resigned  tictactoe  human" in text
    assert "0-1 crashed: ValueError: no" in text or "1-0 crashed: ValueError: no" in text
    found = json.loads(history(stored, "list", "--json"))
    assert [run["id"] for run in found["runs"]] == [2, 1]
    assert [run["games"] for run in found["runs"]] == [4, 4]
    assert [game["id"] for game in found["games"]][:3] == ["resigned", "won", "2/3"]
    assert len(found["games"]) == 10
    for arguments, runs, games in (
        (["--game", "connect4"], 1, 4),
        (["--player", "greedy"], 1, 6),
        (["--player", "human"], 0, 2),
        (["--limit", "1"], 1, 1),
        (["--game", "chess"], 0, 0),
    ):
        some = json.loads(history(stored, "--json", *arguments))
        assert (len(some["runs"]), len(some["games"])) == (runs, games), arguments
    assert history(stored, "--game", "chess") == "no games or runs are stored yet\n"


def test_show(stored: Path) -> None:
    won = history(stored, "show", "won")
    assert "[X] [X] [X]" in won
    assert "moves: a1 a2 b1 b2 c1" in won
    assert "result: X wins" in won
    assert "O resigned" in history(stored, "show", "resigned")
    lost = next(
        game
        for game in json.loads(history(stored, "--json"))["games"]
        if "crashed" in game["reason"]
    )
    assert "crashed: ValueError: no" in history(stored, "show", lost["id"])
    assert "the first 2 moves, chosen at random" in history(stored, "show", "1/0")
    run = history(stored, "show", "1")
    assert "arena of connect4, finished" in run
    assert "95%" in run
    both = json.loads(history(stored, "show", "2", "--json"))
    assert both["result"]["forfeits"][0]["reason"] == "crashed: ValueError: no"


@pytest.mark.parametrize("form", ["text", "json", "digits"])
def test_export_to_formats_of_one_line_a_game(stored: Path, tmp_path: Path, form: str) -> None:
    out = tmp_path / "games"
    assert history(stored, "export", "1", "--format", form, "--out", str(out)) == ""
    found = list(records.read_all(out.read_text().splitlines(), form, z.game("connect4")))
    with RunStore(stored) as runs:
        rows = runs.game_rows(1)
    assert [" ".join(record.moves) for record in found] == [row.moves for row in rows]
    assert [r.outcome.value for r in found if r.outcome] == [row.outcome for row in rows]


def test_export_to_formats_of_one_game_a_file(stored: Path, tmp_path: Path) -> None:
    for form in ("psq", "sgf"):
        text = history(stored, "export", "won", "--format", form)
        assert records.read(text, form, z.game("tictactoe")).position.verdict == "X wins"
        arguments = ["--game", "tictactoe", "--player", "human", "--format", form]
        if form == "sgf":  # psq has no resignations
            history(stored, "export", *arguments, "--out", str(tmp_path))
            assert sorted(p.name for p in tmp_path.glob("*.sgf")) == ["resigned.sgf", "won.sgf"]
    several = zermelo(
        "history", "export", "--game", "tictactoe", "--format", "sgf", "--db", str(stored)
    )
    assert several.returncode == 2
    assert "a file in the format sgf holds one game" in several.stderr
    text = history(stored, "export", "--game", "tictactoe")
    assert "tictactoe b2 1-0" in text
    assert len(list(records.read_all(text.splitlines(), "text"))) == 6


def test_export_of_transcripts(tmp_path: Path) -> None:
    db = tmp_path / "r.db"
    z.tournament("reversi:4", ["random", "greedy"], games=2, processes=1, db=db)
    text = history(db, "export", "--format", "transcript")
    found = list(records.read_all(text.splitlines(), "transcript", z.game("reversi:4")))
    assert all(record.position.is_over for record in found)


def test_a_game_from_a_file_is_loaded_only_when_named(tmp_path: Path) -> None:
    game, db = ROOT / "examples" / "domineering.py", tmp_path / "g.db"
    z.tournament(str(game), ["random", "random"], games=2, processes=1, db=db)
    shown = history(db, "show", "1/0")
    assert f"add --game {game} to see the board" in shown
    assert "moves: " in shown
    loaded = history(db, "show", "1/0", "--game", str(game))
    assert "add --game" not in loaded
    assert str(game) in history(db, "export", "--game", str(game))
    refused = zermelo("history", "export", "1", "--db", str(db))
    assert refused.returncode == 2
    assert f"load them with --game {game}" in refused.stderr


def test_a_file_of_version_1_is_read_and_left_unchanged(version_1: Path) -> None:
    before = version_1.read_bytes()
    assert "old  tictactoe  human" in history(version_1)
    assert "X to move" in history(version_1, "show", "old")
    assert version_1.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["show"], "name a game or run to show"),
        (["list", "1"], "`list` takes no ID"),
        (["show", "99"], "no game or run '99'"),
        (["show", "1/99"], "no game or run '1/99'"),
        (["show", "1/x"], "no game or run '1/x'"),
        (["export", "nobody"], "no game or run 'nobody'"),
        (["export", "--player", "nobody"], "there is no game to export"),
        (["export", "won", "--format", "pgn"], "unknown format 'pgn'"),
        (["export", "won", "--format", "digits"], "for Connect Four"),
        (["export", "won", "--out", "/no/where/x"], "cannot write /no/where/x"),
        (["frob"], "'frob' is not one of"),
    ],
)
def test_bad_arguments_are_one_clear_line(stored: Path, arguments: list[str], part: str) -> None:
    done = zermelo("history", *arguments, "--db", str(stored))
    assert done.returncode == 2
    assert part in done.stderr
    assert done.stderr.count("\n") == 1


def test_it_creates_no_file_and_refuses_those_of_others(tmp_path: Path) -> None:
    other, text = tmp_path / "other.db", tmp_path / "text.db"
    with contextlib.closing(sqlite3.connect(other)) as base:
        base.execute("CREATE TABLE photos (name TEXT)")
    text.write_text("dear diary, " * 100)
    for path, part in (
        (tmp_path / "none" / "x.db", "there is no such file"),
        (other, "another program's"),
        (text, "not a database"),
    ):
        done = zermelo("history", "--db", str(path))
        assert done.returncode == 2
        assert part in done.stderr
        assert done.stderr.count("\n") == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["other.db", "text.db"]
    home = zermelo("history", ZERMELO_HOME=str(tmp_path / "home"))
    assert home.returncode == 2
    assert "studio.db" in home.stderr
    MatchStore(tmp_path / "home" / "studio.db").close()
    empty = zermelo("history", ZERMELO_HOME=str(tmp_path / "home"))
    assert empty.stdout.startswith("no games or runs")
