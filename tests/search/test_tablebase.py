"""Tablebases against the textbook, and files that are damaged, foreign or forged."""

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
from support.paths import ROOT
from support.positions import reachable_states
from zermelo.cli import cli
from zermelo.core.bitboard import Word, popcount
from zermelo.core.game import SolverHooks, WordGame
from zermelo.search import textbook
from zermelo.search.count import count
from zermelo.search.tablebase import build, files
from zermelo.search.tablebase.files import BadTablebase, GameIdentity, tablebase_path
from zermelo.search.tablebase.tablebase import Tablebase

EXAMPLE = ROOT / "examples" / "domineering.py"
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


def are_equal(a: Tablebase, b: Tablebase) -> bool:
    return np.array_equal(a._keys, b._keys) and np.array_equal(a._codes, b._codes)


@pytest.mark.parametrize("spec", SPECS)
def test_every_state_equals_the_textbook(spec: str) -> None:
    game = word_game(spec)
    tablebase, book = (
        Tablebase.build(game),
        textbook.TextbookSearch(game, method="memo", distance=True),
    )
    states = reachable_states(game)
    for state in states:
        value = book.solve(state)
        sign = (value > 0) - (value < 0)
        assert tablebase.score(state) == value - sign * (
            textbook.WIN_SCORE - game.hooks.win_score
        ), state
    assert len(tablebase) == count(game, symmetric=True).states
    assert len(tablebase) < len(states)


def test_reversi_scores_are_points() -> None:
    game = word_game("reversi:4")
    tablebase = Tablebase.build(game)

    @functools.cache
    def points(state: Any) -> int:
        children = [-points(game.play(state, action)) for action in game.actions(state)]
        return max(children, default=popcount(state[0]) - popcount(state[1]))

    assert tablebase.score(game.initial()) == points(game.initial()) == -8
    states = reachable_states(game)[::5]
    assert [tablebase.score(state) for state in states] == [points(state) for state in states]


def test_states_that_play_never_reaches_have_no_score() -> None:
    tablebase = Tablebase.build(word_game("tictactoe"))
    assert tablebase.score((0b111, 0b111000, 0)) is None
    assert tablebase.score((0, 0, 1)) is None
    assert tablebase.score((0, 1 << 60, 1)) is None


def test_plain_python_builds_the_same_table(monkeypatch: pytest.MonkeyPatch) -> None:
    game = word_game("tictactoe")
    tablebase = Tablebase.build(game)
    monkeypatch.setenv("ZERMELO_JIT", "0")
    assert are_equal(Tablebase.build(game), tablebase)


def test_progress_ends_with_all_states() -> None:
    reports: list[tuple[int, int]] = []
    tablebase = Tablebase.build(word_game("mnk:4x3x3"), lambda *report: reports.append(report))
    assert reports == sorted(reports)
    assert reports[-1] == (len(tablebase), len(tablebase))


def test_too_many_states_are_refused() -> None:
    with pytest.raises(z.TooLarge, match="mnk:4x4x4 has more than 1,000 states"):
        Tablebase.build(word_game("mnk:4x4x4"), max_states=1000)


class HeapHooks(SolverHooks):
    """A lost heap costs its owner `points`, where that is not 0."""

    def __init__(self, game: WordGame) -> None:
        super().__init__(game)
        self.ply_cost, self.win_score = int(self.points == 0), 100_000

    def resolve(self, state: Any) -> Any:
        over, value = self.result(state)
        return over, value * self.points, self.legal(state)


class Heap(WordGame):
    """A state is (tokens left, player to move); action a takes 3 - a; who cannot move loses.

    The breadth-first queue from 9 tokens is 9, 6, 7, 8, 3, …: child 7 stands before parent 8.
    """

    hooks_class = HeapHooks
    num_words, num_boards = 2, 0
    most: int
    tokens: Word
    one: Word
    back: int  # 1: the last action puts a token back, so that games may be endless
    points: int

    def __init__(self, tokens: int, *, back: int = 0, points: int = 0) -> None:
        self.spec = f"heap:{tokens},{back},{points}"
        self.tokens, self.num_actions, self.most, self.one = tokens, 3, 3, 1
        self.back, self.points, self.is_specialised = back, points, False

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


