"""The decoder of DAB-DETR in one dimension, as QD-DETR and CG-DETR use it: queries are windows, refined layer by layer.

K moment queries start as learned windows (centre, width) and a content of zeros. Each layer lets the contents see each
other, then the clips around their window, and moves the window by what the content says. State-dict keys are those of
the authors' codes. N pairs, L clips, D hidden size.
"""

from math import pi

import torch
from torch import Tensor, nn

from verified.benchmark.vcmr.detr_layers import BareAttention, Mlp, drop_paths, sines
from verified.nn.layers import Dropout, Layers

NARROWEST = 1e-6
"""Least width that the scale of a window's sines is divided by."""


def inverse_sigmoid(x: Tensor, least: float = 1e-3) -> Tensor:
    """log(x / (1 − x)) of numbers from 0 to 1 [...], x and 1 − x being at least `least`; [...] → [...]."""
    return (x.clamp(min=least) / (1 - x).clamp(min=least)).log()


class DecoderLayer(nn.Module):
    """Self-attention of the queries, attention to clips by content and by place, feed-forward; post-norm."""

    def __init__(self, hidden: int, heads: int, feed_forward: int, dropout: float, first: bool):
        super().__init__()
        self.heads, self.path_dropout = heads, dropout
        self.sa_qcontent_proj, self.sa_qpos_proj = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.sa_kcontent_proj, self.sa_kpos_proj = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.sa_v_proj = nn.Linear(hidden, hidden)
        self.self_attn = BareAttention(hidden, heads, dropout)
        self.ca_qcontent_proj, self.ca_qpos_sine_proj = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.ca_kcontent_proj, self.ca_kpos_proj = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.ca_v_proj = nn.Linear(hidden, hidden)
        self.ca_qpos_proj = nn.Linear(hidden, hidden) if first else None
        self.cross_attn = BareAttention(hidden, heads, dropout)
        self.linear1, self.linear2 = nn.Linear(hidden, feed_forward), nn.Linear(feed_forward, hidden)
        self.activation, self.dropout = nn.PReLU(), Dropout(dropout)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(hidden) for _ in range(3))
        if first:  # contents begin as zeros, so these maps are never read
            for unread in (self.sa_qcontent_proj, self.sa_kcontent_proj, self.sa_v_proj):
                unread.weight.requires_grad_(False)

    def forward(self, x: Tensor, clips: Tensor, mask: Tensor, positions: Tensor, place: Tensor, sine: Tensor) -> Tensor:
        """Contents and places [N, K, D] of the queries, clips and their positions [N, L, D], mask → [N, K, D].

        `place` is learned from the window, `sine` its sines, scaled.
        """
        query = self.sa_qcontent_proj(x) + self.sa_qpos_proj(place)
        key = self.sa_kcontent_proj(x) + self.sa_kpos_proj(place)
        everything = torch.ones(x.shape[:2], dtype=torch.bool, device=x.device)
        seen = self.self_attn.combine(self.self_attn.shares(query, key, everything), self.sa_v_proj(x))
        x = self.norm1(self._joined(x, seen))
        query, key, where = self.ca_qcontent_proj(x), self.ca_kcontent_proj(clips), self.ca_kpos_proj(positions)
        if self.ca_qpos_proj is not None:
            query, key = query + self.ca_qpos_proj(place), key + where
        query, key = self._side_by_side(query, self.ca_qpos_sine_proj(sine)), self._side_by_side(key, where)
        seen = self.cross_attn.combine(self.cross_attn.shares(query, key, mask), self.ca_v_proj(clips))
        x = self.norm2(self._joined(x, seen))
        return self.norm3(self._joined(x, self.linear2(self.dropout(self.activation(self.linear1(x))))))

    def _joined(self, x: Tensor, branch: Tensor) -> Tensor:
        return x + drop_paths(branch, self.path_dropout, self.training)

    def _side_by_side(self, content: Tensor, place: Tensor) -> Tensor:
        """Concatenate content and position in each head; twice [N, S, D] → [N, S, 2D]."""
        return torch.cat([x.unflatten(2, (self.heads, -1)) for x in (content, place)], dim=3).flatten(2)


class WindowDecoder(nn.Module):
    """See the head of this file."""

    def __init__(self, layers: int, hidden: int, heads: int, feed_forward: int, dropout: float):
        super().__init__()
        widths = (hidden, heads, feed_forward, dropout)
        self.layers = Layers(DecoderLayer(*widths, first=number == 0) for number in range(layers))
        self.query_scale, self.ref_point_head = (Mlp(hidden, hidden, hidden, 2) for _ in range(2))
        self.bbox_embed, self.ref_anchor_head = Mlp(hidden, hidden, 2, 3), Mlp(hidden, hidden, 1, 2)
        self.norm = nn.LayerNorm(hidden)
        self.half_width = hidden // 2

    def forward(self, clips: Tensor, mask: Tensor, positions: Tensor, windows: Tensor) -> tuple[Tensor, Tensor]:
        """Contents [layers, N, K, D] after each layer, and the windows [layers, N, K, 2] that each one was given.

        `windows` [K, 2] are centre and width before a sigmoid; those that come out are shares of the video.
        """
        reference = windows.sigmoid().expand(len(clips), -1, -1)
        x = clips.new_zeros(*reference.shape[:2], clips.shape[2])
        contents, given = [], [reference]
        for number, layer in enumerate(self.layers):
            sine = torch.cat([sines(reference[..., side] * 2 * pi, self.half_width) for side in range(2)], dim=2)
            place = self.ref_point_head(sine)
            sine = sine * self.query_scale(x) if number else sine
            sine = sine * (self.ref_anchor_head(x).sigmoid() / reference[..., 1:].clamp(min=NARROWEST))
            x = layer(x, clips, mask, positions, place, sine)
            contents.append(self.norm(x))
            moved = (self.bbox_embed(x) + inverse_sigmoid(reference)).sigmoid()
            given.append(moved)
            reference = moved.detach()
        return torch.stack(contents), torch.stack(given[:-1])
