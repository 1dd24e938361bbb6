"""Sealed files: files of the cache that carry a checksum of their name and their content.

A file that is damaged, or that another user may have written, is never used: it is removed with a
warning in the log, and its content has to be computed again.
"""

import contextlib
import functools
import hashlib
import os
from pathlib import Path

from zermelo.core.files import write_atomically
from zermelo.core.home import explain_distrust

_MAGIC = b"zermelo cache 1\n"
_DIGEST_SIZE = 32  # bytes


def read(path: Path) -> bytes | None:
    """Return the content of a sealed file; None if it is missing or was invalid and removed."""
    data = read_trusted(path)
    if data is None:
        return None
    begin = len(_MAGIC) + _DIGEST_SIZE
    content = data[begin:]
    if data[:begin] != _seal(path, content):
        discard(path, "is damaged")
        return None
    return content


def write(path: Path, content: bytes) -> None:
    """Write a sealed file; if that fails, only log a warning, since the cache is not essential."""
    write_plain(path, [_seal(path, content), content])


def write_plain(path: Path, data: str | list[bytes]) -> None:
    """Write a file without a seal; if that fails, only log a warning."""
    try:
        write_atomically(path, data)
    except OSError as error:
        _warn_once(path.parent, error.strerror or str(error))


def read_trusted(path: Path) -> bytes | None:
    """Return the bytes of a file if only this user can have written it, otherwise None.

    A file that other users can have written, or that cannot be read, is removed.
    """
    try:
        with path.open("rb") as file:
            distrust = explain_distrust(os.fstat(file.fileno()))
            if distrust is None:
                return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        distrust = f"cannot be read ({error.strerror})"
    discard(path, distrust)
    return None


def discard(path: Path, reason: str) -> None:
    """Remove a file of the cache that cannot be used, and log why."""
    with contextlib.suppress(OSError):
        path.unlink()
    _warn(f"the file {path} of the kernel cache {reason}: compiling it again")


def _seal(path: Path, content: bytes) -> bytes:
    """Return the header of a sealed file: a format version, and a digest of name and content."""
    digest = hashlib.blake2b(path.name.encode(), digest_size=_DIGEST_SIZE)
    digest.update(content)
    return _MAGIC + digest.digest()


@functools.lru_cache(maxsize=64)
def _warn_once(folder: Path, reason: str) -> None:
    _warn(f"cannot write to the kernel cache {folder} ({reason}): kernels will be compiled again")


def _warn(text: str) -> None:
    import logging

    logging.getLogger(__name__).warning("zermelo: %s", text)
