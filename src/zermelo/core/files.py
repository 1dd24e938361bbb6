"""Atomic writes: a file appears complete or not at all."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path


def write_atomically(
    path: Path, data: str | bytes | Iterable[bytes], *, durable: bool = False, mode: int = 0o600
) -> None:
    """Write a file, replacing any older version in a single step; the folder must exist.

    Other processes see either the old file or the new one, never a part of it. Text is encoded as
    UTF-8. With `durable` the data has reached the disk before the old file is replaced. `mode`
    sets the permissions; the default keeps the file private. Raise OSError if the file cannot be
    written; the old file is then untouched and no temporary file remains.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".tmp")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(_to_parts(data))
            if durable:
                file.flush()
                os.fsync(file.fileno())
        temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _to_parts(data: str | bytes | Iterable[bytes]) -> Iterable[bytes]:
    if isinstance(data, str):
        return [data.encode()]
    return [data] if isinstance(data, bytes) else data
