"""Write files atomically, create temporary folders, and clean up after killed processes.

Temporary files are called `.NAME.RANDOM.tmp`. A process locks the file that it is writing, so a
temporary file that is not locked is abandoned. Process ids would not show this reliably, because
another container or a later process may use the same id.
"""

import atexit
import contextlib
import errno
import functools
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

if sys.platform != "win32":
    import fcntl

_TEMPORARY = re.compile(r"\..+\.[a-z0-9_]{8}\.tmp")
_LOCK_FILE = "lock"  # the name of the lock file in a temporary folder
_MAX_AGE = 3600  # seconds after which a file counts as abandoned if the system cannot lock files


def write_atomically(
    path: Path, data: str | bytes | Iterable[bytes], *, durable: bool = False, mode: int = 0o600
) -> None:
    """Write a file, replacing any older version in a single step; the folder must exist.

    Other processes see either the old file or the new one, never a part of it. Text is encoded as
    UTF-8. With `durable` the data has reached the disk before the old file is replaced. `mode`
    sets the permissions; the default keeps the file private. Raise OSError if the file cannot be
    written; the old file is then untouched and no temporary file remains.

    A process that writes to a folder for the first time removes the temporary files that killed
    processes left there.
    """
    _remove_abandoned_files(path.parent.absolute())
    handle, temporary = _create_locked(path)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(_to_parts(data))
            file.flush()
            if durable:
                os.fsync(file.fileno())
            temporary.chmod(mode)
            temporary.replace(path)  # still locked, so that no process removes it first
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def temporary_folder(prefix: str) -> Path:
    """Create a private folder in the system's temporary folder; it is removed at exit.

    Also remove the folders with this prefix that killed processes left.
    """
    parent = Path(tempfile.gettempdir())
    for folder in parent.glob(f"{prefix}*/"):
        with contextlib.suppress(OSError), _claim(folder / _LOCK_FILE) as is_abandoned:
            if is_abandoned:
                shutil.rmtree(folder, ignore_errors=True)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix))
        handle = os.open(folder / _LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
        _lock(handle, waits=True)  # until the end of this process and of those that it forks
        if os.fstat(handle).st_nlink:
            atexit.register(_remove_folder, folder, os.getpid())
            return folder
        os.close(handle)  # another process removed the folder before it was locked


def _remove_folder(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # forked processes inherit this exit handler
        shutil.rmtree(folder, ignore_errors=True)


def _create_locked(path: Path) -> tuple[int, Path]:
    """Create and lock a temporary file beside `path`; return its descriptor and its path."""
    while True:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        _lock(handle, waits=True)
        if os.fstat(handle).st_nlink:
            return handle, Path(name)
        os.close(handle)  # another process removed the file before it was locked


@functools.lru_cache(maxsize=1024)
def _remove_abandoned_files(folder: Path) -> None:
    """Remove the temporary files that killed processes left; done once per folder and process."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _TEMPORARY.fullmatch(entry.name):
                with contextlib.suppress(OSError), _claim(Path(entry.path)) as is_abandoned:
                    if is_abandoned:
                        Path(entry.path).unlink()


@contextlib.contextmanager
def _claim(path: Path) -> Iterator[bool]:
    """Try to lock a file; yield whether the file is abandoned, that is, its writer has exited."""
    handle = os.open(path, os.O_RDWR)
    try:
        is_locked = _lock(handle)
        age = time.time() - os.fstat(handle).st_mtime
        yield age > _MAX_AGE if is_locked is None else is_locked
    finally:
        os.close(handle)


def _lock(handle: int, *, waits: bool = False) -> bool | None:
    """Lock an open file and return True; return None if the system cannot lock files.

    If another process holds the lock, wait for it if `waits` is set, otherwise return False.
    """
    if sys.platform == "win32":
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if waits else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return False if error.errno in {errno.EAGAIN, errno.EACCES} else None
    return True


def _to_parts(data: str | bytes | Iterable[bytes]) -> Iterable[bytes]:
    if isinstance(data, str):
        return [data.encode()]
    return [data] if isinstance(data, bytes) else data
