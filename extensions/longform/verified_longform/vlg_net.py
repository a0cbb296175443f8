"""VLG-Net with the changes for long movies (MAD, appendix A.2): one window of clips against one sentence.

Differences from the official code, each covered by a test:
- scores are computed for the anchors alone; the two-dimensional map has zeros elsewhere and kernels of size 1, so that
  no other position affects it (same numbers);
- distances between clips are computed from differences, not from a matrix product, whose float32 error reaches 1e-4 and
  swaps near neighbours;
- neighbours are fetched by `gather: as_released | correct`; see `gather_neighbours`.

Weights carry the official names, so that a published state dictionary loads unchanged.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

Gather = Literal["as_released", "correct"]
"""Method of fetching features of neighbours. The released code reads the tensor [D, N] of an item as if its memory
layout were [N, D]: with D 512 and N 64, "neighbour r" is 8 channels at 64 times. The published results come from it.
"""
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
    positions = index.reshape(batch, -1, 1).expand(-1, -1, width)
    return rows.gather(1, positions).view(*index.shape, width).permute(0, 3, 1, 2)


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
    """One matching layer: clips attend to words and words to clips; each side also to its neighbours and order."""

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


@dataclass(frozen=True)
class VLGSettings:
    """Sizes; the defaults are MAD's (5.3 million parameters)."""

    video_dim: int = 512
    query_dim: int = 512
    hidden: int = 512
    query_hidden: int = 512
    clips: int = 64
    blocks: int = 7
    neighbours: int = 7
    match_neighbours: int = 5
    groups: int = 32
    per_group: int = 4
    stack: int = 5
    gather: Gather = "as_released"


class LanguageEncoder(nn.Module):
    """Token features [B, L, dim] → [B, D, L]: a one-layer LSTM over all tokens, padding included, and a linear map."""

    def __init__(self, size: VLGSettings):
        super().__init__()
        self.lstm = nn.LSTM(size.query_dim, size.query_hidden, batch_first=True)
        self.fc_query = nn.Sequential(nn.Linear(size.query_hidden, size.hidden), nn.ReLU())

    def forward(self, tokens: Tensor) -> Tensor:
        return self.fc_query(self.lstm(tokens)[0]).transpose(1, 2)


class Fusion(nn.Module):
    """The matching layer and a convolution over the video side."""

    def __init__(self, size: VLGSettings):
        super().__init__()
        self.graph_matching = nn.ModuleList(
            [GraphMatching(size.hidden, size.groups, size.per_group, size.match_neighbours, size.gather)]
        )
        self.conv1x1 = nn.Sequential(nn.Conv1d(size.hidden, size.hidden, 1), nn.ReLU())

    def forward(self, video: Tensor, query: Tensor, words: Tensor) -> tuple[Tensor, Tensor]:
        video, query = self.graph_matching[0](video, query, words)
        return self.conv1x1(video), query


class MomentPooling(nn.Module):
    """Clips to anchors: attention over the clips of each anchor, its logits learned from clip and sentence.

    The sentence shifts all clips' logits equally and the softmax removes it: the weights behind it get no gradient.
    This is the published behaviour.
    """

    outside: Tensor
    """Whether a clip is outside an anchor, bool [A, N]."""

    def __init__(self, width: int, anchors: Tensor, clips: int):
        super().__init__()
        self.conv1d = nn.Conv1d(2 * width, 1, 1)
        self.conv1d_lang = nn.Conv1d(width, 1, 1)
        clip = torch.arange(clips)
        inside = (clip >= anchors[:, :1]) & (clip < anchors[:, 1:])  # [A, N]
        self.register_buffer("outside", ~inside, persistent=False)

    def forward(self, video: Tensor, query: Tensor, words: Tensor) -> Tensor:
        """video [B, D, N], query [B, D, L], words [B, L] → [B, D, A]."""
        attention = self.conv1d_lang(query).masked_fill(~words[:, None], FAR).softmax(dim=-1)
        sentence = (query * attention).sum(dim=-1, keepdim=True)
        logits = self.conv1d(torch.cat([sentence.expand_as(video), video], dim=1))  # [B, 1, N]
        weights = logits.masked_fill(self.outside, FAR).softmax(dim=-1)  # [B, A, N]
        return video @ weights.transpose(1, 2)


