"""Saved games, those of the release before included."""

import json
import shutil
from pathlib import Path

import pytest

import zermelo as z
from support.paths import ROOT
from zermelo.core.errors import ZermeloError
from zermelo.matches import saves
from zermelo.matches.saves import Save

# Written by the release before this package got its present names.
OLD_SAVES = ROOT / "tests" / "matches" / "saved"
SAVE = Save("connect4", "human", "level:3", ("4", "4", "3"))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ZERMELO_HOME", str(tmp_path))
    return tmp_path


def test_saves_of_the_release_before_are_read(home: Path) -> None:
    shutil.copytree(OLD_SAVES, home / "saved")
    assert saves.read() == saves.read("connect4") == SAVE
    assert z.match(SAVE.game, SAVE.moves).moves == ["4", "4", "3"]
    assert saves.list_names() == ["my-game"]
    assert saves.read_named("my-game") == Save("squava:pie=true", "human", "human", ("c3", "swap"))


def test_a_save_has_the_fields_of_the_release_before_and_a_digest(home: Path) -> None:
    saves.write(SAVE)
    new, old = home / "saved" / "connect4.json", OLD_SAVES / "connect4.json"
    fields = json.loads(new.read_text())
    assert len(fields.pop("sha256")) == 64
    assert fields == json.loads(old.read_text())


def test_a_save_that_does_not_match_its_digest_is_refused(home: Path) -> None:
    saves.write(SAVE)
    path = home / "saved" / "connect4.json"
    path.write_text(path.read_text().replace('"4", "4"', '"4", "5"'))
    with pytest.raises(ZermeloError, match="is damaged or not a saved game"):
        saves.read("connect4")


def test_the_latest_save_is_read_and_a_finished_game_deletes_its_own(home: Path) -> None:
    with pytest.raises(ZermeloError, match="there is no game to resume"):
        saves.read()
    saves.write(SAVE)
    saves.write(Save("tictactoe", "human", "human", ("b2",)))
    assert saves.read().game == "tictactoe"
    saves.delete("tictactoe")
    saves.delete("tictactoe")
    assert saves.read() == SAVE
    with pytest.raises(ZermeloError, match="there is no game of tictactoe to resume"):
        saves.read("tictactoe")


@pytest.mark.parametrize(
    "text", ["", "[]", "{", "null", '{"game": 1}', '{"game": "x", "moves": "b2"}', "[" * 99_999]
)
def test_a_file_that_is_not_a_save_is_refused(home: Path, text: str) -> None:
    (home / "saved").mkdir()
    (home / "saved" / "connect4.json").write_text(text)
    with pytest.raises(ZermeloError, match="is damaged or not a saved game"):
        saves.read("connect4")


def test_a_file_of_code_is_run_only_if_it_is_named() -> None:
    save = Save("examples/domineering.py", "human", "my.py", ())
    assert save.file_specs == ["examples/domineering.py", "my.py"]
    command = save.resume_command()
    assert command == "zermelo play examples/domineering.py --resume --second my.py"
    saves.check_files(save, ("examples/domineering.py", "my.py"), command)
    with pytest.raises(ZermeloError, match=r"run my\.py, but a file is run only if you name it"):
        saves.check_files(save, ("examples/domineering.py", None), command)
    assert SAVE.resume_command() == "zermelo play --resume"
