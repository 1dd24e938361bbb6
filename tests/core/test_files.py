"""Atomic writes, and the user's folders."""

from pathlib import Path

import pytest

from zermelo.core import home
from zermelo.core.files import write_atomically


def test_text_bytes_and_parts_are_written_alike(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for data in ("ä\n", "ä\n".encode(), [b"\xc3", b"\xa4\n"]):
        write_atomically(path, data, durable=True)
        assert path.read_bytes() == b"\xc3\xa4\n"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_the_mode_is_set(tmp_path: Path, mode: int) -> None:
    write_atomically(tmp_path / "file", "text", mode=mode)
    assert (tmp_path / "file").stat().st_mode & 0o777 == mode


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_folders_follow_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ZERMELO_HOME", "ZERMELO_CACHE"):
        monkeypatch.setenv(name, str(tmp_path / name))
    assert home.state_folder() == tmp_path / "ZERMELO_HOME"
    assert home.database() == tmp_path / "ZERMELO_HOME" / "studio.db"
    assert home.cache_folder() == tmp_path / "ZERMELO_CACHE"
    assert home.cache_folder().is_dir()
    for name in ("ZERMELO_HOME", "ZERMELO_CACHE"):
        monkeypatch.delenv(name)
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    assert home.state_folder() == tmp_path / "XDG_STATE_HOME" / "zermelo"
    assert home.cache_folder() == tmp_path / "XDG_CACHE_HOME" / "zermelo"
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert home.state_folder() == tmp_path / ".local" / "state" / "zermelo"
    assert home.cache_folder() == tmp_path / ".cache" / "zermelo"


def test_a_cache_folder_that_cannot_be_created_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    monkeypatch.setenv("ZERMELO_CACHE", str(blocked / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = home.cache_folder()
    assert folder.is_dir()
    assert home.cache_folder() == folder
