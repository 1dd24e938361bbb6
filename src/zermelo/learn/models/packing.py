"""Weights in fewer bits, for files that many will load."""

from pathlib import Path
from typing import Any

import numpy as np

from zermelo.learn.networks.weights_file import BadWeights

BITS = (32, 16, 8)  #: of a weight
_SCALE = ".scale"  # after the name of an array of whole numbers: what one of them is worth, by row
_MOST = 127


def packed(arrays: dict[str, Any], bits: int) -> dict[str, Any]:
    """The same in so many bits a number; what is no fraction stays as it is.

    With eight, every row of a layer's weights is whole numbers of a step of its own, since rows
    differ more than what is in one of them; biases get sixteen.
    """
    found: dict[str, Any] = {}
    for name, array in arrays.items():
        if bits == BITS[0] or array.dtype.kind != "f":
            found[name] = array
        elif bits == BITS[1] or array.ndim == 1:
            found[name] = array.astype(np.float16)
        else:
            most = np.abs(array.reshape(len(array), -1)).max(1).astype(np.float32)
            scale = np.where(most > 0, most / _MOST, 1).astype(np.float32)
            found[name] = np.rint(array / _by_row(scale, array)).astype(np.int8)
            found[name + _SCALE] = scale
    return found


def unpacked(path: Path, arrays: dict[str, Any]) -> dict[str, Any]:
    """Fractions again, where a file holds whole numbers and what they are worth."""
    found = dict(arrays)
    for name in arrays:
        whole = arrays.get(name.removesuffix(_SCALE))
        if not name.endswith(_SCALE) or whole is None:
            continue
        scale = found.pop(name)
        if whole.ndim == 0 or whole.dtype != np.int8 or scale.shape != whole.shape[:1]:
            msg = f"{path}: {name} does not fit the numbers it is for"
            raise BadWeights(msg)
        found[name.removesuffix(_SCALE)] = whole * _by_row(scale.astype(np.float32), whole)
    return found


def _by_row(scale: Any, array: Any) -> Any:
    return scale.reshape(-1, *[1] * (array.ndim - 1))
