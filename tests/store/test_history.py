"""What is kept: the store's versions, and the history that shows and exports it."""

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import zermelo as z
from support.commands import zermelo
from support.paths import ROOT
from zermelo import records
from zermelo.store import BadStore, Row, Store
from zermelo.store.history import History
from zermelo.store.runs import FINISHED, GameRow, Rating, Runs

# The file that the studio made before there were tournaments, as its code had it.
VERSION_1 = """
CREATE TABLE matches (
    id TEXT PRIMARY KEY,
    game TEXT NOT NULL,
    first TEXT NOT NULL,
    second TEXT NOT NULL,
    moves TEXT NOT NULL,      -- separated by spaces
    plies INTEGER NOT NULL,
    resigned INTEGER,         -- the player who gave up
    verdict TEXT NOT NULL,
    over INTEGER NOT NULL,
    created REAL NOT NULL,
    updated REAL NOT NULL
) STRICT;
CREATE INDEX by_update ON matches (updated);
PRAGMA journal_mode = WAL;
PRAGMA user_version = 1;
INSERT INTO matches VALUES
    ('old', 'tictactoe', 'human', 'level:3', 'b2 a1', 2, NULL, 'X to move', 0, 1.0, 2.0);
"""


@pytest.fixture
def version_1(tmp_path: Path) -> Path:
    path = tmp_path / "old.db"
    with contextlib.closing(sqlite3.connect(path)) as base:
        base.executescript(VERSION_1)
    return path


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tournaments, one match that was won, one that was given up."""
    folder = tmp_path_factory.mktemp("kept")
    path, player = folder / "k.db", folder / "crash.py"
    player.write_text(
        "import zermelo as z\nclass Crash(z.Player):\n def think(self, position, limit):\n"
        "  if len(position.history) > 3: raise ValueError('no')\n"
        "  yield z.Analysis(position.legal[0])\n"
    )
    options: dict[str, Any] = {"games": 4, "processes": 1, "db": path}
    z.tournament("connect4", ["random", "greedy"], **options)
    z.tournament("tictactoe", ["random", str(player)], **options)
    with Store(path) as store:
        for key, moves, resigned, verdict in (
            ("won", "a1 a2 b1 b2 c1", None, "X wins"),
            ("given", "b2", 1, "X wins: O resigned"),
        ):
            plies = len(moves.split())
            store.add(Row(key, "tictactoe", "human", "greedy", moves, plies, resigned, verdict, 1))
    return path


# The store


def version(path: Path) -> int:
    with contextlib.closing(sqlite3.connect(path)) as base:
        return int(base.execute("PRAGMA user_version").fetchone()[0])


def test_an_old_file_is_brought_up_to_date(version_1: Path) -> None:
    before = Row("old", "tictactoe", "human", "level:3", "b2 a1", 2, None, "X to move", 0, 1.0, 2.0)
    with Store(version_1) as store:
        assert store.get("old") == before
    assert version(version_1) == 2
    with Runs(version_1) as runs:
        run = runs.begin("arena", "tictactoe", {"seed": 1})
        runs.add_players({"a": "random", "b": "greedy"})
        runs.add_games(run, [GameRow(0, "a", "b", 0, "a1", "draw")])
        assert [row.moves for row in runs.games_of(run)] == ["a1"]
    with Store(version_1) as store:
        assert store.latest(9) == [before]


def test_old_and_new_files_have_the_same_tables(version_1: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.db"
    Store(new).close()
    Store(version_1).close()

    def schema(path: Path) -> list[Any]:
        with contextlib.closing(sqlite3.connect(path)) as base:
            return sorted(
                base.execute("SELECT type, name, sql FROM sqlite_schema").fetchall(), key=str
            )

    assert schema(new) == schema(version_1)
    strict = [sql for kind, _, sql in schema(new) if kind == "table"]
    assert len(strict) == 6
    assert all("STRICT" in sql for sql in strict)


def test_a_migration_happens_whole_or_not_at_all(
    version_1: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from zermelo.store import file

    broken = (*file._STEPS[:1], f"{file._VERSION_2}; CREATE NONSENSE")
    monkeypatch.setattr(file, "_STEPS", broken)
    with pytest.raises(BadStore, match="NONSENSE"):
        Store(version_1)
    monkeypatch.undo()
    assert version(version_1) == 1
    with Store(version_1) as store:
        assert store.get("old") is not None


def test_runs_keep_what_they_are_told(tmp_path: Path) -> None:
    with Runs(tmp_path / "r.db") as runs:
        run = runs.begin("grade", "tictactoe", {"player": "greedy", "seed": 1})
        assert runs.newest("grade", {"seed": 1, "player": "greedy"}) == run
        assert runs.newest("arena", {"seed": 1, "player": "greedy"}) is None
        assert runs.newest("grade", {"seed": 2, "player": "greedy"}) is None
        row = GameRow(3, "a", "b", 0, "a1 b2", "first", "", 1, 1, 0.5, 0.25, 9.0)
        runs.add_players({"a": "random", "b": "greedy"})
        runs.add_games(run, [row])
        runs.add_games(run, [row._replace(moves="c3"), row._replace(number=1)])
        assert runs.games_of(run) == [row._replace(number=1), row], "what is kept stays"
        runs.forget_games(run, 3)
        assert [r.number for r in runs.games_of(run)] == [1]
        runs.add_ratings(run, {"a": Rating(1, 0, 2, 3)})
        runs.add_ratings(run, {"a": Rating(2, 0, 3, 4)})
        runs.end(run, FINISHED, {"mistakes": 0})
    with History(tmp_path / "r.db") as store:
        (found,) = store.runs(None, "greedy", 5)
        assert (found.state, found.result) == (FINISHED, {"mistakes": 0})
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            store.begin("arena", "tictactoe", {})


def test_analyses_are_kept_when_asked(tmp_path: Path) -> None:
    db = tmp_path / "a.db"
    lines = "b2\nb2 a1\nboard:XO./.../...\n"
    done = zermelo("analyze", "tictactoe", "--stdin", "--json", "--db", str(db), given=lines)
    with contextlib.closing(sqlite3.connect(db)) as base:
        rows = base.execute("SELECT game, moves, player, record FROM analyses").fetchall()
    assert [row[:3] for row in rows] == [
        ("tictactoe", "b2", ""), ("tictactoe", "b2 a1", ""), ("tictactoe", None, ""),
    ]  # fmt: skip
    assert [json.loads(r[3]) for r in rows] == [json.loads(s) for s in done.stdout.splitlines()]


# The history


def history(kept: Path, *arguments: str) -> str:
    done = zermelo("history", *arguments, "--db", str(kept))
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_lists(kept: Path) -> None:
    text = history(kept)
    assert "2    arena  tictactoe" in text
    assert "given  tictactoe  human" in text
    assert "0-1 crashed: ValueError: no" in text or "1-0 crashed: ValueError: no" in text
    found = json.loads(history(kept, "list", "--json"))
    assert [run["id"] for run in found["runs"]] == [2, 1]
    assert [run["games"] for run in found["runs"]] == [4, 4]
    assert [game["id"] for game in found["games"]][:3] == ["given", "won", "2/3"]
    assert len(found["games"]) == 10
    for arguments, runs, games in (
        (["--game", "connect4"], 1, 4),
        (["--player", "greedy"], 1, 6),
        (["--player", "human"], 0, 2),
        (["--limit", "1"], 1, 1),
        (["--game", "chess"], 0, 0),
    ):
        some = json.loads(history(kept, "--json", *arguments))
        assert (len(some["runs"]), len(some["games"])) == (runs, games), arguments
    assert history(kept, "--game", "chess") == "nothing is kept here yet\n"


def test_shows(kept: Path) -> None:
    won = history(kept, "show", "won")
    assert "[X] [X] [X]" in won
    assert "moves: a1 a2 b1 b2 c1" in won
    assert "result: X wins" in won
    assert "O resigned" in history(kept, "show", "given")
    lost = next(
        game for game in json.loads(history(kept, "--json"))["games"] if "crashed" in game["reason"]
    )
    assert "crashed: ValueError: no" in history(kept, "show", lost["id"])
    assert "the first 2 were drawn as an opening" in history(kept, "show", "1/0")
    run = history(kept, "show", "1")
    assert "arena of connect4, finished" in run
    assert "95%" in run
    both = json.loads(history(kept, "show", "2", "--json"))
    assert both["result"]["forfeits"][0]["reason"] == "crashed: ValueError: no"


@pytest.mark.parametrize("form", ["text", "json", "digits"])
def test_exports_by_line(kept: Path, tmp_path: Path, form: str) -> None:
    out = tmp_path / "games"
    assert history(kept, "export", "1", "--format", form, "--out", str(out)) == ""
    found = list(records.read_all(out.read_text().splitlines(), form, z.game("connect4")))
    with Runs(kept) as runs:
        rows = runs.games_of(1)
    assert [" ".join(record.moves) for record in found] == [row.moves for row in rows]
    assert [r.outcome.value for r in found if r.outcome] == [row.outcome for row in rows]


def test_exports_one_game_a_file(kept: Path, tmp_path: Path) -> None:
    for form in ("psq", "sgf"):
        text = history(kept, "export", "won", "--format", form)
        assert records.read(text, form, z.game("tictactoe")).position.verdict == "X wins"
        arguments = ["--game", "tictactoe", "--player", "human", "--format", form]
        if form == "sgf":  # psq has no resignations
            history(kept, "export", *arguments, "--out", str(tmp_path))
            assert sorted(p.name for p in tmp_path.glob("*.sgf")) == ["given.sgf", "won.sgf"]
    several = zermelo(
        "history", "export", "--game", "tictactoe", "--format", "sgf", "--db", str(kept)
    )
    assert several.returncode == 2
    assert "sgf holds one" in several.stderr
    text = history(kept, "export", "--game", "tictactoe")
    assert "tictactoe b2 1-0" in text
    assert len(list(records.read_all(text.splitlines(), "text"))) == 6


def test_transcripts(tmp_path: Path) -> None:
    db = tmp_path / "r.db"
    z.tournament("reversi:4", ["random", "greedy"], games=2, processes=1, db=db)
    text = history(db, "export", "--format", "transcript")
    found = list(records.read_all(text.splitlines(), "transcript", z.game("reversi:4")))
    assert all(record.position.is_over for record in found)


def test_a_game_from_a_file_is_loaded_only_when_named(tmp_path: Path) -> None:
    game, db = ROOT / "examples" / "domineering.py", tmp_path / "g.db"
    z.tournament(str(game), ["random", "random"], games=2, processes=1, db=db)
    shown = history(db, "show", "1/0")
    assert f"--game {game} loads it" in shown
    assert "moves: " in shown
    loaded = history(db, "show", "1/0", "--game", str(game))
    assert "loads it" not in loaded
    assert str(game) in history(db, "export", "--game", str(game))
    refused = zermelo("history", "export", "1", "--db", str(db))
    assert refused.returncode == 2
    assert "loads it" in refused.stderr


def test_an_old_file_is_read_and_left_alone(version_1: Path) -> None:
    before = version_1.read_bytes()
    assert "old  tictactoe  human" in history(version_1)
    assert "X to move" in history(version_1, "show", "old")
    assert version_1.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["show"], "show what?"),
        (["list", "1"], "list takes no ids"),
        (["show", "99"], "no game or run '99'"),
        (["show", "1/99"], "no game or run '1/99'"),
        (["show", "1/x"], "no game or run '1/x'"),
        (["export", "nobody"], "no game or run 'nobody'"),
        (["export", "--player", "nobody"], "no such game to export"),
        (["export", "won", "--format", "pgn"], "unknown format 'pgn'"),
        (["export", "won", "--format", "digits"], "for Connect Four"),
        (["export", "won", "--out", "/no/where/x"], "cannot write /no/where/x"),
        (["frob"], "'frob' is not one of"),
    ],
)
def test_bad_arguments_are_one_clear_line(kept: Path, arguments: list[str], part: str) -> None:
    done = zermelo("history", *arguments, "--db", str(kept))
    assert done.returncode == 2
    assert part in done.stderr
    assert done.stderr.count("\n") == 1


def test_it_creates_no_file_and_takes_no_other(tmp_path: Path) -> None:
    other, text = tmp_path / "other.db", tmp_path / "text.db"
    with contextlib.closing(sqlite3.connect(other)) as base:
        base.execute("CREATE TABLE photos (name TEXT)")
    text.write_text("dear diary, " * 100)
    for path, part in (
        (tmp_path / "none" / "x.db", "there is no such file"),
        (other, "something else"),
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
    Store(tmp_path / "home" / "studio.db").close()
    assert zermelo("history", ZERMELO_HOME=str(tmp_path / "home")).stdout.startswith("nothing")
