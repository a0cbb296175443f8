"""VLG-Net's graph convolutions: nearest neighbours, GCNeXt blocks over clips, and the matching of clips with words."""

from typing import Literal

import torch
from torch import Tensor, nn

Gather = Literal["as_released", "correct"]
"""Method of fetching features of neighbours. The released code reads the tensor [D, N] of an item as if it lay in
memory as [N, D]: with D 512 and N 64, "neighbour r" is 8 channels at 64 times. The published results come from it."""
FAR = -1e10


def nearest(x: Tensor, k: int, apart: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The k nearest columns of each column of x [B, D, N]: (−distance [B, N, k], index [B, N, k]), itself first.

    apart [B, N, N]: True for pairs that are no neighbours; their −distance is −1e10.
    """
    columns = x.transpose(1, 2)
    closeness = -torch.cdist(columns, columns, compute_mode="donot_use_mm_for_euclid_dist")
    if apart is not None:
        closeness = closeness.masked_fill(apart, FAR)
    return closeness.topk(k, dim=-1)


def gather(x: Tensor, index: Tensor, how: Gather) -> Tensor:
    """Features of the neighbours `index` [B, N, k] of x [B, D, N]: [B, D, N, k]."""
    batch, width, count = x.shape
    rows = x.contiguous().view(batch, count, width) if how == "as_released" else x.transpose(1, 2)
    wanted = index.reshape(batch, -1, 1).expand(-1, -1, width)
    return rows.gather(1, wanted).view(*index.shape, width).permute(0, 3, 1, 2)


def bottleneck(kind: type[nn.Module], wide: int, narrow: int, out: int, groups: int, kernel: int) -> nn.Sequential:
    """A narrow grouped convolution between two of kernel 1."""
    return nn.Sequential(
        kind(wide, narrow, 1),
        nn.ReLU(),
        kind(narrow, narrow, kernel, groups=groups, padding=kernel // 2),
        nn.ReLU(),
        kind(narrow, out, 1),
    )


class GCNeXt(nn.Module):
    """x [B, D, N] → ReLU(x + T(x) + max over the k nearest of S([neighbour; centre]))."""

    def __init__(self, width: int, groups: int, per_group: int, neighbours: int, how: Gather):
        super().__init__()
        self.tconvs = bottleneck(nn.Conv1d, width, groups * per_group, width, groups, 3)
        self.sconvs = bottleneck(nn.Conv2d, 2 * width, groups * per_group, width, groups, 1)
        self.neighbours = neighbours
        self.how: Gather = how

    def forward(self, x: Tensor) -> Tensor:
        _, index = nearest(x, self.neighbours)
        around = gather(x, index, self.how)
        pairs = torch.cat([around, x[..., None].expand_as(around)], dim=1)
        return torch.relu(x + self.tconvs(x) + self.sconvs(pairs).amax(dim=-1))


class GraphMatching(nn.Module):
    """One matching layer: clips attend to words and words to clips; each side also to its own neighbours and order."""

    def __init__(self, width: int, groups: int, per_group: int, neighbours: int, how: Gather):
        super().__init__()

        def both(kind, wide: int, kernel: int) -> nn.ModuleDict:
            return nn.ModuleDict(
                {side: bottleneck(kind, wide, groups * per_group, width, groups, kernel) for side in ("video", "query")}
            )

        self.tconvs = both(nn.Conv1d, width, 3)
        self.vconvs = both(nn.Conv1d, 2 * width, 1)
        self.qconvs = both(nn.Conv1d, 2 * width, 1)
        self.neighbours = neighbours
        self.how: Gather = how

    def forward(self, video: Tensor, query: Tensor, words: Tensor) -> tuple[Tensor, Tensor]:
        """video [B, D, N], query [B, D, L], words [B, L] (True for words, False for padding) → the same shapes.

        As released, padding takes part in the attention between the two sides.
        """
        affinity = video.transpose(1, 2) @ query  # [B, N, L]
        to_video = query @ affinity.softmax(dim=2).transpose(1, 2)
        to_query = video @ affinity.softmax(dim=1)
        apart = ~(words[:, :, None] & words[:, None, :])
        fused_video = self._side("video", video, to_video, None)
        return fused_video, self._side("query", query, to_query, apart)

    def _side(self, side: str, x: Tensor, attended: Tensor, apart: Tensor | None) -> Tensor:
        closeness, index = nearest(x, min(self.neighbours, x.shape[2]), apart)
        around = (gather(x, index, self.how) * closeness.softmax(dim=-1)[:, None]).sum(dim=-1)
        semantic = self.vconvs[side](torch.cat([x, around], dim=1))
        matching = self.qconvs[side](torch.cat([x, attended], dim=1))
        return semantic + matching + self.tconvs[side](x) + x
