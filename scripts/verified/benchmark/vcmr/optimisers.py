"""The two optimisers of the official codes, and their learning rate curves.

Both decay weights apart from the gradient, and leave out parameters whose names contain "bias" or "LayerNorm.weight"
(case matters: ReLoCLNet's `video_cross_layernorm.weight` is decayed). The training loop sets each group's `lr`.
"""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

UNDECAYED = ("bias", "LayerNorm.weight")


def parameter_groups(parameters: Iterable[tuple[str, nn.Parameter]], weight_decay: float) -> list[dict]:
    """Two groups, with and without decay, from named parameters."""
    decayed, undecayed = [], []
    for name, parameter in parameters:
        (undecayed if any(word in name for word in UNDECAYED) else decayed).append(parameter)
    return [
        {"params": decayed, "weight_decay": weight_decay},
        {"params": undecayed, "weight_decay": 0.0},
    ]


class BertAdam(torch.optim.Optimizer):
    """Adam as in BERT's first PyTorch port: no bias correction, and each tensor's gradient clipped to norm 1.

    Update: p ← p − lr · (m / (√v + 1e-6) + decay · p).
    """

    def __init__(self, groups: list[dict], lr: float, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-6):
        super().__init__(groups, {"lr": lr, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self, closure=None) -> None:
        for parameter, group, state in _with_gradients(self):
            gradient = parameter.grad
            norm = gradient.norm()
            gradient = gradient * torch.clamp(1.0 / (norm + 1e-6), max=1.0)
            mean, square = _moments(state, gradient, group["betas"])
            update = mean / (square.sqrt() + group["eps"])
            update.add_(parameter, alpha=group["weight_decay"])
            parameter.sub_(update, alpha=group["lr"])


class AdamW(torch.optim.Optimizer):
    """Adam with bias correction; eps 1e-6 outside the root of the uncorrected second moment; decay after the step."""

    def __init__(self, groups: list[dict], lr: float, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-6):
        super().__init__(groups, {"lr": lr, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self, closure=None) -> None:
        for parameter, group, state in _with_gradients(self):
            mean, square = _moments(state, parameter.grad, group["betas"])
            state["step"] = state.get("step", 0) + 1
            first, second = (1.0 - beta ** state["step"] for beta in group["betas"])
            parameter.addcdiv_(mean, square.sqrt().add_(group["eps"]), value=-group["lr"] * second**0.5 / first)
            parameter.sub_(parameter, alpha=group["lr"] * group["weight_decay"])


def _with_gradients(optimiser: torch.optim.Optimizer):
    for group in optimiser.param_groups:
        for parameter in group["params"]:
            if parameter.grad is not None:
                yield parameter, group, optimiser.state[parameter]


def _moments(state: dict, gradient: Tensor, betas: tuple[float, float]) -> tuple[Tensor, Tensor]:
    if "mean" not in state:
        state["mean"], state["square"] = torch.zeros_like(gradient), torch.zeros_like(gradient)
    state["mean"].lerp_(gradient, 1.0 - betas[0])
    state["square"].mul_(betas[1]).addcmul_(gradient, gradient, value=1.0 - betas[1])
    return state["mean"], state["square"]


def linear_multiplier(step: int, total: int, warmup: float, floor: float = 0.0) -> float:
    """Share of the peak rate at `step` of `total`: rises over the first `warmup` (a share of all), then falls to 0.

    BertAdam counts steps from 0 (its first update has rate 0), HERO's AdamW from 1 (with a floor of 1e-8).
    """
    progress = step / total
    if progress < warmup:
        return max(progress / warmup, floor)
    return max((1.0 - progress) / (1.0 - warmup), floor)
