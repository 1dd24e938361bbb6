"""Kernels: functions that numba compiles to native code for one game.

A kernel is an ordinary function, marked with `@kernel`, whose first parameter is a game or its
hooks; it lives beside the code that calls it. `compile_kernel` returns its native form. This
package imports only `core`; every package above it may import this one.
"""

from zermelo.kernels.compiler import compile_kernel
from zermelo.kernels.registry import kernel, list_common_kernels

__all__ = ["compile_kernel", "kernel", "list_common_kernels"]
