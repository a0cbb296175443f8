"""Layers of the DETR family (Moment-DETR and what follows it), whose positions are added to queries and keys alone.

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
    kept = torch.rand(len(x), 1, 1, device=x.device) >= share
    return x * kept.to(x.dtype) / (1 - share)


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
