"""No control character from a player, a record or a database reaches the terminal."""

import sys
from pathlib import Path

import pytest

from support.commands import command, zermelo
from support.controls import ATTACK, assert_escaped
from zermelo.cli.common import options
from zermelo.core.phrases import escape_controls
from zermelo.store.runs import FINISHED, GameRow, RunStore
from zermelo.ui.session import Session

PLAYER = f"""
import zermelo as z
class Evil(z.Player):
    name = {ATTACK!r}
    def think(self, position, limit):
        move = position.legal[0]
        reasons = (z.Reason("kind", {ATTACK!r}),)
        candidate = z.Candidate(move, estimate=0.0, best=True, reasons=reasons)
        yield z.Analysis.from_candidates([candidate], source={ATTACK!r})
class Failing(Evil):
    def think(self, position, limit):
        raise ValueError({ATTACK!r})
        yield
"""


@pytest.fixture
def evil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("ZERMELO_HOME", str(tmp_path / "home"))
    path = tmp_path / "evil.py"
    path.write_text(PLAYER)
    return str(path)


def test_escapes() -> None:
    assert escape_controls("é · … a\u00a0b 日本 ♟") == "é · … a\u00a0b 日本 ♟"
    assert escape_controls("\x1b\r\n\x7f\x9b\u2028\u202e\u2066\ud800\0") == (
        r"\x1b\r\n\x7f\x9b\u2028\u202e\u2066\ud800\x00"
    )
    every = "".join(map(chr, [*range(0x3000), *range(0xD7F0, 0x1_0100), 0xE0001, 0x10FFFF]))
    escaped = escape_controls(every)
    assert all(char.isprintable() or char.isspace() for char in set(escaped))
    assert "\n" not in escaped
    escaped.encode()


def test_history_and_errors(tmp_path: Path) -> None:
    db = tmp_path / "a.db"
    with RunStore(db) as store:
        run = store.add_run("arena", "tictactoe", {"players": [ATTACK, "random"], "x": ATTACK})
        store.add_games(run, [GameRow(0, ATTACK, f"a\n{ATTACK}", 0, "a1", "first", ATTACK)])
        forfeits = [{"player": ATTACK, "reason": ATTACK, "games": 1}]
        store.update_run(run, FINISHED, {"elo": {}, "forfeits": forfeits})
    for arguments in (["list"], ["show", "1"], ["show", "1/0"]):
        code, out, _ = command("history", *arguments, "--db", str(db))
        assert code == 0
        assert_escaped(out)
    code, _, err = command("history", "show", ATTACK, "--db", str(db))
    assert code == 2
    assert_escaped(err)
    code, _, err = command("convert", ATTACK)
    assert code == 2
    assert_escaped(err)


def test_records_are_escaped_only_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    options.print_record(ATTACK)
    assert capsys.readouterr().out == f"{ATTACK}\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    options.print_record(f"{ATTACK}\ttab")
    out = capsys.readouterr().out
    assert_escaped(out)
    assert out.endswith("\ttab\n")


def test_players(evil: str) -> None:
    done = zermelo("arena", "tictactoe", f"{evil}:Failing", "random", "--games", "2")
    assert_escaped(done.stdout)
    done = zermelo("choose", "tictactoe", f"{evil}:Failing")
    assert done.returncode == 2
    assert_escaped(done.stderr)
    done = zermelo("analyze", "tictactoe", "--player", f"{evil}:Evil", "--moves", "a1 b1 c1 a2")
    assert_escaped(done.stdout)
    options = ["--second", f"{evil}:Evil", "--show-thinking"]
    done = zermelo("play", "tictactoe", *options, given="b2\n")
    assert done.stdout.count(r"\x1b]0;title") >= 3, "the name, the source and the reason"
    assert_escaped(done.stdout)
    done = zermelo("play", "tictactoe", "--second", f"{evil}:Failing", given="b2\n")
    assert_escaped(done.stdout + done.stderr)


def test_screens(evil: str) -> None:
    session = Session("tictactoe", f"{evil}:Failing", "human")
    try:
        thread = session._thinking
        if thread is not None:
            thread.done.wait(10)
            thread.join(10)
        assert_escaped(session.view().message)
    finally:
        session.close()
    theme = pytest.importorskip("zermelo.ui.window.theme")
    assert theme.width(f"\0\ud800{ATTACK}", 18) == theme.width(
        escape_controls(f"\0\ud800{ATTACK}"), 18
    )
