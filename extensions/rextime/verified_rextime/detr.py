"""Layers of the DETR family (Moment-DETR and its successors), whose positions are added to queries and keys alone.

State-dict keys are those of the authors' codes (``self_attn.in_proj_weight`` … ``norm2.bias``). N sequences, S
positions, D hidden size; masks are bool, true for real positions.
"""

from itertools import pairwise
from math import pi

import torch
from torch import Tensor, nn

from verified.nn.layers import Dropout, Layers


def sines(angle: Tensor, size: int) -> Tensor:
    """Sine and cosine, in turn, of an angle divided by 10000^(2i/size); [...] → [..., size]."""
    period = 10000 ** (torch.arange(0, size, 2, device=angle.device, dtype=angle.dtype) / size)
    angle = angle.unsqueeze(-1) / period
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)


def sine_positions(mask: Tensor, hidden: int) -> Tensor:
    """Sines and cosines of the place in a video of any length, whose end is at 2π; [N, S] → [N, S, D].

    Element 2i is sin(2π · n / (N + 1e-6) / 10000^(2i/D)) of the n-th of N real positions, element 2i + 1 its cosine.
    """
    place = mask.cumsum(dim=1, dtype=torch.float32)
    return sines(place / (place[:, -1:] + 1e-6) * 2 * pi, hidden)


def drop_paths(x: Tensor, share: float, training: bool) -> Tensor:
    """A branch of a residual layer, dropped for whole sequences with probability `share` while training; [N, S, D]."""
    if not training or share == 0:
        return x
    mask = torch.rand(len(x), 1, 1, device=x.device) >= share
    return x * mask.to(x.dtype) / (1 - share)


class PositionedLayer(nn.Module):
    """Post-norm layer of an encoder: LN(x + MultiHead(x + p, x + p, x)), then LN(x + W_2 · dropout(act(W_1 · x))).

    `dropout` is that of the attention, `inner_dropout` that before W_2, `path_dropout` the share of sequences that a
    branch leaves out. Without a given activation it is GELU.
    """

    def __init__(
        self,
        hidden: int,
        heads: int,
        feed_forward: int,
        dropout: float,
        path_dropout: float,
        inner_dropout: float = 0.0,
        activation: nn.Module | None = None,
    ):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(hidden, heads, dropout=dropout, batch_first=True)
        self.linear1, self.linear2 = nn.Linear(hidden, feed_forward), nn.Linear(feed_forward, hidden)
        self.norm1, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.activation, self.dropout = activation or nn.GELU(), Dropout(inner_dropout)
        self.path_dropout = path_dropout

    def forward(self, x: Tensor, mask: Tensor, positions: Tensor) -> Tensor:
        """[N, S, D], [N, S] and [N, S, D] → [N, S, D]."""
        placed = x + positions
        attended, _ = self.self_attn(placed, placed, x, key_padding_mask=~mask, need_weights=False)
        x = self.norm1(x + drop_paths(attended, self.path_dropout, self.training))
        changed = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return self.norm2(x + drop_paths(changed, self.path_dropout, self.training))


class BareAttention(nn.Module):
    """Multi-head attention without maps of queries, keys and values; one of its output, key ``out_proj``."""

    def __init__(self, hidden: int, heads: int, dropout: float):
        super().__init__()
        self.heads, self.dropout = heads, Dropout(dropout)
        self.out_proj = nn.Linear(hidden, hidden)
        nn.init.zeros_(self.out_proj.bias)

    def shares(self, query: Tensor, key: Tensor, mask: Tensor) -> Tensor:
        """Attention of each query to each key, in each head; [N, Q, E], [N, S, E], [N, S] → [N, heads, Q, S]."""
        queries, keys = (self._split(x) for x in (query, key))
        scores = queries @ keys.transpose(2, 3) / queries.shape[3] ** 0.5
        return self.dropout(scores.masked_fill(~mask[:, None, None], float("-inf")).softmax(dim=3))

    def combine(self, shares: Tensor, value: Tensor) -> Tensor:
        """The output for shares of values; [N, heads, Q, S] and [N, S, D] → [N, Q, D]."""
        return self.out_proj((shares @ self._split(value)).transpose(1, 2).flatten(2))

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(2, (self.heads, -1)).transpose(1, 2)


