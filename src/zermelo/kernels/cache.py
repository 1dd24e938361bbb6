"""The cache of generated modules, in the user's cache folder, with their machine code beside them.

The file of a module is named by the digest of its text, so it can never be out of date. The text is
stored for people and tracebacks only; its bytecode is stored because compiling it takes 20 ms.
`machine_code` stores what numba makes of it. The folder can be deleted at any time.
"""

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


def load(text: str) -> Any:
    """Return the module with this source text, after writing it to the cache if necessary."""
    checks_bounds = os.environ.get("ZERMELO_BOUNDS", "0")
    digest = hashlib.sha256(f"{sys.version}\n{checks_bounds}\n{text}".encode()).hexdigest()[:24]
    name = f"k_{digest}"
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
    """Return the bytecode of a module from the cache, or after compiling and storing it."""
    sealed_path = path.with_suffix(".bytecode")
    content = sealed_files.read(sealed_path)
    if content is None:
        content = marshal.dumps(compile(text, path, "exec"))
        sealed_files.write(sealed_path, content)
    code: CodeType = marshal.loads(content)  # noqa: S302 - sealed, for this version of Python
    return code