def test_a_game_whose_queue_has_children_before_parents(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ZERMELO_JIT", "0")
    game = Heap(50)
    tablebase, book = (
        Tablebase.build(game),
        textbook.TextbookSearch(game, method="memo", distance=True),
    )
    for state in reachable_states(game):
        value = book.solve(state)
        sign = (value > 0) - (value < 0)
        assert tablebase.score(state) == value - sign * (
            textbook.WIN_SCORE - game.hooks.win_score
        ), state


def test_endless_games_and_large_scores_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ZERMELO_JIT", "0")
    monkeypatch.setattr(build, "MAX_CODE", 50)
    with pytest.raises(z.TooLarge, match="endless games"):
        Tablebase.build(Heap(9, back=1))
    with pytest.raises(z.TooLarge, match="more than 50 points"):
        Tablebase.build(Heap(9, points=60))
    assert Tablebase.build(Heap(9, points=40)).score((0, 0)) == -40
    with pytest.raises(z.TooLarge, match="more than 50 plies to the end"):
        Tablebase.build(Heap(150))


# Files.


@pytest.fixture
def small(tmp_path: Path) -> tuple[WordGame, Tablebase, Path]:
    game = word_game("tictactoe")
    tablebase, path = Tablebase.build(game), tmp_path / "small.table"
    tablebase.write(path)
    return game, tablebase, path


@pytest.mark.parametrize("spec", ["tictactoe", "reversi:4"])
def test_round_trip(spec: str, tmp_path: Path) -> None:
    game, path = word_game(spec), tmp_path / "new folder" / "a.table"
    tablebase = Tablebase.build(game)
    tablebase.write(path)
    restored = Tablebase.read(path, game)
    assert are_equal(tablebase, restored)
    assert restored.score(game.initial()) == tablebase.score(game.initial())
    before = path.read_bytes()
    restored.write(path)
    assert path.read_bytes() == before
    assert len(before) < len(tablebase) * 4
    assert list(path.parent.iterdir()) == [path]


def test_scores_do_not_depend_on_far(small: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, path = small
    other = word_game("tictactoe")
    monkeypatch.setattr(other.hooks, "win_score", 500)
    assert Tablebase.read(path, other).score((0b11, 0b11000, 0)) == 499


def test_every_flipped_byte_is_noticed(small: Any) -> None:
    game, _, path = small
    data = path.read_bytes()
    for at in range(len(data)):
        for bit in (0x01, 0x20) if at < 500 else (0x10,):
            path.write_bytes(data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :])
            with pytest.raises(BadTablebase, match="is not a tablebase of tictactoe"):
                Tablebase.read(path, game)


def test_every_truncation_is_noticed(small: Any) -> None:
    game, _, path = small
    data = path.read_bytes()
    for size in [*range(0, len(data), 13), len(data) - 1]:
        path.write_bytes(data[:size])
        with pytest.raises(BadTablebase, match="is not a tablebase of tictactoe"):
            Tablebase.read(path, game)
    path.write_bytes(data + b"\0")
    with pytest.raises(BadTablebase, match="bytes, not"):
        Tablebase.read(path, game)


def forge(path: Path, raw: bytes | None = None, **changes: Any) -> None:
    """Rewrite a file with other contents or header fields and with matching checksums."""
    data = path.read_bytes()
    begin = files._PREFIX.size + files._PREFIX.unpack_from(data)[2]
    head = json.loads(data[files._PREFIX.size : begin])
    payload = data[begin:] if raw is None else zlib.compress(raw)
    head |= {"bytes": len(payload), "sha256": hashlib.sha256(payload).hexdigest(), **changes}
    text = json.dumps({k: v for k, v in head.items() if v is not None}).encode()
    prefix = files._PREFIX.pack(files._MAGIC, files._VERSION, len(text))
    path.write_bytes(prefix + text + payload)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"spec": "mnk:3x3x3"}, "it belongs to 'mnk:3x3x3'"),
        ({"rules": "0" * 64}, "built with other rules"),
        ({"source": "0" * 16}, "built with other rules"),
        ({"states": 764}, "are not 764 states"),
        ({"states": 766}, "are not 766 states"),
        ({"states": 0}, "claims 0 states of 3 words"),
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
def test_forged_headers(small: Any, changes: dict[str, Any], reason: str) -> None:
    game, _, path = small
    forge(path, **changes)
    with pytest.raises(BadTablebase, match=reason):
        Tablebase.read(path, game)


