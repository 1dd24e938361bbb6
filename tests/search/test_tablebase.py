"""Tables against the textbook, and files that are not what they should be."""

import functools
import hashlib
import json
import os
import re
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import zermelo as z
from zermelo.cli import cli
from zermelo.core.bitboard import Word, popcount
from zermelo.core.game import WordGame
from zermelo.search import textbook
from zermelo.search.count import count
from zermelo.search.tablebase import files as table_files
from zermelo.search.tablebase import tablebase
from zermelo.search.tablebase.files import BadTable
from zermelo.search.tablebase.tablebase import Table, path_of, rules_digest

SPECS = (
    "tictactoe",
    "mnk:4x3x3",
    "line:rows=3,cols=3,win=3,lose=2,pie=true",
    "line:rows=3,cols=3,win=3,lose=1",
    "line:rows=3,cols=4,win=3,gravity=true",
    "line:rows=4,cols=3,win=3,overline=exact,gravity=true",
)


def word_game(spec: str) -> WordGame:
    game = z.game(spec)
    assert isinstance(game, WordGame)
    return game


def reachable(game: WordGame) -> list[Any]:
    seen, todo = set(), [game.initial()]
    while todo:
        state = todo.pop()
        if state not in seen:
            seen.add(state)
            todo += [game.play(state, a) for a in game.actions(state)]
    return sorted(seen)


def same(a: Table, b: Table) -> bool:
    return np.array_equal(a._keys, b._keys) and np.array_equal(a._codes, b._codes)


@pytest.mark.parametrize("spec", SPECS)
def test_every_state_equals_the_textbook(spec: str) -> None:
    game = word_game(spec)
    table, book = Table.build(game), textbook.TextbookSearch(game, method="memo", distance=True)
    states = reachable(game)
    for state in states:
        value = book.solve(state)
        sign = (value > 0) - (value < 0)
        assert table.score(state) == value - sign * (textbook.WIN_SCORE - game.far), state
    assert len(table) == count(game, symmetric=True).states
    assert len(table) < len(states)


def test_reversi_scores_are_points() -> None:
    game = word_game("reversi:4")
    table = Table.build(game)

    @functools.cache
    def points(state: Any) -> int:
        children = [-points(game.play(state, action)) for action in game.actions(state)]
        return max(children, default=popcount(state[0]) - popcount(state[1]))

    assert table.score(game.initial()) == points(game.initial()) == -8
    states = reachable(game)[::5]
    assert [table.score(state) for state in states] == [points(state) for state in states]


def test_states_that_play_never_reaches_have_no_score() -> None:
    table = Table.build(word_game("tictactoe"))
    assert table.score((0b111, 0b111000, 0)) is None
    assert table.score((0, 0, 1)) is None
    assert table.score((0, 1 << 60, 1)) is None


def test_plain_python_builds_the_same_table(monkeypatch: pytest.MonkeyPatch) -> None:
    game = word_game("tictactoe")
    table = Table.build(game)
    monkeypatch.setenv("ZERMELO_JIT", "0")
    assert same(Table.build(game), table)


def test_progress_ends_with_all_states() -> None:
    told: list[tuple[int, int]] = []
    table = Table.build(word_game("mnk:4x3x3"), lambda *seen: told.append(seen))
    assert told == sorted(told)
    assert told[-1] == (len(table), len(table))


def test_too_many_states_are_refused() -> None:
    with pytest.raises(z.TooLarge, match="mnk:4x4x4 has more than 1,000 states"):
        Table.build(word_game("mnk:4x4x4"), max_states=1000)


