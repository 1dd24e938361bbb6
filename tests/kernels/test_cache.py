"""The kernel cache: damaged files and files of other users are never used, and are replaced."""

import os
import random
import sys
from pathlib import Path
from typing import Any

import pytest

import zermelo as z
from support.commands import zermelo
from zermelo.kernels import compiler, sealed_files
from zermelo.kernels.compiler import compile_kernel
from zermelo.kernels.registry import kernel

_COUNT = ("count", "tictactoe", "--perft", "2", "--json")


@kernel("int64", common=False)
def _triple(_game: z.WordGame, number: Any) -> Any:
    return 3 * number


class _Cache:
    """A cache folder of its own, with the files of one small kernel."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        assert self.compile() == 42
        (self.code,) = folder.glob("k_*.nbc")
        (self.bytecode,) = folder.glob("k_*.bytecode")
        (self.module,) = folder.glob("k_*.py")

    def compile(self) -> int:
        """Return the result of the kernel for 14, loaded from the cache as in a new process."""
        compiler._compile_once.cache_clear()
        for name in [name for name in sys.modules if name.startswith("k_")]:
            if "_triple" in (sys.modules[name].__doc__ or ""):
                del sys.modules[name]
        result: int = compile_kernel(_triple, z.game("tictactoe"))(14)
        return result


@pytest.fixture
def small_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> _Cache:
    monkeypatch.setenv("ZERMELO_CACHE", str(tmp_path))
    return _Cache(tmp_path)


def _damaged_versions(data: bytes, rng: random.Random) -> list[bytes]:
    """Return the data truncated at 200 places, and 200 versions with one bit flipped."""
    ends = [0, 1, len(data) - 1, *rng.sample(range(2, len(data) - 1), 197)]
    versions = [data[:end] for end in ends]
    for _ in range(200):
        flipped = bytearray(data)
        flipped[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        versions.append(bytes(flipped))
    return versions


@pytest.mark.parametrize("kind", ["code", "bytecode"])
def test_every_damage_to_a_sealed_file_is_detected(
    small_cache: _Cache, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    path: Path = getattr(small_cache, kind)
    data = path.read_bytes()
    assert sealed_files.read(path) is not None
    versions = _damaged_versions(data, random.Random(1))
    assert len(versions) == 400
    for version in versions:
        path.write_bytes(version)
        path.chmod(0o600)
        assert sealed_files.read(path) is None
        assert not path.exists()
    expected = f"zermelo: the file {path} of the kernel cache is damaged: compiling it again"
    assert caplog.messages == [expected] * 400


def test_damage_to_the_text_of_a_module_changes_no_result(
    small_cache: _Cache, caplog: pytest.LogCaptureFixture
) -> None:
    text = small_cache.module.read_bytes()
    versions = [*_damaged_versions(text, random.Random(2)), b"raise SystemExit", b"\xff\x00"]
    for version in versions:
        small_cache.module.write_bytes(version)
        small_cache.module.chmod(0o600)
        assert small_cache.compile() == 42
        assert small_cache.module.read_bytes() == text
    assert len(caplog.messages) == len(versions)


@pytest.mark.parametrize("kind", ["code", "bytecode"])
def test_a_damaged_sealed_file_is_replaced(
    small_cache: _Cache, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    path: Path = getattr(small_cache, kind)
    versions = _damaged_versions(path.read_bytes(), random.Random(3))
    for version in random.Random(3).sample(versions, 6):
        path.write_bytes(version)
        path.chmod(0o600)
        caplog.clear()
        assert small_cache.compile() == 42
        assert len(caplog.messages) == 1
        assert sealed_files.read(path) is not None
        assert small_cache.compile() == 42
        assert len(caplog.messages) == 1, "the second time it is loaded"


def test_a_cache_folder_can_be_moved(
    small_cache: _Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = tmp_path / "moved"
    moved.mkdir(mode=0o700)
    for path in (small_cache.code, small_cache.bytecode, small_cache.module):
        path.rename(moved / path.name)
    before = {path: path.stat().st_mtime_ns for path in moved.iterdir()}
    monkeypatch.setenv("ZERMELO_CACHE", str(moved))
    assert small_cache.compile() == 42
    assert {path: path.stat().st_mtime_ns for path in moved.iterdir()} == before
    assert list(tmp_path.iterdir()) == [moved]


def test_a_file_under_the_name_of_another_is_refused(
    small_cache: _Cache, caplog: pytest.LogCaptureFixture
) -> None:
    other = small_cache.code.with_name("k_other-0.nbc")
    small_cache.code.rename(other)
    assert sealed_files.read(other) is None
    assert "is damaged" in caplog.text


def test_code_that_numba_cannot_load_is_compiled_again(
    small_cache: _Cache, caplog: pytest.LogCaptureFixture
) -> None:
    """Its checksum is right, but it was written by another build of the same numba version."""
    sealed_files.write(small_cache.code, b"cos\nno_such_function\n.")
    assert small_cache.compile() == 42
    (message,) = caplog.messages
    assert "cannot be loaded (AttributeError): compiling it again" in message
    assert small_cache.compile() == 42


@pytest.mark.parametrize("fault", ["writable", "foreign"])
def test_a_file_that_others_may_have_written_is_not_used(
    small_cache: _Cache,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
) -> None:
    if fault == "writable":
        small_cache.code.chmod(0o666)
        reason = "can be written to by other users"
    else:
        user = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: user + 1)
        reason = "belongs to another user"
    assert sealed_files.read(small_cache.code) is None
    assert reason in caplog.text
    assert not small_cache.code.exists()


def test_a_full_disk_costs_only_the_cache(
    small_cache: _Cache, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for path in small_cache.folder.iterdir():
        path.unlink()
    monkeypatch.setattr(sealed_files, "write_atomically", fail)
    sealed_files._warn_once.cache_clear()
    assert small_cache.compile() == 42
    (message,) = caplog.messages
    assert str(small_cache.folder) in message
    assert "No space left on device" in message


def test_a_command_heals_a_damaged_cache(tmp_path: Path) -> None:
    """Damage every file in one of three ways, and run the same command again, twice."""
    environment = {"ZERMELO_CACHE": str(tmp_path / "cache")}
    first = zermelo(*_COUNT, **environment)
    assert (first.returncode, first.stderr) == (0, "")
    paths = sorted((tmp_path / "cache").iterdir())
    assert {path.suffix for path in paths} == {".py", ".nbc", ".bytecode"}
    for number, path in enumerate(paths):
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes((b"", data[: len(data) // 3], data)[number % 3])
    second = zermelo(*_COUNT, **environment)
    assert (second.returncode, second.stdout) == (0, first.stdout)
    lines = second.stderr.splitlines()
    assert len(lines) == len(paths)
    for path in paths:
        assert sum(str(path) in line for line in lines) == 1
    third = zermelo(*_COUNT, **environment)
    assert (third.returncode, third.stdout, third.stderr) == (0, first.stdout, "")


def test_a_command_does_not_use_a_folder_that_others_can_write_to(tmp_path: Path) -> None:
    shared, temporary = tmp_path / "shared", tmp_path / "temporary"
    for folder in (shared, temporary):
        folder.mkdir()
    shared.chmod(0o777)
    done = zermelo(*_COUNT, ZERMELO_CACHE=str(shared), TMPDIR=str(temporary))
    assert done.returncode == 0
    (line,) = done.stderr.splitlines()
    assert f"{shared} can be written to by other users" in line
    assert f"using {temporary}/zermelo-cache-" in line
    assert not list(shared.iterdir())
    assert not list(temporary.iterdir())
