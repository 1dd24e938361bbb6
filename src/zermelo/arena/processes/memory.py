"""The memory limit of a worker, and how much memory its players hold."""

import contextlib
import mmap
from pathlib import Path

MEGABYTE = 1 << 20
_STATM = Path("/proc/self/statm")
_DATA = 5  # index of the field with the number of pages to which the limit applies


def limit_memory(megabytes: int) -> None:
    """Limit the private memory of this process; on systems without such limits, do nothing.

    The limit applies to data rather than to address space, because libraries reserve address space
    that they never use.
    """
    try:
        import resource
    except ImportError:
        return
    size = megabytes * MEGABYTE
    with contextlib.suppress(ValueError, OSError):  # a lower limit is already in force
        resource.setrlimit(resource.RLIMIT_DATA, (size, size))


def private_bytes() -> int:
    """Return the private memory of this process in bytes, or 0 if it is unknown."""
    try:
        return int(_STATM.read_text(encoding="ascii").split()[_DATA]) * mmap.PAGESIZE
    except (OSError, IndexError, ValueError):
        return 0
