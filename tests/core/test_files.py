"""Atomic writes, temporary files and folders of killed processes, and the user's folders."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from zermelo.core import files, home
from zermelo.core.files import temporary_folder, write_atomically

_WRITE_FOREVER = """
import sys, time
from pathlib import Path
from zermelo.core.files import write_atomically

def parts():
    print("writing", flush=True)
    yield b"begun"
    time.sleep(600)

write_atomically(Path(sys.argv[1]), parts())
"""
_KEEP_FOLDER = """
import time
from zermelo.core.files import temporary_folder
print(temporary_folder("zermelo-test-"), flush=True)
time.sleep(600)
"""


def _start(code: str, *arguments: object, **environment: str) -> tuple[subprocess.Popen[str], str]:
    """Start a Python process and return it with the first line that it prints."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def test_temporary_files_of_killed_writers_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    process, _line = _start(_WRITE_FOREVER, path)
    with process:
        (temporary,) = tmp_path.iterdir()
        write_atomically(path, "one")
        assert set(tmp_path.iterdir()) == {temporary, path}, "a living writer keeps its file"
        process.kill()
    assert temporary.exists()
    (tmp_path / ".file.tmp").touch()  # not one of ours
    files._remove_abandoned_files.cache_clear()  # as in a new process
    write_atomically(path, "two")
    assert set(tmp_path.iterdir()) == {path, tmp_path / ".file.tmp"}
    assert path.read_text() == "two"


def test_a_temporary_file_removed_before_it_is_locked_is_created_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, removed = files._lock, []

    def remove_first(handle: int, *, waits: bool = False) -> bool | None:
        if waits and not removed:
            removed.extend(tmp_path.iterdir())
            removed[0].unlink()
        return lock(handle, waits=waits)

    monkeypatch.setattr(files, "_lock", remove_first)
    write_atomically(tmp_path / "file", "text")
    assert removed
    assert [path.read_text() for path in tmp_path.iterdir()] == ["text"]


def test_temporary_folders_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    process, line = _start(_KEEP_FOLDER, TMPDIR=str(tmp_path))
    with process:
        own = temporary_folder("zermelo-test-")
        assert own.stat().st_mode & 0o777 == 0o700
        assert set(tmp_path.iterdir()) == {own, Path(line)}, "a living process keeps its folder"
        process.kill()
    third = temporary_folder("zermelo-test-")
    assert set(tmp_path.iterdir()) == {own, third}
    code = "from zermelo.core.files import temporary_folder; temporary_folder('zermelo-test-')"
    subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(tmp_path)}, check=True
    )
    assert set(tmp_path.iterdir()) == {own, third}, "removed at exit"


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


@pytest.mark.parametrize("fault", ["blocked", "unwritable", "writable", "foreign"])
def test_a_cache_folder_that_cannot_be_used_is_replaced(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    fault: str,
) -> None:
    """It cannot be created or written to, others can write to it, or it is another user's."""
    cache, temporary = tmp_path / "parent" / "cache", tmp_path / "temporary"
    temporary.mkdir()
    if fault == "blocked":
        cache.parent.touch()
    else:
        cache.mkdir(mode=0o700, parents=True)
    if fault == "unwritable":
        monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    elif fault == "writable":
        cache.chmod(0o770)
    elif fault == "foreign":
        user = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    monkeypatch.setenv("ZERMELO_CACHE", str(cache))
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    folder = home.cache_folder()
    assert folder.parent == temporary
    assert folder.stat().st_mode & 0o777 == 0o700
    monkeypatch.undo()
    monkeypatch.setenv("ZERMELO_CACHE", str(folder))  # as the function has set it
    assert home.cache_folder() == folder
    (message,) = caplog.messages
    assert str(cache) in message
    assert str(folder) in message
