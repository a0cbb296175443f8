"""AdamW and its schedule, with UMT's settings."""

import math

import torch
from torch import nn

WEIGHT_DECAY = 0.02
FLOOR = 0.01
"""Smallest learning rate, as a share of the peak."""


def adamw(model: nn.Module, learning_rate: float) -> torch.optim.AdamW:
    """AdamW, betas (0.9, 0.999), weight decay 0.02, none for biases and other one-dimensional tensors.

    The scalar temperature has no dimension, so UMT's rule misses it and it does decay; kept.
    """
    plain, bare = [], []
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            (bare if parameter.ndim == 1 or name.endswith(".bias") else plain).append(parameter)
    groups = [{"params": plain, "weight_decay": WEIGHT_DECAY}, {"params": bare, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=learning_rate, betas=(0.9, 0.999))


def rate_share(step: int, steps: int, warmup: int) -> float:
    """Learning rate of step `step` (from 0) as a share of the peak: linear warm-up, then a cosine down to 0.01."""
    if step < warmup:
        return FLOOR + (1 - FLOOR) * step / warmup
    progress = (step - warmup) / max(1, steps - warmup)
    return FLOOR + (1 - FLOOR) * (1 + math.cos(math.pi * progress)) / 2


def set_rate(optimiser: torch.optim.Optimizer, rate: float) -> None:
    """Set the learning rate of all groups."""
    for group in optimiser.param_groups:
        group["lr"] = rate
