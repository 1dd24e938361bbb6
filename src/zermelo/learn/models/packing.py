"""Pack weights into 16 or 8 bits for smaller files, and unpack them."""

from pathlib import Path

import numpy as np

from zermelo.learn.networks.weights_file import Array, Arrays, BadWeights

BITS = (32, 16, 8)  #: the supported numbers of bits per weight
_SCALE = ".scale"  # suffix of the array that holds the scales of an int8 array, one per row
_MAX_INT8 = 127


def pack_weights(arrays: Arrays, bits: int) -> Arrays:
    """Return the arrays with `bits` bits per weight; integer arrays are not changed.

    With 8 bits, every row of a matrix has its own scale, because the magnitudes of weights differ
    more between rows than within a row; biases get 16 bits.
    """
    packed: Arrays = {}
    for name, array in arrays.items():
        if bits == BITS[0] or array.dtype.kind != "f":
            packed[name] = array
        elif bits == BITS[1] or array.ndim <= 1:
            packed[name] = array.astype(np.float16)
        else:
            largest = np.abs(array.reshape(len(array), -1)).max(1).astype(np.float32)
            scale = np.where(largest > 0, largest / _MAX_INT8, 1).astype(np.float32)
            packed[name] = np.rint(array / _by_row(scale, array)).astype(np.int8)
            packed[name + _SCALE] = scale
    return packed


def unpack_weights(path: Path, arrays: Arrays) -> Arrays:
    """Return the arrays, after multiplying int8 weights by their scales and removing the scales."""
    unpacked = dict(arrays)
    for name in arrays:
        weights = arrays.get(name.removesuffix(_SCALE))
        if not name.endswith(_SCALE) or weights is None:
            continue
        scale = unpacked.pop(name)
        if weights.ndim == 0 or weights.dtype != np.int8 or scale.shape != weights.shape[:1]:
            msg = f"{path}: {name} does not fit the weights that it scales"
            raise BadWeights(msg)
        weights = weights * _by_row(scale.astype(np.float32), weights)
        unpacked[name.removesuffix(_SCALE)] = weights
    return unpacked


def _by_row(scale: Array, array: Array) -> Array:
    return scale.reshape(-1, *[1] * (array.ndim - 1))
