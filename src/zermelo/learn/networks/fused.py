"""Functions for fast inference on a CPU: fuse batch norm, and use bfloat16 where it is fast."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional


def fuse_batch_norm(name: str, convolution: Any, norm: Any) -> dict[str, Tensor]:
    """Return weight and bias of a convolution that replaces both `convolution` and `norm`."""
    scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    bias = 0 if convolution.bias is None else convolution.bias
    return {
        f"{name}.weight": convolution.weight * scale[:, None, None, None],
        f"{name}.bias": (bias - norm.running_mean) * scale + norm.bias,
    }


def is_bfloat16_fast(device: str) -> bool:
    """Return whether bfloat16 is faster than float32 on the device."""
    # No public function tells this. On CPUs without bfloat16 support, bfloat16 works but is slow.
    return device == "cuda" or bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())  # noqa: SLF001


def expected_value(results: Tensor) -> Tensor:
    """Return P(win) - P(loss) from the logits of win, draw and loss."""
    probabilities = functional.softmax(results.float(), 1)
    return probabilities[:, 0] - probabilities[:, 2]
