"""Fingerprints of rules: recorded values, and edits that must change them."""

import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import zermelo as z
from zermelo.core.game.fingerprint import rules_fingerprint, source_digest
from zermelo.games import registry

#: Shipped models, position sets and books carry these: they must never change.
RECORDED = {
    "tictactoe": "ccf31ed6bd4fe2d4",
    "tictactoe:size=4,win=3": "b3f307193f557b26",
    "connect4": "502385cacc53224c",
    "connect4:4x5": "06d580b1c79f5fe7",
    "connect4:rows=6,cols=7,win=5": "82ef90674f2afc57",
    "gomoku6": "0a0ecc427788e4ed",
    "squava": "d84e1ebdc2681291",
    "squava:pie=true": "9f45cdf8a6608e04",
    "mnk:3x3x3": "2e2ee7115d356afb",
    "mnk:4x3x3": "86ac464d03d2e569",
    "mnk:5x5x4": "79693b5f5fe0b4e5",
    "gomoku": "11dd2ed22cf965db",
    "gomoku:renju=true": "7cb94d8c60a1105e",
    "gomoku:size=19,overline=exact": "26ee79341c105c51",
    "reversi:4": "6a5d2c1c0624bbe7",
    "reversi:6": "aa9c6a464e5b7da2",
    "reversi": "5ac778af63df7ced",
    "line": "855128ddc9111704",
    "line:rows=5,cols=5,win=4,lose=3": "efc45ec17c74e7d9",
}

COUNTDOWN = """
from zermelo import Word, WordGame
from {helper} import one_less


class Countdown(WordGame):
    num_words, num_boards, num_actions = 2, 0, 1
    one: Word = 1

    def initial(self):
        return (300, 0)

    def legal(self, state):
        return self.one

    def play(self, state, action):
        return (one_less(state[0]), state[1] ^ self.one)

    def result(self, state):
        over = state[0] == 0
        return over, {value} * over
"""


@pytest.mark.parametrize("spec", RECORDED)
def test_fingerprints_equal_the_recorded_values(spec: str) -> None:
    assert rules_fingerprint(z.game(spec)) == RECORDED[spec]
    assert source_digest(z.game(spec)) == ""


def test_every_registered_game_has_a_recorded_value() -> None:
    recorded = {spec.partition(":")[0] for spec in RECORDED}
    assert recorded == {entry.name for entry in registry.entries()}


def test_digests_are_the_same_in_another_process() -> None:
    specs = ("tictactoe", "mnk:4x3x3", "reversi:4", "examples/domineering.py")
    code = (
        "import sys, zermelo as z\n"
        "from zermelo.core.game.fingerprint import rules_fingerprint, source_digest\n"
        "for game in map(z.game, sys.argv[1:]): print(rules_fingerprint(game), source_digest(game))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *specs],
        env={**os.environ, "PYTHONHASHSEED": "77"},
        capture_output=True,
        text=True,
        check=True,
    )
    expected = [f"{rules_fingerprint(g)} {source_digest(g)}".strip() for g in map(z.game, specs)]
    assert [line.strip() for line in done.stdout.splitlines()] == expected


def user_game(folder: Path, name: str, helper: str, value: int) -> z.Game:
    path = folder / f"{name}.py"
    path.write_text(COUNTDOWN.format(helper=helper, value=value))
    return z.game(str(path))


def test_an_edit_that_random_games_do_not_notice_changes_the_source_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The games last 300 plies, and a fingerprint looks at 200: it misses how they end."""
    (tmp_path / "one_helper.py").write_text("def one_less(x):\n    return x - 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    games: list[Any] = [
        user_game(tmp_path, "a", "one_helper", -1),
        user_game(tmp_path, "b", "one_helper", 1),
    ]
    for game in games:
        game.spec = "countdown"
    assert len({rules_fingerprint(game) for game in games}) == 1
    assert len({source_digest(game) for game in games}) == 2
    assert all(map(source_digest, games))


def test_a_helper_in_the_same_folder_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = set()
    for number, body in enumerate(("x - 1", "x - 1 + 0")):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "countdown_helper.py").write_text(f"def one_less(x):\n    return {body}\n")
        monkeypatch.syspath_prepend(folder)
        sys.modules.pop("countdown_helper", None)
        importlib.invalidate_caches()
        digests.add(source_digest(user_game(folder, "same", "countdown_helper", -1)))
    assert len(digests) == 2
