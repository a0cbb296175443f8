"""The optimisers of the official codes, and their learning rate curves. The training loop sets each group's `lr`.

All decay weights apart from the gradient, and leave out some: see `parameter_groups`.
"""

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn

Undecayed = Callable[[str, nn.Parameter], bool]


def bias_or_norm(name: str, parameter: nn.Parameter) -> bool:
    """Parameters that the TVR family does not decay: "bias" or "LayerNorm.weight" in a name.

    Case matters: ReLoCLNet's `video_cross_layernorm.weight` is decayed.
    """
    return "bias" in name or "LayerNorm.weight" in name


def one_dimensional(name: str, parameter: nn.Parameter) -> bool:
    """Parameters that UMT does not decay. Its rule misses the scalar temperature, which has no dimension and does
    decay."""
    return parameter.ndim == 1 or name.endswith(".bias")


def parameter_groups(
    parameters: Iterable[tuple[str, nn.Parameter]], weight_decay: float, undecayed: Undecayed = bias_or_norm
) -> list[dict[str, Any]]:
    """Two groups, with and without decay, of the named parameters that are trained."""
    groups: tuple[list[nn.Parameter], list[nn.Parameter]] = [], []
    for name, parameter in parameters:
        if parameter.requires_grad:
            groups[undecayed(name, parameter)].append(parameter)
    return [{"params": groups[0], "weight_decay": weight_decay}, {"params": groups[1], "weight_decay": 0.0}]


class BertAdam(torch.optim.Optimizer):
    """Adam as in BERT's first PyTorch port: no bias correction, and each tensor's gradient clipped to norm 1.

    Update: p ← p − lr · (m / (√v + 1e-6) + decay · p).
    """

    def __init__(
        self, groups: list[dict[str, Any]], lr: float, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-6
    ):
        super().__init__(groups, {"lr": lr, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] (no closures)
        for group in self.param_groups:
            (first, second), rate, decay = group["betas"], group["lr"], group["weight_decay"]
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                state = self.state[parameter]
                if not state:
                    state["mean"], state["square"] = torch.zeros_like(parameter), torch.zeros_like(parameter)
                scale = (parameter.grad.norm() + 1e-6).reciprocal().clamp(max=1.0)
                gradient = parameter.grad * scale
                state["mean"].lerp_(gradient, 1.0 - first)
                state["square"].mul_(second).addcmul_(gradient, gradient, value=1.0 - second)
                update = state["mean"] / state["square"].sqrt().add_(group["eps"])
                parameter.sub_(update.add_(parameter, alpha=decay), alpha=rate)


def linear_multiplier(step: int, total: int, warmup: float, floor: float = 0.0) -> float:
    """Share of the peak rate at `step` of `total`: rises over the first `warmup` (a share of all), then falls to 0.

    BertAdam counts steps from 0 (its first update has rate 0), HERO's AdamW from 1 (with a floor of 1e-8).
    """
    progress = step / total
    if progress < warmup:
        return max(progress / warmup, floor)
    return max((1.0 - progress) / (1.0 - warmup), floor)


def cosine_multiplier(step: int, total: int, warmup: float, floor: float = 0.01) -> float:
    """Share of the peak rate at `step` (from 0) of `total`: up from the floor in `warmup` steps, then half a cosine."""
    if step < warmup:
        return floor + (1 - floor) * step / warmup
    progress = (step - warmup) / max(1, total - warmup)
    return floor + (1 - floor) * (1 + math.cos(math.pi * progress)) / 2
