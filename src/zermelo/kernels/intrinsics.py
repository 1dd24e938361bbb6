"""The compiled counterparts of `zermelo.core.bitboard`: same names and results, on uint64.

Generated modules import from here what rules and kernels import from `zermelo.core.bitboard`.
"""

from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

_WORD = ir.IntType(64)
# pdep selects the n-th bit in one instruction, which is slow microcode on Zen 1 and Zen 2.
_HAS_PDEP = bool(binding.get_host_cpu_features().get("bmi2")) and (
    binding.get_host_cpu_name() not in ("znver1", "znver2")
)


@njit
def word(x: Any) -> Any:
    """Convert an integer to uint64."""
    return np.uint64(x)


@intrinsic
def _popcount(_context: Any, _x: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@intrinsic
def _lowest(_context: Any, _x: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


@intrinsic
def _leading(_context: Any, _x: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


@intrinsic
def _scale(_context: Any, _x: Any, _n: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        x, n = (builder.zext(a, wide) for a in arguments)
        return builder.trunc(builder.lshr(builder.mul(x, n), ir.Constant(wide, 64)), _WORD)

    return types.int64(types.uint64, types.uint64), generate


@intrinsic
def _deposit(_context: Any, _bits: Any, _mask: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(_WORD, [_WORD, _WORD])
        pdep = builder.module.declare_intrinsic("llvm.x86.bmi.pdep.64", (), kind)
        return builder.call(pdep, arguments)

    return types.uint64(types.uint64, types.uint64), generate


@intrinsic
def _prefetch(_context: Any, _table: Any, _row: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        (stride, *_) = cgutils.unpack_tuple(builder, array.strides)
        begin = builder.ptrtoint(array.data, _WORD)
        byte = ir.IntType(8).as_pointer()
        at = builder.inttoptr(builder.add(begin, builder.mul(arguments[1], stride)), byte)
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        # The arguments mean a read (0) into all levels (3) of the data cache (1).
        builder.call(fetch, [at, *[ir.Constant(number, n) for n in (0, 3, 1)]])
        return context.get_dummy_value()

    return types.void(_table, types.int64), generate


@njit
def prefetch(table: Any, row: Any) -> None:
    """Prefetch a table row into the CPU cache."""
    _prefetch(table, row)


@njit
def popcount(x: Any) -> Any:
    """Return the number of set bits."""
    return _popcount(np.uint64(x))


@njit
def lowest(x: Any) -> Any:
    """Return the index of the lowest set bit."""
    return _lowest(np.uint64(x))


@njit
def highest(x: Any) -> Any:
    """Return the index of the highest set bit."""
    return 63 - _leading(np.uint64(x))


@njit
def _select_by_pdep(x: Any, n: Any) -> Any:
    return _lowest(_deposit(np.uint64(1) << np.uint64(n), np.uint64(x)))


_HALVES = tuple((np.uint64(w), np.uint64((1 << w) - 1)) for w in (32, 16, 8, 4, 2, 1))


@njit
def _select_by_halves(x: Any, n: Any) -> Any:
    left, at = np.uint64(n), np.uint64(0)
    for width, low in _HALVES:
        below = np.uint64(_popcount((x >> at) & low))
        if left >= below:
            left -= below
            at += width
    return np.int64(at)


select = _select_by_pdep if _HAS_PDEP else _select_by_halves


@njit
def scale(x: Any, n: Any) -> Any:
    """Scale a uniformly random word to a number in 0..n-1."""
    return _scale(np.uint64(x), np.uint64(n))


_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFT_1, _SHIFT_2, _SHIFT_3 = np.uint64(30), np.uint64(27), np.uint64(31)


@njit
def mix(x: Any) -> Any:
    """Scramble the bits of a word with the finaliser of splitmix64."""
    x = (x ^ (x >> _SHIFT_1)) * _MIX_1
    x = (x ^ (x >> _SHIFT_2)) * _MIX_2
    return x ^ (x >> _SHIFT_3)


@njit
def pick(condition: Any, a: Any, b: Any) -> Any:
    """Return `a if condition else b`."""
    return a if condition else b
