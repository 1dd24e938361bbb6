"""Network layers as kernel code. All weights are in one flat array; matrices are [input, output].

Layers read from and write to rows of `layers`, which is scratch memory in float32.
"""

from typing import Any

import numpy as np

_EPSILON = 1e-5  # epsilon of layer norm, as in torch


def linear(
    weights: Any, at: Any, layers: Any, source: Any, inputs: Any, target: Any, outputs: Any
) -> Any:
    """Apply a linear layer to row `source`, and write to row `target`.

    Return the index after the layer's weights, which begin at index `at`. Inputs that are 0 are
    skipped. Four rows of the matrix are added at a time, which was measured to be twice as fast as
    adding single rows. Slices are used because the compiler then knows that indices are not
    negative.
    """
    bias = weights[at + inputs * outputs : at + inputs * outputs + outputs]
    y, x = layers[target], layers[source]
    for unit in range(outputs):
        y[unit] = bias[unit]
    zero = np.float32(0.0)
    a, b, c, d = zero, zero, zero, zero
    row_a, row_b, row_c, row_d = at, at, at, at
    count = 0
    for feature in range(inputs):
        value = x[feature]
        if value != 0:
            a, b, c, d = value, a, b, c
            row_a, row_b, row_c, row_d = at + feature * outputs, row_a, row_b, row_c
            count += 1
            if count == 4:
                add_weighted_rows(weights, y, outputs, a, b, c, d, row_a, row_b, row_c, row_d)
                a, b, c, d = zero, zero, zero, zero
                count = 0
    if count > 0:
        add_weighted_rows(weights, y, outputs, a, b, c, d, row_a, row_b, row_c, row_d)
    return at + (inputs + 1) * outputs


def add_weighted_rows(
    weights: Any,
    y: Any,
    outputs: Any,
    a: Any,
    b: Any,
    c: Any,
    d: Any,
    row_a: Any,
    row_b: Any,
    row_c: Any,
    row_d: Any,
) -> None:
    """Add four rows of weights to `y`, each multiplied by its input (`a` to `d`)."""
    u, v = weights[row_a : row_a + outputs], weights[row_b : row_b + outputs]
    w, x = weights[row_c : row_c + outputs], weights[row_d : row_d + outputs]
    for unit in range(outputs):
        y[unit] += (a * u[unit] + b * v[unit]) + (c * w[unit] + d * x[unit])


def sum_rows(weights: Any, bias: Any, rows: Any, count: Any, y: Any, width: Any) -> None:
    """Write the sum of the bias and `count` rows of weights to `y`, adding four rows at a time."""
    first = weights[bias : bias + width]
    for unit in range(width):
        y[unit] = first[unit]
    at = 0
    while at + 4 <= count:
        a, b, c, d = int(rows[at]), int(rows[at + 1]), int(rows[at + 2]), int(rows[at + 3])
        u, v = weights[a : a + width], weights[b : b + width]
        w, x = weights[c : c + width], weights[d : d + width]
        for unit in range(width):
            y[unit] += (u[unit] + v[unit]) + (w[unit] + x[unit])
        at += 4
    while at < count:
        a = int(rows[at])
        u = weights[a : a + width]
        for unit in range(width):
            y[unit] += u[unit]
        at += 1


def relu(layers: Any, row: Any, width: Any) -> None:
    """Apply relu to the first `width` numbers of a row of `layers`."""
    x = layers[row]
    for unit in range(width):
        x[unit] = max(x[unit], np.float32(0.0))


def layer_norm_relu(weights: Any, at: Any, layers: Any, row: Any, width: Any) -> Any:
    """Apply layer norm and relu to a row of `layers`; return the next index in `weights`."""
    x = layers[row]
    scales, shifts = weights[at : at + width], weights[at + width : at + 2 * width]
    total = 0.0
    for unit in range(width):
        total += x[unit]
    mean = np.float32(total / width)
    total = 0.0
    for unit in range(width):
        total += (x[unit] - mean) * (x[unit] - mean)
    factor = np.float32(1.0 / np.sqrt(total / width + _EPSILON))
    for unit in range(width):
        x[unit] = (x[unit] - mean) * factor * scales[unit] + shifts[unit]
    relu(layers, row, width)
    return at + 2 * width
