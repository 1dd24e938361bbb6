"""Kernels: the one home of the compiler, its cache, its flags and the intrinsics.

A kernel is an ordinary function whose first parameter is a game, marked with `@kernel`; it
lives beside what it computes. `compiled(kernel, game)` is its native form for that game.
"""

from zermelo.kernels.compiler import compiled, kernel, registered, written

__all__ = ["compiled", "kernel", "registered", "written"]