def test_forged_contents(small: Any) -> None:
    game, tablebase, path = small
    rows = [files._to_planes(column, "<u8") for column in tablebase._keys]
    codes = files._to_planes(tablebase._codes, "<i2")
    forge(path, b"".join([*rows, codes]))
    assert are_equal(Tablebase.read(path, game), tablebase)
    reversed_rows = [files._to_planes(column[::-1], "<u8") for column in tablebase._keys]
    forge(path, b"".join([*reversed_rows, codes]))
    with pytest.raises(BadTablebase, match="out of order"):
        Tablebase.read(path, game)
    forge(path, b"".join([*rows, codes]) + bytes(10**7))  # a zip bomb is not inflated
    with pytest.raises(BadTablebase, match="are not 765 states"):
        Tablebase.read(path, game)
    without_start = [files._to_planes(column[1:], "<u8") for column in tablebase._keys]
    forge(
        path,
        b"".join([*without_start, files._to_planes(tablebase._codes[1:], "<i2")]),
        states=764,
    )
    with pytest.raises(BadTablebase, match="the initial state is missing"):
        Tablebase.read(path, game)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "its first bytes are wrong"),
        (b"PK\3\4 something else altogether", "its first bytes are wrong"),
        (files._PREFIX.pack(files._MAGIC, 1, 0), "version is 1, not 2"),
        (files._PREFIX.pack(files._MAGIC, 2, 0), "header is damaged"),
        (files._PREFIX.pack(files._MAGIC, 2, 1 << 31), "more than 16,384"),
        (files._PREFIX.pack(files._MAGIC, 2, 9000) + b"[" * 9000, "header is damaged"),
        (files._PREFIX.pack(files._MAGIC, 2, 4) + b"\xff\xfe\0\0", "header is damaged"),
        (files._PREFIX.pack(files._MAGIC, 2, 2) + b"[]", "header is damaged"),
    ],
)
def test_other_files(data: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "other.table"
    path.write_bytes(data)
    with pytest.raises(BadTablebase, match=reason):
        Tablebase.read(path, word_game("tictactoe"))


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(BadTablebase, match="it is not a file"):
        Tablebase.read(tmp_path, word_game("tictactoe"))
    with pytest.raises(BadTablebase, match="cannot be read: No such file"):
        Tablebase.read(tmp_path / "missing", word_game("tictactoe"))


def test_a_table_of_another_game(small: Any) -> None:
    with pytest.raises(BadTablebase, match="of mnk:3x4x3: it belongs to 'tictactoe'"):
        Tablebase.read(small[2], word_game("mnk:3x4x3"))


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_interrupted_write_leaves_the_old_file(
    small: Any, error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    game, tablebase, path = small
    before = path.read_bytes()

    def interrupt(_handle: int) -> None:
        raise error

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(error):
        Tablebase(game, tablebase._keys[:, :9], tablebase._codes[:9]).write(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


# The cache folder, and how rules are told apart.


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files.home, "cache_folder", lambda: tmp_path)


def test_open(own_folder: None) -> None:
    game, messages = word_game("tictactoe"), []
    assert Tablebase.open(game, messages.append) is None
    tablebase, path = Tablebase.build(game), tablebase_path(game)
    tablebase.write(path)
    opened = Tablebase.open(game, messages.append)
    assert opened is not None
    assert are_equal(opened, tablebase)
    assert messages == []
    path.write_bytes(path.read_bytes()[:-5])
    opened = Tablebase.open(game, messages.append)
    assert opened is not None
    assert are_equal(opened, tablebase)
    assert len(messages) == 1
    assert messages[0].startswith(f"{path} is not a tablebase of tictactoe: it has ")
    assert messages[0].endswith("; building it again")
    assert are_equal(Tablebase.read(path, game), tablebase)


def test_rules_are_fingerprinted_only_if_a_file_has_the_name(
    own_folder: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    specs: list[str] = []
    monkeypatch.setattr(files, "rules_fingerprint", lambda game: specs.append(game.spec) or "0")
    game = word_game("mnk:4x3x3")
    assert Tablebase.open(game, print) is None
    folder = tmp_path / "tables"
    folder.mkdir()
    assert Tablebase.open(game, print) is None
    for name in ("mnk-4x3x30-0.table", "mnk-4x3x.table", "a-mnk-4x3x3-0.table"):
        (folder / name).touch()
    assert Tablebase.open(game, print) is None
    assert specs == []
    (folder / "mnk-4x3x3-0123456789ab.table").touch()  # of other rules
    assert Tablebase.open(game, print) is None
    assert specs == ["mnk:4x3x3"]


def test_open_where_nothing_can_be_written(own_folder: None) -> None:
    game, messages = word_game("tictactoe"), []
    tablebase_path(game).mkdir(parents=True)
    opened = Tablebase.open(game, messages.append)
    assert opened is not None
    assert opened.score(game.initial()) == 0
    assert [re.split("[:;] ", text)[-1] for text in messages] == [
        "building it again",
        "Is a directory",
    ]


def test_names_are_safe_and_tell_games_apart(own_folder: None) -> None:
    specs = [*SPECS, "mnk:3x3x3", "mnk:3x4x3", "reversi:4", "connect4:4x4"]
    names = [tablebase_path(word_game(spec)).name for spec in specs]
    assert len(set(names)) == len(specs)
    assert names[0].startswith("tictactoe-")
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.") for name in names)
    game = Heap(3)
    game.spec = "../../Träume/ /x.py"
    assert tablebase_path(game).parent == tablebase_path(word_game("tictactoe")).parent


def digest_of(game: WordGame) -> str:
    return GameIdentity.of(game).digest


def test_rules_and_parameters_change_the_digest() -> None:
    specs = ("tictactoe", "mnk:4x3x3", "mnk:3x4x3", "mnk:4x4x4", "reversi:4", "reversi:6")
    games = [*map(word_game, specs), Heap(9), Heap(9, back=1), Heap(9, points=1)]
    digests = {digest_of(game) for game in games}
    assert len(digests) == len(games)

    class Misere(Heap):
        def result(self, state: Any) -> Any:
            tokens, _player = state
            return tokens == 0, 1 * (tokens == 0)

    assert digest_of(Misere(9)) not in digests


def test_a_tablebase_is_not_used_after_an_edit_of_the_game(
    own_folder: None, tmp_path: Path
) -> None:
    """Even if the rules still do the same: random games do not notice every edit."""
    path = tmp_path / "domineering.py"
    source = EXAMPLE.read_text().replace("SIZE = 6", "SIZE = 3")
    path.write_text(source)
    game = word_game(str(path))
    assert files.GameIdentity.of(game).source
    Tablebase.build(game).write(tablebase_path(game))
    assert Tablebase.open(game, print) is not None
    path.write_text(source + "# an edit\n")
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 10**9))
    edited = word_game(str(path))
    assert edited is not game
    assert Tablebase.open(edited, print) is None
    with pytest.raises(BadTablebase, match="built with other rules"):
        Tablebase.read(tablebase_path(game), edited)


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
    first, restored = answer(tmp_path, "tictactoe"), answer(tmp_path, "tictactoe")
    path = Path(first["path"])
    assert path.parent == tmp_path / "tables"
    assert min(first.pop("seconds"), restored.pop("seconds")) >= 0
    expected = {
        "game": "tictactoe",
        "states": 765,
        "bytes": path.stat().st_size,
        "path": str(path),
    }
    assert first == {**expected, "built": True}
    assert restored == {**expected, "built": False}
    tablebase = Tablebase.read(path, word_game("tictactoe"))
    assert are_equal(tablebase, Tablebase.build(word_game("tictactoe")))


def test_what_the_command_says(tmp_path: Path) -> None:
    code, out, notes = zermelo(tmp_path, "tictactoe")
    assert (code, notes) == (0, "")
    assert re.fullmatch(r"tictactoe: 765 states, 1\.\d kB, built in \d+\.\d\d s\n", out)
    code, out, notes = zermelo(tmp_path, "tictactoe")
    assert (code, notes) == (0, "")
    assert re.fullmatch(r"tictactoe: 765 states, 1\.\d kB, up to date\n", out)


def test_the_command_builds_a_damaged_table_anew(tmp_path: Path) -> None:
    path = Path(answer(tmp_path, "tictactoe")["path"])
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + b"?")
    code, out, notes = zermelo(tmp_path, "tictactoe", "--json")
    assert code == 0
    assert json.loads(out)["built"]
    assert notes == (
        f"zermelo: {path} is not a tablebase of tictactoe: its contents are damaged; "
        "building it again\n"
    )
    assert path.read_bytes() == whole


