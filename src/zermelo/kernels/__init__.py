"""Kernels: functions that numba compiles to native code for one game.

A kernel is an ordinary function, marked with `@kernel` (`registry`), whose first parameter is a
game or its hooks; it lives beside the code that calls it. `compile_kernel` (`compiler`) returns its
native form. This package imports `core`; every package above it may import it.
"""
