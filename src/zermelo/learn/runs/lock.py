"""The lock of a run's folder: only one process at a time may train a run."""

import contextlib
import errno
import os
import socket
import weakref
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from zermelo.core.errors import ZermeloError

fcntl: ModuleType | None
try:
    import fcntl
except ModuleNotFoundError:  # on systems without `flock`
    fcntl = None

LOCK = "run.lock"
# The errors of `flock` on file systems that cannot lock folders.
_UNSUPPORTED = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL, errno.EBADF)


class RunLocked(ZermeloError):
    """Raised when another process trains the run; the message names the process."""


class RunLock:
    """Locks a folder until `release` is called, the lock is deleted or this process ends.

    The lock is an `flock` on the folder, and a file in it names this process and its host. The
    system releases the lock when the process dies, even if it is killed.
    On a system that cannot lock folders, the file itself is the lock; there, a file whose process
    has ended is replaced.

    The constructor raises RunLocked if another process, or another run in this process, holds the
    lock, and OSError if the file cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        path = folder / LOCK
        handle = _lock_folder(folder)
        try:
            if handle is None:
                _create_file(path)
            path.write_text(f"{os.getpid()} {socket.gethostname()}\n", encoding="utf-8")
        except BaseException:
            if handle is not None:
                os.close(handle)
            raise
        self._finalizer = weakref.finalize(self, _unlock, handle, path, os.getpid())

    def release(self) -> None:
        """Release the lock and delete its file; further calls have no effect."""
        self._finalizer()


def _lock_folder(folder: Path) -> int | None:
    """Return the handle of the locked folder, or None if the system cannot lock it."""
    if fcntl is None:
        return None
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        if isinstance(error, BlockingIOError):
            _refuse(folder / LOCK)
        if error.errno in _UNSUPPORTED:
            return None
        raise
    return handle


def _create_file(path: Path) -> None:
    """Create the file of a lock; raise RunLocked if another process holds it."""
    while True:
        try:
            return path.touch(exist_ok=False)
        except FileExistsError:
            pid, host = _read_holder(path)
            if host != socket.gethostname() or _is_alive(pid):
                _refuse(path)
            path.unlink(missing_ok=True)


def _refuse(path: Path) -> NoReturn:
    pid, host = _read_holder(path)
    holder = f"process {pid} on {host}" if pid else "another process"
    msg = f"{holder} is training the run in {path.parent}: wait for its end, or use another folder"
    if host != socket.gethostname():
        msg += f"; if that process has ended, delete {path}"
    raise RunLocked(msg)


def _read_holder(path: Path) -> tuple[int, str]:
    """Return the process and host named in a lock file; (0, "") if the file names none."""
    try:
        pid, host = path.read_text(encoding="utf-8", errors="replace").split()
        return int(pid), host
    except (OSError, ValueError):
        return 0, ""


def _is_alive(pid: int) -> bool:
    if os.name == "nt":  # on Windows, signal 0 is not a test but Ctrl-C
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _unlock(handle: int | None, path: Path, pid: int) -> None:
    if os.getpid() != pid:  # in a forked child, which does not own the lock
        return
    with contextlib.suppress(OSError):
        path.unlink()
    if handle is not None:
        os.close(handle)
