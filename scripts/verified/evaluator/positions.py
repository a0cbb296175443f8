"""UMT's fixed position table: sine and cosine over the flattened (time, row, column) index."""

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import interpolate


def sine_cosine_table(positions: int, width: int) -> Tensor:
    """[positions, width] float32: angle pos / 10000^(2⌊j/2⌋/width), sine in even and cosine in odd columns.

    Computed in float64 and rounded once, as the original does.
    """
    columns = np.arange(width)
    angles = np.arange(positions)[:, None] / np.power(10000.0, 2 * (columns // 2) / width)
    table = np.where(columns % 2 == 0, np.sin(angles), np.cos(angles))
    return torch.from_numpy(table.astype(np.float32))


def stretched_table(frames: int, from_frames: int, patches: int, width: int) -> Tensor:
    """[frames·patches, width]: the table of `from_frames` frames, interpolated linearly over time to `frames`.

    UMT carries this option but leaves it off: a longer clip uses a longer table of its own (`sine_cosine_table`).
    """
    table = sine_cosine_table(from_frames * patches, width)
    series = table.reshape(from_frames, patches, width).permute(1, 2, 0)
    series = interpolate(series, size=frames, mode="linear", align_corners=False)
    return series.permute(2, 0, 1).reshape(frames * patches, width)