class Heap(WordGame):
    """A state is (tokens left, the player to move); action a takes 3 - a; who cannot, loses.

    The queue from 9 tokens is 9, 6, 7, 8, 3, …: the child 7 stands before its parent 8.
    """

    num_words, num_boards = 2, 0
    most: int
    tokens: Word
    one: Word
    back: int  # 1: the last action puts a token back instead, for ever
    worth: int

    def __init__(self, tokens: int, *, back: int = 0, worth: int = 0) -> None:
        self.spec = f"heap:{tokens},{back},{worth}"
        self.tokens, self.num_actions, self.most, self.one = tokens, 3, 3, 1
        self.back, self.worth, self.specialised = back, worth, False
        self.ply_cost, self.far = int(worth == 0), 100_000

    def initial(self) -> tuple[Word, Word]:
        return (self.tokens, 0)

    def legal(self, state: Any) -> Any:
        tokens, _player = state
        every = (self.one << self.most) - self.one
        return (every << (self.most - min(tokens, self.most))) & every

    def play(self, state: Any, action: Any) -> Any:
        tokens, player = state
        if self.back > 0 and action == 2 and tokens < self.tokens:
            return tokens + self.one, player ^ self.one
        return tokens - self.one * (self.most - action), player ^ self.one

    def result(self, state: Any) -> Any:
        tokens, _player = state
        return tokens == 0, 0 - 1 * (tokens == 0)

    def quick(self, state: Any) -> Any:
        over, value = self.result(state)
        return over, value * self.worth, self.legal(state)


def test_a_game_without_symmetries_whose_queue_is_no_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ZERMELO_JIT", "0")
    game = Heap(50)
    table, book = Table.build(game), textbook.TextbookSearch(game, method="memo", distance=True)
    for state in reachable(game):
        value = book.solve(state)
        sign = (value > 0) - (value < 0)
        assert table.score(state) == value - sign * (textbook.WIN_SCORE - game.far), state


def test_games_without_end_and_scores_without_room_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ZERMELO_JIT", "0")
    monkeypatch.setattr(tablebase, "_MAX_CODE", 50)
    with pytest.raises(z.TooLarge, match="games without end"):
        Table.build(Heap(9, back=1))
    with pytest.raises(z.TooLarge, match="more than 50 points"):
        Table.build(Heap(9, worth=60))
    assert Table.build(Heap(9, worth=40)).score((0, 0)) == -40
    with pytest.raises(z.TooLarge, match="more than 50 plies to the end"):
        Table.build(Heap(150))


# Files.


@pytest.fixture
def small(tmp_path: Path) -> tuple[WordGame, Table, Path]:
    game = word_game("tictactoe")
    table, path = Table.build(game), tmp_path / "small.table"
    table.write(path)
    return game, table, path


@pytest.mark.parametrize("spec", ["tictactoe", "reversi:4"])
def test_round_trip(spec: str, tmp_path: Path) -> None:
    game, path = word_game(spec), tmp_path / "new folder" / "a.table"
    table = Table.build(game)
    table.write(path)
    again = Table.read(path, game)
    assert same(table, again)
    assert again.score(game.initial()) == table.score(game.initial())
    before = path.read_bytes()
    again.write(path)
    assert path.read_bytes() == before
    assert len(before) < len(table) * 4
    assert list(path.parent.iterdir()) == [path]


def test_scores_do_not_depend_on_far(small: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    game, _, path = small
    digest = rules_digest(game)
    other = word_game("tictactoe")
    monkeypatch.setattr(other, "far", 500)
    rules_digest.cache_clear()
    assert rules_digest(other) == digest
    assert Table.read(path, other).score((0b11, 0b11000, 0)) == 499


def test_every_flipped_byte_is_noticed(small: Any) -> None:
    game, _, path = small
    data = path.read_bytes()
    for at in range(len(data)):
        for bit in (0x01, 0x20) if at < 500 else (0x10,):
            path.write_bytes(data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :])
            with pytest.raises(BadTable, match="is no table of tictactoe"):
                Table.read(path, game)


def test_every_truncation_is_noticed(small: Any) -> None:
    game, _, path = small
    data = path.read_bytes()
    for size in [*range(0, len(data), 13), len(data) - 1]:
        path.write_bytes(data[:size])
        with pytest.raises(BadTable, match="is no table of tictactoe"):
            Table.read(path, game)
    path.write_bytes(data + b"\0")
    with pytest.raises(BadTable, match="bytes, not"):
        Table.read(path, game)


