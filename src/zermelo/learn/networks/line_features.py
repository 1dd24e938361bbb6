"""Features of the winning lines of the board, computed in torch from planes of stones."""

import torch
from torch import Tensor, nn

from zermelo.learn.networks.numpy_inference import LINE_PLANE_SCALE
from zermelo.learn.networks.weights_file import Array


class LineFeatures(nn.Module):
    """Computes line planes and line indicators in torch, as `numpy_inference` does in numpy."""

    def __init__(self, lines: Array) -> None:
        super().__init__()
        self.lines: Tensor
        self.register_buffer("lines", torch.from_numpy(lines), persistent=False)
        self._counts = range(1, int(lines[0].sum()))
        self.num_planes = 2 + 2 * len(self._counts)
        self.num_indicators = 2 * len(self._counts) * len(lines)

    def indicators(self, stones: Tensor) -> list[Tensor]:
        """Return a list of tensors [row, side, line]; the n-th marks lines with exactly n stones.

        A tensor is 1 where the side has exactly n stones in the line and the other side has none.
        """
        counts = stones @ self.lines.T
        is_alone = counts.flip(1) == 0
        return [(is_alone & (counts == count)).to(stones.dtype) for count in self._counts]

    def forward(self, planes: Tensor) -> Tensor:
        """Return the planes of stones, followed by the line planes."""
        stones = planes.flatten(2)
        line_planes = [LINE_PLANE_SCALE * (hit @ self.lines) for hit in self.indicators(stones)]
        features = torch.cat([stones, *line_planes], 1)
        features = features.reshape(len(planes), -1, *planes.shape[2:])
        return features.contiguous(memory_format=torch.channels_last)