class Mlp(nn.Module):
    """Linear maps with ReLU between; [..., in] → [..., out]. Keys ``layers.N``."""

    def __init__(self, size_in: int, hidden: int, size_out: int, layers: int):
        super().__init__()
        sizes = [size_in, *[hidden] * (layers - 1), size_out]
        self.layers = Layers(nn.Linear(*pair) for pair in pairwise(sizes))

    def forward(self, x: Tensor) -> Tensor:
        *others, last = self.layers
        for layer in others:
            x = layer(x).relu()
        return last(x)


def xavier(module: nn.Module) -> None:
    """Glorot's uniform weights for every matrix of a module, in place, as the family's transformers begin with."""
    for parameter in module.parameters():
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter)


NARROWEST = 1e-6
"""Least width that the scale of a window's sines is divided by."""


def inverse_sigmoid(x: Tensor) -> Tensor:
    """log(x / (1 − x)) of numbers from 0 to 1 [...], x and 1 − x being at least a thousandth; [...] → [...]."""
    return (x.clamp(min=1e-3) / (1 - x).clamp(min=1e-3)).log()


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
        if first:  # contents are zeros initially, so these maps are never read
            for unread in (self.sa_qcontent_proj, self.sa_kcontent_proj, self.sa_v_proj):
                unread.weight.requires_grad_(False)

    def forward(self, x: Tensor, clips: Tensor, mask: Tensor, positions: Tensor, place: Tensor, sine: Tensor) -> Tensor:
        """Contents and places [N, K, D] of the queries, clips and their positions [N, L, D], mask → [N, K, D].

        `place` is learned from the window, `sine` its sines, scaled.
        """
        query = self.sa_qcontent_proj(x) + self.sa_qpos_proj(place)
        key = self.sa_kcontent_proj(x) + self.sa_kpos_proj(place)
        everything = torch.ones(x.shape[:2], dtype=torch.bool, device=x.device)
        context = self.self_attn.combine(self.self_attn.shares(query, key, everything), self.sa_v_proj(x))
        x = self.norm1(self._joined(x, context))
        query, key, location = self.ca_qcontent_proj(x), self.ca_kcontent_proj(clips), self.ca_kpos_proj(positions)
        if self.ca_qpos_proj is not None:
            query, key = query + self.ca_qpos_proj(place), key + location
        query, key = self._side_by_side(query, self.ca_qpos_sine_proj(sine)), self._side_by_side(key, location)
        context = self.cross_attn.combine(self.cross_attn.shares(query, key, mask), self.ca_v_proj(clips))
        x = self.norm2(self._joined(x, context))
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

        `windows` [K, 2] are centre and width before a sigmoid; the returned ones are shares of the video.
        """
        reference = windows.sigmoid().expand(len(clips), -1, -1)
        x = clips.new_zeros(*reference.shape[:2], clips.shape[2])
        contents, references = [], [reference]
        for number, layer in enumerate(self.layers):
            sine = torch.cat([sines(reference[..., side] * 2 * pi, self.half_width) for side in range(2)], dim=2)
            place = self.ref_point_head(sine)
            sine = sine * self.query_scale(x) if number else sine
            sine = sine * (self.ref_anchor_head(x).sigmoid() / reference[..., 1:].clamp(min=NARROWEST))
            x = layer(x, clips, mask, positions, place, sine)
            contents.append(self.norm(x))
            moved = (self.bbox_embed(x) + inverse_sigmoid(reference)).sigmoid()
            references.append(moved)
            reference = moved.detach()
        return torch.stack(contents), torch.stack(references[:-1])


def generalised_iou(first: Tensor, second: Tensor) -> Tensor:
    """IoU minus the share of the hull outside both; spans [..., 2] that broadcast, start ≤ end → [...].

    From −1, far apart, to 1, equal (Rezatofighi et al., CVPR 2019, in one dimension). At least one span has a positive
    length.
    """
    shared = (torch.minimum(first[..., 1], second[..., 1]) - torch.maximum(first[..., 0], second[..., 0])).clamp(min=0)
    union = (first[..., 1] - first[..., 0]) + (second[..., 1] - second[..., 0]) - shared
    hull = torch.maximum(first[..., 1], second[..., 1]) - torch.minimum(first[..., 0], second[..., 0])
    return shared / union - (hull - union) / hull