def forged(path: Path, raw: bytes | None = None, **changes: Any) -> None:
    """Rewrite a table with other contents or header fields, all digests right."""
    data = path.read_bytes()
    begin = table_files._PREFIX.size + table_files._PREFIX.unpack_from(data)[2]
    head = json.loads(data[table_files._PREFIX.size : begin])
    payload = data[begin:] if raw is None else zlib.compress(raw)
    head |= {"bytes": len(payload), "sha256": hashlib.sha256(payload).hexdigest(), **changes}
    text = json.dumps({k: v for k, v in head.items() if v is not None}).encode()
    prefix = table_files._PREFIX.pack(table_files._MAGIC, table_files._VERSION, len(text))
    path.write_bytes(prefix + text + payload)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"spec": "mnk:3x3x3"}, "it is of 'mnk:3x3x3'"),
        ({"rules": "0" * 64}, "made with other rules"),
        ({"states": 764}, "do not make 764 states"),
        ({"states": 766}, "do not make 766 states"),
        ({"states": 0}, "0 states of 3 words"),
        ({"states": 10**12}, "1000000000000 states"),
        ({"states": True}, "header is damaged"),
        ({"states": 765.0}, "header is damaged"),
        ({"states": None}, "header is damaged"),
        ({"more": 1}, "header is damaged"),
        ({"words": 2}, "765 states of 2 words"),
        ({"bytes": 10**12}, "bytes, not"),
        ({"bytes": -1}, "bytes, not"),
        ({"sha256": "0" * 64}, "contents are damaged"),
    ],
)
def test_headers_that_lie(small: Any, changes: dict[str, Any], reason: str) -> None:
    game, _, path = small
    forged(path, **changes)
    with pytest.raises(BadTable, match=reason):
        Table.read(path, game)


