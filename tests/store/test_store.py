"""The store: matches and runs, migrations, files of earlier versions, and files of others."""

import contextlib
import re
import shutil
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.paths import ROOT
from support.stores import create_version_1, read_version
from zermelo.store import database, matches
from zermelo.store.connection import BadStore
from zermelo.store.history import History
from zermelo.store.matches import MatchChanged, MatchRow, MatchStore
from zermelo.store.runs import FINISHED, GameRow, Rating, RunStore

# Written by the release before this package got its present names.
VERSION_2 = ROOT / "tests" / "store" / "version_2.db"


@pytest.fixture
def version_1(tmp_path: Path) -> Path:
    return create_version_1(tmp_path / "old.db")


@pytest.fixture
def version_2(tmp_path: Path) -> Path:
    return Path(shutil.copy(VERSION_2, tmp_path / "version_2.db"))


# Matches


def new_row(key: str = "a") -> MatchRow:
    return MatchRow(key, "tictactoe", "human", "level:3")


def test_matches_survive_reopening(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "m.db"
    store = MatchStore(path)
    before, _ = store.add(new_row())
    after = store.update(before, replace(before, moves="b2", plies=1))
    store.close()
    store = MatchStore(path)
    assert store.get("a") == after
    assert store.get("b") is None
    assert store.latest(5) == [after]
    store.close()


def test_an_update_of_a_changed_match_is_refused(tmp_path: Path) -> None:
    store = MatchStore(tmp_path / "m.db")
    before, _ = store.add(new_row())
    store.update(before, replace(before, moves="b2", plies=1))
    with pytest.raises(MatchChanged, match="changed"):
        store.update(before, replace(before, moves="a1", plies=1))
    with pytest.raises(MatchChanged):
        store.update(new_row("gone"), new_row("gone"))
    assert store.get("a").moves == "b2"  # type: ignore[union-attr]
    store.close()


def test_only_old_finished_matches_make_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matches, "MAX_MATCHES", 4)
    day, now = 86_400, time.time()
    path = tmp_path / "m.db"
    with MatchStore(path) as store:
        for key, over, days in (("a", 0, 90), ("b", 1, 50), ("c", 1, 29), ("d", 1, 40)):
            monkeypatch.setattr(time, "time", lambda days=days: now - days * day)
            assert store.add(replace(new_row(key), over=over))[1] == []
        monkeypatch.setattr(time, "time", lambda: now)
        assert store.add(new_row("e"))[1] == ["b"]
        assert store.add(new_row("f"))[1] == ["d"]
        with pytest.raises(matches.StoreFull, match="unfinished or was changed in the last 30"):
            store.add(new_row("g"))
        assert {row.id for row in store.latest(9)} == {"a", "c", "e", "f"}


