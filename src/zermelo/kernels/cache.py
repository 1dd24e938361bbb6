"""The cache: generated modules by content, in the user's cache folder, with numba's beside them.

A module's file is named by the digest of its text, so nothing in here can be out of date; numba
itself keys machine code by its version and the CPU. Delete the folder whenever you like.
"""

import hashlib
import importlib.util
import os
import sys
from types import ModuleType
from typing import Any

from zermelo.core import home
from zermelo.core.files import write_atomically


def is_enabled() -> bool:
    """Whether kernels are compiled: ZERMELO_JIT=0 runs them as plain Python."""
    return os.environ.get("ZERMELO_JIT", "1") != "0"


def load(text: str) -> Any:
    """The module with this text, from the cache or written there now."""
    digest = hashlib.sha256(f"{sys.version}\n{_bounds()}\n{text}".encode()).hexdigest()[:24]
    name = f"k_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    path = home.cache_folder() / f"{name}.py"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_atomically(path, text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module: ModuleType = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _bounds() -> str:
    return os.environ.get("ZERMELO_BOUNDS", "0")