def test_contents_that_lie(small: Any) -> None:
    game, table, path = small
    rows = [table_files._to_planes(column, "<u8") for column in table._keys]
    codes = table_files._to_planes(table._codes, "<i2")
    forged(path, b"".join([*rows, codes]))
    assert same(Table.read(path, game), table)
    turned = [table_files._to_planes(column[::-1], "<u8") for column in table._keys]
    forged(path, b"".join([*turned, codes]))
    with pytest.raises(BadTable, match="out of order"):
        Table.read(path, game)
    forged(path, b"".join([*rows, codes]) + bytes(10**7))  # a bomb is not inflated
    with pytest.raises(BadTable, match="do not make 765 states"):
        Table.read(path, game)
    without_start = [table_files._to_planes(column[1:], "<u8") for column in table._keys]
    forged(
        path,
        b"".join([*without_start, table_files._to_planes(table._codes[1:], "<i2")]),
        states=764,
    )
    with pytest.raises(BadTable, match="the start of the game is missing"):
        Table.read(path, game)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "does not begin as one"),
        (b"PK\3\4 something else altogether", "does not begin as one"),
        (table_files._PREFIX.pack(table_files._MAGIC, 2, 0), "version is 2, not 1"),
        (table_files._PREFIX.pack(table_files._MAGIC, 1, 0), "header is damaged"),
        (table_files._PREFIX.pack(table_files._MAGIC, 1, 1 << 31), "more than 16,384"),
        (table_files._PREFIX.pack(table_files._MAGIC, 1, 9000) + b"[" * 9000, "header is damaged"),
        (table_files._PREFIX.pack(table_files._MAGIC, 1, 4) + b"\xff\xfe\0\0", "header is damaged"),
        (table_files._PREFIX.pack(table_files._MAGIC, 1, 2) + b"[]", "header is damaged"),
    ],
)
def test_other_files(data: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "other.table"
    path.write_bytes(data)
    with pytest.raises(BadTable, match=reason):
        Table.read(path, word_game("tictactoe"))


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(BadTable, match="it is no file"):
        Table.read(tmp_path, word_game("tictactoe"))
    with pytest.raises(BadTable, match="cannot be read: No such file"):
        Table.read(tmp_path / "missing", word_game("tictactoe"))


def test_a_table_of_another_game(small: Any) -> None:
    with pytest.raises(BadTable, match=r"no table of mnk:3x4x3: it is of 'tictactoe'"):
        Table.read(small[2], word_game("mnk:3x4x3"))


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_interrupted_write_leaves_the_old_file(
    small: Any, error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    game, table, path = small
    before = path.read_bytes()

    def interrupt(_handle: int) -> None:
        raise error

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(error):
        Table(game, table._keys[:, :9], table._codes[:9]).write(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


# The folder of tables, and what tells rules apart.


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_files.home, "cache_folder", lambda: tmp_path)


def test_open(own_folder: None) -> None:
    game, told = word_game("tictactoe"), []
    assert Table.open(game, told.append) is None
    table, path = Table.build(game), path_of(game)
    table.write(path)
    opened = Table.open(game, told.append)
    assert opened is not None
    assert same(opened, table)
    assert told == []
    path.write_bytes(path.read_bytes()[:-5])
    opened = Table.open(game, told.append)
    assert opened is not None
    assert same(opened, table)
    assert len(told) == 1
    assert told[0].startswith(f"{path} is no table of tictactoe: it has ")
    assert told[0].endswith(": building it anew")
    assert same(Table.read(path, game), table)


def test_open_digests_no_rules_where_no_file_has_the_name(
    own_folder: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr(tablebase, "rules_digest", lambda game: asked.append(game.spec) or "0")
    game = word_game("mnk:4x3x3")
    assert Table.open(game, print) is None
    folder = tmp_path / "tables"
    folder.mkdir()
    assert Table.open(game, print) is None
    for name in ("mnk-4x3x30-0.table", "mnk-4x3x.table", "a-mnk-4x3x3-0.table"):
        (folder / name).touch()
    assert Table.open(game, print) is None
    assert asked == []
    (folder / "mnk-4x3x3-0123456789ab.table").touch()  # of other rules
    assert Table.open(game, print) is None
    assert asked == ["mnk:4x3x3"]


def test_open_where_nothing_can_be_written(own_folder: None) -> None:
    game, told = word_game("tictactoe"), []
    path_of(game).mkdir(parents=True)
    opened = Table.open(game, told.append)
    assert opened is not None
    assert opened.score(game.initial()) == 0
    assert [text.split(": ")[-1] for text in told] == ["building it anew", "Is a directory"]


def test_names_are_safe_and_tell_games_apart(own_folder: None) -> None:
    specs = [*SPECS, "mnk:3x3x3", "mnk:3x4x3", "reversi:4", "connect4:4x4"]
    names = [path_of(word_game(spec)).name for spec in specs]
    assert len(set(names)) == len(specs)
    assert names[0].startswith("tictactoe-")
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.") for name in names)
    game = Heap(3)
    game.spec = "../../Träume/ /x.py"
    assert path_of(game).parent == path_of(word_game("tictactoe")).parent


def test_rules_and_parameters_change_the_digest() -> None:
    specs = ("tictactoe", "mnk:4x3x3", "mnk:3x4x3", "mnk:4x4x4", "reversi:4", "reversi:6")
    digests = {rules_digest(word_game(spec)) for spec in specs}
    digests |= {
        rules_digest(Heap(9)),
        rules_digest(Heap(9, back=1)),
        rules_digest(Heap(9, worth=1)),
    }
    assert len(digests) == len(specs) + 3

    class Misere(Heap):
        def result(self, state: Any) -> Any:
            tokens, _player = state
            return tokens == 0, 1 * (tokens == 0)

    assert rules_digest(Misere(9)) not in digests


def test_the_digest_is_the_same_in_another_process() -> None:
    specs = ("tictactoe", "mnk:4x3x3", "reversi:4")
    code = (
        "import sys, zermelo as z; from zermelo.search.tablebase.tablebase import rules_digest\n"
        "print(*[rules_digest(z.game(spec)) for spec in sys.argv[1:]])"
    )
    out = subprocess.run(
        [sys.executable, "-c", code, *specs],
        env={**os.environ, "PYTHONHASHSEED": "77"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert out.stdout.split() == [rules_digest(word_game(spec)) for spec in specs]


# The command.


def zermelo(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Exit code, output and notes of `zermelo table`, uncompiled, with a cache of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "zermelo", "table", *arguments],
        env={**os.environ, "ZERMELO_CACHE": str(folder), "ZERMELO_JIT": "0"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.returncode, done.stdout, done.stderr


def answer(folder: Path, *arguments: str) -> dict[str, Any]:
    code, out, notes = zermelo(folder, *arguments, "--json")
    assert (code, notes) == (0, "")
    return dict(json.loads(out))


def test_the_command_builds_a_table_once(tmp_path: Path) -> None:
    first, again = answer(tmp_path, "tictactoe"), answer(tmp_path, "tictactoe")
    path = Path(first["path"])
    assert path.parent == tmp_path / "tables"
    assert min(first.pop("seconds"), again.pop("seconds")) >= 0
    expected = {
        "game": "tictactoe",
        "states": 765,
        "bytes": path.stat().st_size,
        "path": str(path),
    }
    assert first == {**expected, "built": True}
    assert again == {**expected, "built": False}
    table = Table.read(path, word_game("tictactoe"))
    assert same(table, Table.build(word_game("tictactoe")))


def test_what_the_command_says(tmp_path: Path) -> None:
    code, out, notes = zermelo(tmp_path, "tictactoe")
    assert (code, notes) == (0, "")
    assert re.fullmatch(r"tictactoe: 765 states, 1\.\d kB, built in \d+\.\d\d s\n", out)
    code, out, notes = zermelo(tmp_path, "tictactoe")
    assert (code, notes) == (0, "")
    assert re.fullmatch(r"tictactoe: 765 states, 1\.\d kB, there and right\n", out)


def test_the_command_builds_a_damaged_table_anew(tmp_path: Path) -> None:
    path = Path(answer(tmp_path, "tictactoe")["path"])
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + b"?")
    code, out, notes = zermelo(tmp_path, "tictactoe", "--json")
    assert code == 0
    assert json.loads(out)["built"]
    assert notes == (
        f"zermelo: {path} is no table of tictactoe: its contents are damaged: building it anew\n"
    )
    assert path.read_bytes() == whole


def test_the_command_removes_a_table(tmp_path: Path) -> None:
    path = Path(answer(tmp_path, "tictactoe")["path"])
    gone = answer(tmp_path, "tictactoe", "--remove")
    assert gone == {"game": "tictactoe", "path": str(path), "removed": True}
    assert list(path.parent.iterdir()) == []
    assert not answer(tmp_path, "tictactoe", "--remove")["removed"]
    assert zermelo(tmp_path, "tictactoe", "--remove") == (0, "tictactoe: there is no table\n", "")


ENDLESS = '''
from zermelo import WordGame

class Endless(WordGame):
    """Action 0 goes nowhere, action 1 ends the game."""

    num_words, num_boards, num_actions = 2, 0, 2

    def initial(self):
        return (0, 0)

    def legal(self, state):
        return 3

    def play(self, state, action):
        over, player = state
        return over | action, player ^ 1

    def result(self, state):
        return state[0] == 1, 0
'''


def test_games_that_have_no_table_are_one_clear_line(tmp_path: Path) -> None:
    endless = tmp_path / "endless.py"
    endless.write_text(ENDLESS)
    for spec, reason in (
        ("gomoku", "gomoku: tables are for word games, with boards of at most 64 cells"),
        (str(endless), f"{endless} has games without end, or of more than 32,767 plies"),
        ("chess", "unknown game 'chess'"),
    ):
        code, out, notes = zermelo(tmp_path, spec)
        assert (code, out, notes.count("\n")) == (2, "", 1)
        assert notes.startswith(f"zermelo: {reason}")
    assert not (tmp_path / "tables").exists()


def test_the_command_refuses_too_many_states(
    own_folder: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = functools.partial(Table.build, max_states=100)
    monkeypatch.setattr(Table, "build", build)
    done = CliRunner().invoke(cli, ["table", "tictactoe"])
    assert isinstance(done.exception, z.TooLarge)
    assert str(done.exception) == "tictactoe has more than 100 states: too many for a table"
    assert done.output == ""


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "tables").touch()
    code, out, notes = zermelo(tmp_path, "tictactoe")
    assert (code, out, notes.count("\n")) == (2, "", 1)
    assert notes.startswith("zermelo: cannot write: ")