def test_a_locked_store_is_reported_after_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with (
        MatchStore(path) as store,
        contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        store.limit_wait(0.1)
        row, _ = store.add(new_row())
        other.execute("BEGIN IMMEDIATE")
        begin = time.monotonic()
        for write in (lambda: store.add(new_row("b")), lambda: store.update(row, row)):
            with pytest.raises(matches.StoreLocked, match="locked by another process"):
                write()
        assert begin < store.locked_at <= time.monotonic()
        assert time.monotonic() - begin < 2, "without the limit it is 5 s each"
        assert store.get("a") == row, "reading does not wait"
        other.execute("ROLLBACK")
        assert store.add(new_row("b"))[0].id == "b"


def test_an_insertion_that_fails_is_rolled_back(tmp_path: Path) -> None:
    store = MatchStore(tmp_path / "m.db")
    store.add(new_row())
    with pytest.raises(sqlite3.IntegrityError):
        store.add(new_row())
    store.add(new_row("b"))
    assert [row.id for row in store.latest(9)] == ["b", "a"]
    store.close()


def test_several_threads_may_open_a_new_store_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        stores = list(pool.map(lambda _: MatchStore(tmp_path / "m.db"), range(4)))
    stores[0].add(new_row())
    assert all(store.get("a") for store in stores)
    for store in stores:
        store.close()


# Runs


def test_runs_keep_their_games_ratings_and_result(tmp_path: Path) -> None:
    with RunStore(tmp_path / "r.db") as runs:
        run = runs.add_run("grade", "tictactoe", {"player": "greedy", "seed": 1})
        assert runs.latest_run("grade", {"seed": 1, "player": "greedy"}) == run
        assert runs.latest_run("arena", {"seed": 1, "player": "greedy"}) is None
        assert runs.latest_run("grade", {"seed": 2, "player": "greedy"}) is None
        row = GameRow(3, "a", "b", 0, "a1 b2", "first", "", 1, 1, 0.5, 0.25, 9.0)
        runs.add_players({"a": "random", "b": "greedy"})
        runs.add_games(run, [row])
        runs.add_games(run, [row._replace(moves="c3"), row._replace(number=1)])
        assert runs.game_rows(run) == [row._replace(number=1), row], "stored games stay unchanged"
        runs.delete_games(run, 3)
        assert [r.number for r in runs.game_rows(run)] == [1]
        runs.set_ratings(run, {"a": Rating(1, 0, 2, 3)})
        runs.set_ratings(run, {"a": Rating(2, 0, 3, 4)})
        runs.update_run(run, FINISHED, {"mistakes": 0})
    with History(tmp_path / "r.db") as history:
        (stored,) = history.runs(None, "greedy", 5)
        assert (stored.state, stored.result) == (FINISHED, {"mistakes": 0})
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            history.add_run("arena", "tictactoe", {})


# Earlier versions


def test_a_file_of_version_1_is_migrated(version_1: Path) -> None:
    before = MatchRow(
        "old", "tictactoe", "human", "level:3", "b2 a1", 2, None, "X to move", 0, 1.0, 2.0
    )
    with MatchStore(version_1) as store:
        assert store.get("old") == before
    assert read_version(version_1) == 2
    with RunStore(version_1) as runs:
        run = runs.add_run("arena", "tictactoe", {"seed": 1})
        runs.add_players({"a": "random", "b": "greedy"})
        runs.add_games(run, [GameRow(0, "a", "b", 0, "a1", "draw")])
        assert [row.moves for row in runs.game_rows(run)] == ["a1"]
    with MatchStore(version_1) as store:
        assert store.latest(9) == [before]


def test_migrated_and_new_files_have_the_same_tables(version_1: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.db"
    MatchStore(new).close()
    MatchStore(version_1).close()

    def schema(path: Path) -> list[Any]:
        with contextlib.closing(sqlite3.connect(path)) as connection:
            rows = connection.execute("SELECT type, name, sql FROM sqlite_schema").fetchall()
        return sorted((kind, name, re.sub(" *--.*", "", sql or "")) for kind, name, sql in rows)

    assert schema(new) == schema(version_1)
    tables = [sql for kind, _, sql in schema(new) if kind == "table"]
    assert len(tables) == 6
    assert all("STRICT" in sql for sql in tables)


def test_a_migration_is_complete_or_has_no_effect(
    version_1: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = (*database._MIGRATIONS[:1], f"{database._VERSION_2}; CREATE NONSENSE")
    monkeypatch.setattr(database, "_MIGRATIONS", broken)
    with pytest.raises(BadStore, match="NONSENSE"):
        MatchStore(version_1)
    monkeypatch.undo()
    assert read_version(version_1) == 1
    with MatchStore(version_1) as store:
        assert store.get("old") is not None


def test_matches_in_a_file_of_the_release_before(version_2: Path) -> None:
    with MatchStore(version_2) as store:
        running, resigned = store.get("running"), store.get("resigned")
        assert running is not None
        assert (running.game, running.moves, running.over) == ("connect4", "4 4 3", 0)
        assert resigned is not None
        assert (resigned.resigned, resigned.verdict) == (0, "O wins: X resigned")
        after = store.update(running, replace(running, moves="4 4 3 5", plies=4))
        assert store.latest(1) == [after]


def test_runs_in_a_file_of_the_release_before(version_2: Path) -> None:
    before = version_2.read_bytes()
    with History(version_2) as history:
        grade, arena = history.runs(None, None, 9)
        assert (grade.kind, grade.result) == ("grade", {"mistakes": 3})
        assert arena.settings["players"] == ["random:seed=1", "greedy:seed=2"]
        assert [game.id for game in history.games_in(1)] == ["1/0", "1/1"]
        assert [row.outcome for row in history.game_rows(1)] == ["second", "first"]
        assert {game.id for game in history.games(None, None, 9)} == {
            "running", "resigned", "1/0", "1/1",
        }  # fmt: skip
    assert version_2.read_bytes() == before, "a history changes nothing"
    with RunStore(version_2) as runs:
        assert runs.latest_run("grade", {"player": "greedy"}) == 2
        runs.add_analysis("tictactoe", ["b2"], "", {"value": "draw"})
    with contextlib.closing(sqlite3.connect(version_2)) as connection:
        assert connection.execute("SELECT count(*) FROM analyses").fetchone() == (2,)


# Files of other programs


def test_the_file_of_another_program_is_refused_and_left_unchanged(tmp_path: Path) -> None:
    text = tmp_path / "text.db"
    text.write_text("dear diary, " * 100)
    other = tmp_path / "other.db"
    versioned = tmp_path / "versioned.db"
    empty = tmp_path / "empty.db"
    later = tmp_path / "later.db"
    for path, script in (
        (other, "CREATE TABLE photos (name TEXT)"),
        (versioned, "CREATE TABLE matches (id TEXT); PRAGMA user_version = 1"),
        (empty, "PRAGMA user_version = 1"),
        (later, "PRAGMA user_version = 99"),
    ):
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.executescript(script)
    for path, message in (
        (text, "not a database"),
        (other, "another program's"),
        (versioned, "another program's"),
        (empty, "another program's"),
        (later, "later version"),
        (tmp_path, "unable to open"),
        (text / "below", "cannot be used"),
    ):
        before = path.read_bytes() if path.is_file() else b""
        with pytest.raises(BadStore, match=message) as caught:
            MatchStore(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)
        assert not path.is_file() or path.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "empty.db", "later.db", "other.db", "text.db", "versioned.db",
    ]  # fmt: skip