class VLGNet(nn.Module):
    """Scores the anchors of windows against sentences."""

    def __init__(self, size: VLGSettings, anchors: np.ndarray):
        """anchors [A, 2]: spans of clips, as `Grid.anchors` lists them."""
        super().__init__()
        self.size = size
        spans = torch.from_numpy(np.asarray(anchors, np.int64))
        self.feat_pool = nn.Sequential(
            nn.Identity(), nn.Identity(), nn.Conv1d(size.video_dim, size.hidden, 3, padding=1), nn.ReLU()
        )
        block = GCNeXt(size.hidden, size.groups, size.per_group, size.neighbours, size.gather)
        self.context_aggregator = nn.ModuleList([block] * size.blocks)  # one block, passed `blocks` times
        self.language_encoder = LanguageEncoder(size)
        self.clip_level_fusion = Fusion(size)
        self.masked_attention_pooling = MomentPooling(size.hidden, spans, size.clips)
        repeated = nn.Sequential(nn.Conv2d(size.hidden, size.hidden, 1), nn.ReLU())
        first = nn.Sequential(nn.Conv2d(size.hidden, size.hidden, 1), nn.ReLU())
        self.convs_pred = nn.ModuleList([first] + [repeated] * (size.stack - 1))
        self.iou = nn.Conv2d(size.hidden, 1, 1)
        table = map_positions(size.hidden, size.clips)[:, spans[:, 0], spans[:, 1] - 1]
        self.register_buffer("positions", table, persistent=False)

    def encode_video(self, frames: Tensor) -> Tensor:
        """Windows [B, W, dim] → [B, D, N]. A clip is its first frame: the official average pooling has kernel 1."""
        first_frames = frames[:, :: frames.shape[1] // self.size.clips]
        video = self.feat_pool(first_frames.transpose(1, 2))
        for block in self.context_aggregator:
            video = block(video)
        return video

    def encode_query(self, tokens: Tensor) -> Tensor:
        """Token features [B, L, dim] → [B, D, L]."""
        return self.language_encoder(tokens)

    def score(self, video: Tensor, query: Tensor, words: Tensor) -> Tensor:
        """Encoded windows [B, D, N] and queries [B, D, L] with words [B, L] → logits of the anchors [B, A]."""
        video, query = self.clip_level_fusion(video, query, words)
        moments = self.masked_attention_pooling(video, query, words) + self.positions
        moments = moments[:, :, None]  # [B, D, 1, A]: kernels of size 1 do not see the other axis
        for layer in self.convs_pred:
            moments = layer(moments)
        return self.iou(moments)[:, 0, 0]

    def forward(self, frames: Tensor, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Windows [B, W, dim], padded token features [B, L, dim] with `lengths` [B] → logits [B, A]."""
        words = torch.arange(tokens.shape[1], device=tokens.device) < lengths[:, None]
        return self.score(self.encode_video(frames), self.encode_query(tokens), words)


def map_positions(width: int, clips: int) -> Tensor:
    """Sine-cosine codes of the two-dimensional map, [width, clips, clips]: the second axis, an anchor's last
    clip, in the first half of the channels, its first clip in the rest."""
    half = width // 2
    rate = torch.exp(torch.arange(0, half, 2).float() * -(math.log(10000.0) / half))
    angles = torch.arange(clips).float()[:, None] * rate
    code = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1).T[:half]  # [half, clips]
    first, second = code[:, :, None].expand(-1, -1, clips), code[:, None].expand(-1, clips, -1)
    return torch.cat([second, first])


def scaled_targets(overlaps: Tensor) -> Tensor:
    """Training targets of IoUs [...], of their shape: 0 up to 0.1, linear beyond."""
    return ((overlaps - 0.1) / 0.9).clamp(0, 1)


def anchor_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Binary cross-entropy, mean over anchors and batch: logits and targets [B, A]."""
    return binary_cross_entropy_with_logits(logits, targets)
