"""VLG-Net with the changes for long movies (MAD, appendix A.2): one window of clips against one sentence.

Differences from the official code, each covered by a test:
- scores are computed for the anchors alone; the two-dimensional map has zeros elsewhere and kernels of size 1, so that
  nothing outside an anchor reaches it (same numbers);
- distances between clips are computed from differences, not from a matrix product, whose float32 error reaches 1e-4 and
  turns over which neighbour is nearer;
- neighbours are fetched by `gather: as_released | correct`; see `vlg_graphs`.

Weights carry the official names, so that a published state dictionary loads as it is.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from verified_longform.vlg_graphs import FAR, Gather, GCNeXt, GraphMatching


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

    The sentence shifts all clips' logits alike and the softmax removes it: the weights behind it get no gradient. That
    is the published behaviour.
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


def scaled_targets(overlaps: Tensor, low: float = 0.1, high: float = 1.0) -> Tensor:
    """Training targets of IoUs [...], of their shape: 0 up to `low`, 1 from `high`, linear in between."""
    return ((overlaps - low) / (high - low)).clamp(0, 1)


def anchor_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Binary cross-entropy, mean over anchors and batch: logits and targets [B, A]."""
    return binary_cross_entropy_with_logits(logits, targets)
