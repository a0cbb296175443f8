"""Layers of the DETR family (Moment-DETR and what follows it), whose positions are added to queries and keys alone.

State-dict keys are those of the authors' codes (``self_attn.in_proj_weight`` … ``norm2.bias``). N sequences, S
positions, D hidden size; masks are bool, true for real positions.
"""

from math import pi

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def sine_positions(mask: Tensor, hidden: int) -> Tensor:
    """Sines and cosines of the place in a video whose end lies at 2π, whatever its length; [N, S] → [N, S, D].

    Element 2i is sin(2π · n / (N + 1e-6) / 10000^(2i/D)) of the n-th of N real positions, element 2i + 1 its cosine.
    """
    place = mask.cumsum(dim=1, dtype=torch.float32)
    place = place / (place[:, -1:] + 1e-6) * 2 * pi
    period = 10000 ** (torch.arange(0, hidden, 2, device=mask.device, dtype=torch.float32) / hidden)
    angle = place.unsqueeze(2) / period
    return torch.stack([angle.sin(), angle.cos()], dim=3).flatten(2)


def drop_paths(x: Tensor, share: float, training: bool) -> Tensor:
    """A branch of a residual layer, left out of whole sequences with probability `share` while training; [N, S, D]."""
    if not training or share == 0:
        return x
    kept = torch.rand(len(x), 1, 1, device=x.device) >= share
    return x * kept.to(x.dtype) / (1 - share)


class PositionedLayer(nn.Module):
    """Post-norm layer of an encoder: LN(x + MultiHead(x + p, x + p, x)), then LN(x + W_2 · GELU(W_1 · x)).

    `path_dropout` is the share of sequences that a branch leaves out.
    """

    def __init__(self, hidden: int, heads: int, feed_forward: int, dropout: float, path_dropout: float):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(hidden, heads, dropout=dropout, batch_first=True)
        self.linear1, self.linear2 = nn.Linear(hidden, feed_forward), nn.Linear(feed_forward, hidden)
        self.norm1, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.path_dropout = path_dropout

    def forward(self, x: Tensor, mask: Tensor, positions: Tensor) -> Tensor:
        """[N, S, D], [N, S] and [N, S, D] → [N, S, D]."""
        placed = x + positions
        attended, _ = self.self_attn(placed, placed, x, key_padding_mask=~mask, need_weights=False)
        x = self.norm1(x + drop_paths(attended, self.path_dropout, self.training))
        changed = self.linear2(F.gelu(self.linear1(x)))
        return self.norm2(x + drop_paths(changed, self.path_dropout, self.training))


def xavier(module: nn.Module) -> None:
    """Glorot's uniform weights for every matrix of a module, in place, as the family's transformers begin with."""
    for parameter in module.parameters():
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter)
