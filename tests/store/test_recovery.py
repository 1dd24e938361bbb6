"""`zermelo history recover`: what can be read of a damaged store is copied to a new one."""

import json
import random
import shutil
from pathlib import Path

import pytest

from support.commands import command
from support.paths import ROOT
from support.stores import create_version_1
from zermelo.store.connection import BadStore
from zermelo.store.history import History
from zermelo.store.matches import MatchRow, MatchStore
from zermelo.store.recovery import recover
from zermelo.store.runs import FINISHED, GameRow, Rating, RunStore

COUNTS = {"matches": 60, "players": 2, "runs": 3, "games": 300, "ratings": 6, "analyses": 2}
LONG = {"value": "draw", "text": "x" * 9000}  # longer than a page


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "store.db"
    with MatchStore(path) as matches:
        for number in range(60):
            matches.add(MatchRow(f"m{number}", "tictactoe", "human", "level:3", "b2 a1", 2))
    with RunStore(path) as runs:
        runs.add_players({"a": "random", "b": "greedy"})
        for seed in range(3):
            run = runs.add_run("arena", "tictactoe", {"players": ["a", "b"], "seed": seed})
            runs.add_games(run, [GameRow(n, "a", "b", 0, "a1 b2", "first") for n in range(100)])
            runs.set_ratings(run, {"a": Rating(1, 0, 2, 3), "b": Rating(-1, -2, 0, 3)})
            runs.update_run(run, FINISHED, {"games": 100})
        runs.add_analysis("tictactoe", ["b2"], "", {"value": "draw"})
        runs.add_analysis("tictactoe", None, "greedy", LONG)
    return path


@pytest.fixture
def damaged(store: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(store, tmp_path / "damaged.db"))


def overwrite(path: Path, begin: int, size: int) -> None:
    data = bytearray(path.read_bytes())
    data[begin : begin + size] = b"\xa5" * size
    path.write_bytes(data)


def read_all(path: Path) -> tuple[object, ...]:
    with History(path) as history, MatchStore(path) as matches:
        runs = history.runs(None, None, 99)
        analyses = history._read("SELECT * FROM analyses")
        return runs, [history.game_rows(r.id) for r in runs], matches.latest(99), analyses


@pytest.mark.parametrize(
    ("begin", "size"),
    [
        (0, 0),  # an intact file
        (0, 16),  # the name of the format
        (0, 100),  # the header of the file
        (100, 3996),  # the list of tables
        (16, 2),  # the size of a page
    ],
)
def test_without_its_header_or_list_of_tables_everything_is_recovered(
    begin: int, size: int, store: Path, damaged: Path, tmp_path: Path
) -> None:
    overwrite(damaged, begin, size)
    assert recover(damaged, tmp_path / "new.db") == COUNTS
    assert read_all(tmp_path / "new.db") == read_all(store)


def test_only_the_rows_of_a_damaged_page_are_lost(damaged: Path, tmp_path: Path) -> None:
    num_pages = damaged.stat().st_size // 4096
    for page in range(1, num_pages):
        shutil.copy(damaged, tmp_path / "one.db")
        overwrite(tmp_path / "one.db", page * 4096, 4096)
        counts = recover(tmp_path / "one.db", tmp_path / f"new{page}.db")
        lost = {name: COUNTS[name] - number for name, number in counts.items()}
        assert min(lost.values()) >= 0
        assert sum(number > 0 for number in lost.values()) <= 1, "of one table only"
        assert sum(lost.values()) < 110, "a page holds no more rows"


@pytest.mark.parametrize("name", ["cut", "flipped"])
def test_recovered_rows_are_rows_of_the_store(
    name: str, store: Path, damaged: Path, tmp_path: Path
) -> None:
    data, rng = store.read_bytes(), random.Random(1)
    with MatchStore(store) as matches:
        expected = {row.id: row for row in matches.latest(99)}
    num_recovered = 0
    for number in range(1, 20):
        if name == "cut":
            damaged.write_bytes(data[: len(data) * number // 20])
        else:
            flipped = bytearray(data)
            for _ in range(20):
                flipped[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            damaged.write_bytes(flipped)
        out = tmp_path / f"new{number}.db"
        try:
            num_recovered += sum(recover(damaged, out).values())
        except BadStore:
            assert not out.exists()
            continue
        with MatchStore(out) as matches:
            rows = {row.id: row for row in matches.latest(99)}
        with History(out) as history:
            assert history.runs(None, None, 99) is not None
        if name == "cut":
            assert rows.items() <= expected.items()
    assert num_recovered > 19 * sum(COUNTS.values()) / (4 if name == "cut" else 1.3)


def test_the_write_ahead_log_is_read(tmp_path: Path) -> None:
    path, copy = tmp_path / "store.db", tmp_path / "copy.db"
    with MatchStore(path) as matches:
        matches.add(MatchRow("m", "tictactoe", "human", "level:3", "b2 a1", 2))
        shutil.copy(path, copy)  # while the match is in the log only
        shutil.copy(tmp_path / "store.db-wal", tmp_path / "copy.db-wal")
    for size in (0, 100):
        overwrite(copy, 0, size)
        assert recover(copy, tmp_path / f"new{size}.db")["matches"] == 1


def test_files_of_earlier_versions(tmp_path: Path) -> None:
    old = create_version_1(tmp_path / "old.db")
    assert recover(old, tmp_path / "new.db")["matches"] == 1
    shutil.copy(ROOT / "tests" / "store" / "version_2.db", tmp_path / "two.db")
    overwrite(tmp_path / "two.db", 0, 100)
    counts = recover(tmp_path / "two.db", tmp_path / "new2.db")
    assert (counts["matches"], counts["runs"], counts["games"]) == (2, 2, 2)


def test_command(damaged: Path, tmp_path: Path) -> None:
    overwrite(damaged, 0, 100)
    code, _, err = command("history", "--db", str(damaged))
    assert code == 2
    assert f"`zermelo history recover {damaged} --out NEW`" in err
    new = tmp_path / "new.db"
    code, out, err = command("history", "recover", str(damaged), "--out", str(new))
    assert (code, err) == (0, "")
    assert out == (
        "recovered 60 matches, 2 players, 3 runs, 300 games, 6 ratings, 2 analyses "
        f"from {damaged} to {new}\n"
    )
    assert command("history", "--db", str(new))[0] == 0
    code, _, err = command("history", "recover", str(damaged), "--out", str(new))
    assert (code, "exists: choose another file" in err) == (2, True)
    options = ("--db", str(damaged), "--out", str(tmp_path / "new2.db"), "--json")
    assert json.loads(command("history", "recover", *options)[1])["recovered"] == COUNTS
    for arguments, message in (
        (("recover", str(damaged)), "history recover FILE --out NEW"),
        (("recover", str(tmp_path / "none"), "--out", str(tmp_path / "n")), "No such file"),
        (("recover", str(tmp_path), "--out", str(tmp_path / "n")), "Is a directory"),
        (("recover", __file__, "--out", str(tmp_path / "n")), "no row of"),
    ):
        code, _, err = command("history", *arguments)
        assert (code, err.count("\n")) == (2, 1)
        assert message in err
    assert not (tmp_path / "n").exists()
