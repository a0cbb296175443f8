"""Dropout that draws sixteen random bits for an element, in a fraction of PyTorch's time on the CPU.

The share that is dropped is rounded to 1/65536 (0.1 becomes 0.100006), and the others are scaled by what that share
asks for. Draws come from PyTorch's generator, but are not those of PyTorch's own dropout.
"""

import torch
from torch import Tensor, nn

from verified.nn.linear import LEAST_WEIGHTS
from verified.nn.modules import Net

STEPS = 2**16


def dropout(x: Tensor, share: float) -> Tensor:
    """`x` [..., dim] with each element dropped (zero) with probability `share`, the others scaled up; on the CPU."""
    dropped = round(share * STEPS)
    if dropped in (0, STEPS):
        return x * (dropped == 0)
    words = torch.empty(-(-x.numel() // 4), dtype=torch.int64).random_(-(2**63), None)
    kept = words.view(torch.int16)[: x.numel()].view(x.shape) >= dropped - STEPS // 2
    return x * kept.to(x.dtype).mul_(STEPS / (STEPS - dropped))


class Dropout(nn.Dropout):
    """`torch.nn.Dropout` that is `dropout` in training on the CPU."""

    def forward(self, x: Tensor) -> Tensor:
        return dropout(x, self.p) if self.training and x.device.type == "cpu" else super().forward(x)


def use_quick_dropout(model: Net) -> Net:
    """Have every plain `nn.Dropout` inside a wide model draw by `dropout`, in place; returns the model.

    Wide is a model with a map that `nn.linear` takes to oneDNN; the others keep their draws.
    """
    if any(isinstance(module, nn.Linear) and module.weight.numel() >= LEAST_WEIGHTS for module in model.modules()):
        for module in model.modules():
            if type(module) is nn.Dropout:
                module.__class__ = Dropout
    return model
