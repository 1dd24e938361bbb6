"""The cache of machine code: sealed files that store the functions numba has compiled.

numba's own cache unpickles and runs whatever its files contain; a sealed file is used only if its
checksum is right. One file holds the code of one kernel for one signature, CPU and numba version.
"""

import hashlib
import pickle
import sys
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from zermelo.kernels import sealed_files


class MachineCodeCache(NullCache):  # type: ignore[misc]  # numba is untyped
    """Implements numba's cache interface for one function, in files beside that of its module."""

    def __init__(self, function: Any) -> None:
        self._module_path = Path(str(sys.modules[function.__module__].__file__))

    def has(self, sig: Any, target_context: Any) -> bool:
        """Return whether a file for a signature exists; the file may turn out to be damaged."""
        return self._path(sig, target_context.codegen()).exists()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load the compiled function for a signature; return None if it has to be compiled."""
        target_context.refresh()
        path = self._path(sig, target_context.codegen())
        content = sealed_files.read(path)
        if content is None:
            return None
        try:
            return CompileResult._rebuild(target_context, *pickle.loads(content))  # noqa: S301, SLF001 - sealed; the API of numba
        except Exception as error:  # noqa: BLE001 - such as another build of the same numba version
            sealed_files.discard(path, f"cannot be loaded ({type(error).__name__})")
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store a compiled function, unless it refers to addresses in this process."""
        if not data.library.has_dynamic_globals:
            path = self._path(sig, data.codegen)
            sealed_files.write(path, dumps(data._reduce()))  # noqa: SLF001 - the API of numba

    def _path(self, sig: Any, codegen: Any) -> Path:
        key = (str(sig), codegen.magic_tuple(), numba.__version__, llvmlite.__version__)
        digest = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        return self._module_path.with_name(f"{self._module_path.stem}-{digest}.nbc")
