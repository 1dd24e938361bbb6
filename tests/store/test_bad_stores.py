"""Stores that are locked, full, read-only, damaged or of a later version."""

import contextlib
import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.commands import command
from support.recipes import write_recipe
from zermelo.learn.runs import listing
from zermelo.store import database
from zermelo.store.connection import BadStore, StoreFailure
from zermelo.store.history import History
from zermelo.store.matches import MatchRow, MatchStore
from zermelo.store.runs import RunStore

MakeBad = Callable[[Path, pytest.MonkeyPatch], contextlib.AbstractContextManager[None]]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store that commands use by default; it contains one match."""
    monkeypatch.setenv("ZERMELO_HOME", str(tmp_path))
    path = tmp_path / "studio.db"
    with MatchStore(path) as matches:
        matches.add(MatchRow("m", "tictactoe", "human", "level:3", "b2 a1", 2))
    return path


@contextlib.contextmanager
def locked(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    open_store = database.connect
    monkeypatch.setattr(
        database, "connect", lambda path, _timeout, **options: open_store(path, 0.05, **options)
    )
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield


@contextlib.contextmanager
def full(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    open_store = RunStore.__init__

    def open_full(self: RunStore, *arguments: object, **options: object) -> None:
        open_store(self, *arguments, **options)  # type: ignore[arg-type]
        self._connection.execute("PRAGMA max_page_count = 1")  # as many as there are

    monkeypatch.setattr(RunStore, "__init__", open_full)
    with MatchStore(path) as matches:  # so that the run needs a new page
        for number in range(40):
            matches.add(MatchRow(f"{number}", "tictactoe", "a" * 50, "b" * 50))
    monkeypatch.setattr(RunStore, "add_run", _add_large_run)
    yield


def _add_large_run(store: RunStore, kind: str, game: str, settings: object) -> int:
    del settings
    store.add_analysis(game, [], kind, {"long": "x" * 20_000})
    raise AssertionError


@contextlib.contextmanager
def corrupt(path: Path, _: pytest.MonkeyPatch) -> Iterator[None]:
    data = path.read_bytes()
    path.write_bytes(data[:100] + bytes(len(data) - 100))
    yield


@contextlib.contextmanager
def later(path: Path, _: pytest.MonkeyPatch) -> Iterator[None]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    yield


@pytest.mark.parametrize(
    ("make_bad", "reason"),
    [
        (locked, "database is locked"),
        (full, "database or disk is full"),
        (corrupt, "history recover"),
        (later, "written by a later version of zermelo (99)"),
    ],
)
def test_a_bad_store_does_not_stop_a_training(
    make_bad: MakeBad,
    reason: str,
    store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("torch", reason="torch is not installed: nothing can be trained")
    recipe, out = str(write_recipe(tmp_path)), tmp_path / "run"
    with make_bad(store, monkeypatch):
        before = store.read_bytes()
        code, stdout, err = command("train", recipe, "--out", str(out))
        assert make_bad is full or store.read_bytes() == before
    assert (code, err.count("\n"), err.count("warning")) == (0, 1, 1), err
    assert "warning: the run is not recorded in the store: " in err
    assert reason in err
    assert "plays as dqn:" in stdout
    assert listing.summarize_run(out).state == "finished"
    monkeypatch.undo()
    with contextlib.suppress(BadStore), History(store) as history:
        assert history.runs(None, None, 9) == [], "no half-begun run"


def test_a_store_that_fails_during_a_training(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch", reason="torch is not installed: nothing can be trained")

    def fail(*_: object) -> None:
        message = "database is locked"
        raise StoreFailure(message)

    monkeypatch.setattr(RunStore, "update_run", fail)
    code, _, err = command("train", str(write_recipe(tmp_path)), "--out", str(tmp_path / "run"))
    assert (code, err.count("\n")) == (0, 1)
    assert "database is locked" in err


def test_runs_are_listed_without_the_store(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with corrupt(store, monkeypatch):
        code, out, err = command("runs")
    assert (code, err.count("\n")) == (0, 1)
    assert "there are no runs yet" in out
    assert "warning: runs in other folders are not listed" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ("history",),
        ("history", "show", "m"),
        ("history", "export"),
        ("analyze", "tictactoe", "--db", "DB"),
        ("grade", "tictactoe", "random", "--db", "DB"),
        ("arena", "tictactoe", "random", "greedy", "--games", "2", "--db", "DB"),
        ("studio", "--db", "DB", "--port", "0"),
    ],
)
@pytest.mark.parametrize("place", [3, 90])  # in the header, and in the list of tables
def test_every_command_refuses_a_damaged_store_in_one_line(
    arguments: tuple[str, ...], place: int, store: Path
) -> None:
    if "studio" in arguments:
        pytest.importorskip("fastapi", reason="FastAPI is not installed: there is no studio")
    data = bytearray(store.read_bytes())
    data[place : place + 3000] = b"\xa5" * len(data[place : place + 3000])
    store.write_bytes(data)
    code, out, err = command(*(str(store) if word == "DB" else word for word in arguments))
    assert (code, out) == (2, ""), err
    assert err.count("\n") == 1
    assert str(store) in err


def test_the_message_is_one_line_even_if_sqlite_quotes_several(store: Path) -> None:
    data = store.read_bytes()
    assert data.count(b"spec TEXT NOT NULL") == 1
    store.write_bytes(data.replace(b"spec TEXT NOT NULL", b"spec TEXT 'OT NULL"))
    with pytest.raises(BadStore, match="malformed database schema") as caught:
        History(store)
    assert "\n" not in str(caught.value)


@pytest.fixture
def read_only_store() -> Iterator[Path]:
    """A store in a read-only folder, with the rights of a user whom this stops."""
    folder = Path(tempfile.mkdtemp())
    path = folder / "studio.db"
    with MatchStore(path) as matches:
        matches.add(MatchRow("m", "tictactoe", "human", "level:3", "b2 a1", 2))
    path.chmod(stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH)
    folder.chmod(0o555)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield path
    finally:
        os.seteuid(user)
        folder.chmod(0o755)
        shutil.rmtree(folder)


def test_a_read_only_folder_can_be_read(read_only_store: Path) -> None:
    code, out, err = command("history", "--db", str(read_only_store))
    assert (code, err) == (0, "")
    assert "level:3" in out
    with pytest.raises(BadStore) as caught:
        MatchStore(read_only_store)
    assert f"the folder {read_only_store.parent} is read-only" in str(caught.value)


def test_a_read_only_folder_cannot_hold_a_new_store(read_only_store: Path) -> None:
    path = read_only_store.parent / "deep" / "new.db"
    with pytest.raises(BadStore, match="Permission denied"):
        MatchStore(path)
    with pytest.raises(BadStore, match="is read-only"):
        MatchStore(path.parents[1] / "new.db")
