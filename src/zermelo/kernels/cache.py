"""The cache of generated modules and their machine code, in the user's cache folder.

The file of a module is named by the digest of its text, so it can never be out of date. The text is
stored for people and tracebacks only; its bytecode is stored because compiling it takes 20 ms.
`machine_code` stores the output of numba. The folder can be deleted at any time.
"""

import functools
import hashlib
import marshal
import os
import sys
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from zermelo.core import home
from zermelo.kernels import sealed_files


def is_enabled() -> bool:
    """Return whether kernels are compiled; ZERMELO_JIT=0 runs them as plain Python."""
    return os.environ.get("ZERMELO_JIT", "1") != "0"


def module_name(text: str) -> str:
    """Return the name of the module with this source text."""
    checks_bounds = os.environ.get("ZERMELO_BOUNDS", "0")
    parts = (sys.version, _numba_version(), checks_bounds, text)
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24]
    return f"k_{digest}"


def is_compiled(text: str) -> bool:
    """Return whether the cache holds machine code of this module, perhaps for another CPU."""
    return any(home.cache_folder().glob(f"{module_name(text)}-*.nbc"))


def num_compiled() -> int:
    """Return the number of kernels in the cache, including those of other versions."""
    return sum(1 for _ in home.cache_folder().glob("k_*.nbc"))


def clear() -> int:
    """Delete all compiled kernels; return the number of deleted files."""
    files = list(home.cache_folder().glob("k_*"))
    for path in files:
        path.unlink(missing_ok=True)
    return len(files)


@functools.cache
def _numba_version() -> str:
    from importlib.metadata import version

    return version("numba")  # without importing numba, which takes half a second


def load(text: str) -> Any:
    """Return the module with this source text, after writing it to the cache if necessary."""
    name = module_name(text)
    if name in sys.modules:
        return sys.modules[name]
    path = home.cache_folder() / f"{name}.py"
    stored = sealed_files.read_trusted(path)
    if stored != text.encode():
        if stored is not None:
            sealed_files.discard(path, "is damaged")
        sealed_files.write_plain(path, text)
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # named tuples look up their module while it is being executed
    try:
        exec(_to_bytecode(text, path), vars(module))  # noqa: S102 - the code of our generator
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _to_bytecode(text: str, path: Path) -> CodeType:
    """Return the bytecode of a module from the cache; if it is missing, compile and store it."""
    sealed_path = path.with_suffix(".bytecode")
    content = sealed_files.read(sealed_path)
    if content is None:
        content = marshal.dumps(compile(text, path, "exec"))
        sealed_files.write(sealed_path, content)
    code: CodeType = marshal.loads(content)  # noqa: S302 - sealed, for this version of Python
    return code
