"""The cache of generated modules, in the user's cache folder, with numba's files beside them.

The file of a module is named by the digest of its text, so it can never be out of date; numba keys
its machine code by numba version and CPU. The folder can be deleted at any time.
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
    """Return whether kernels are compiled; ZERMELO_JIT=0 runs them as plain Python."""
    return os.environ.get("ZERMELO_JIT", "1") != "0"


def load(text: str) -> Any:
    """Import the module with this source text, after writing it to the cache if necessary."""
    checks_bounds = os.environ.get("ZERMELO_BOUNDS", "0")
    digest = hashlib.sha256(f"{sys.version}\n{checks_bounds}\n{text}".encode()).hexdigest()[:24]
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