def test_the_command_removes_a_table(tmp_path: Path) -> None:
    path = Path(answer(tmp_path, "tictactoe")["path"])
    gone = answer(tmp_path, "tictactoe", "--remove")
    assert gone == {"game": "tictactoe", "path": str(path), "removed": True}
    assert list(path.parent.iterdir()) == []
    assert not answer(tmp_path, "tictactoe", "--remove")["removed"]
    assert zermelo(tmp_path, "tictactoe", "--remove") == (
        0,
        "tictactoe: there is no tablebase\n",
        "",
    )


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
        ("gomoku", "cannot solve gomoku ahead of time: its board has more than 64 cells"),
        (str(endless), f"{endless} has endless games, or games of more than 32,767 plies"),
        ("chess", "unknown game 'chess'"),
    ):
        code, out, notes = zermelo(tmp_path, spec)
        assert (code, out, notes.count("\n")) == (2, "", 1)
        assert notes.startswith(f"zermelo: {reason}")
    assert not (tmp_path / "tables").exists()


def test_the_command_refuses_too_many_states(
    own_folder: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = functools.partial(Tablebase.build, max_states=100)
    monkeypatch.setattr(Tablebase, "build", build)
    done = CliRunner().invoke(cli, ["table", "tictactoe"])
    assert isinstance(done.exception, z.TooLarge)
    assert str(done.exception) == "tictactoe has more than 100 states: too many for a tablebase"
    assert done.output == ""


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "tables").touch()
    code, out, notes = zermelo(tmp_path, "tictactoe")
    assert (code, out, notes.count("\n")) == (2, "", 1)
    assert notes.startswith("zermelo: cannot write: ")
