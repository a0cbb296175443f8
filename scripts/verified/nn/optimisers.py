"""The optimisers of the official codes, and their learning rate curves. The training loop sets each group's `lr`.

All decay weights apart from the gradient, and leave out some: see `parameter_groups`. A step is a few calls over lists
of tensors, tensor by tensor the same arithmetic: of a narrow model's step, calls from Python are a large part.
"""

# Operations on lists of tensors have private names in torch, which its own optimisers use.
# pyright: reportPrivateUsage=false, reportPrivateImportUsage=false

import inspect
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

Undecayed = Callable[[str, nn.Parameter], bool]

# torch has these methods import its compiler before they first run, so that it leaves them out: a second of every
# training, and nothing here is compiled.
for _method in ("add_param_group", "zero_grad", "state_dict", "load_state_dict"):
    _plain: Any = inspect.unwrap(getattr(torch.optim.Optimizer, _method))
    _plain.__dynamo_disable = _plain


def bias_or_norm(name: str, parameter: nn.Parameter) -> bool:
    """What the TVR family does not decay: "bias" or "LayerNorm.weight" in a name.

    Case matters: ReLoCLNet's `video_cross_layernorm.weight` is decayed.
    """
    return "bias" in name or "LayerNorm.weight" in name


def one_dimensional(name: str, parameter: nn.Parameter) -> bool:
    """What UMT does not decay. Its rule misses the scalar temperature, which has no dimension and does decay."""
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
        for group, parameters, gradients, states in _groups_with_gradients(self):
            scales = torch._foreach_add(torch._foreach_norm(gradients), 1e-6)
            torch._foreach_reciprocal_(scales)
            torch._foreach_clamp_max_(scales, 1.0)
            means, squares = _moments(states, list(torch._foreach_mul(gradients, scales)), group["betas"])
            roots = torch._foreach_sqrt(squares)
            torch._foreach_add_(roots, group["eps"])
            updates = torch._foreach_div(means, roots)
            self._decay(parameters, list(updates), group["lr"], group["weight_decay"])

    @torch.no_grad()
    def decay(self, parameters: list[Tensor], rate: float, weight_decay: float) -> None:
        """What a step does to parameters that never had a gradient other than 0."""
        self._decay(parameters, [torch.zeros_like(parameter) for parameter in parameters], rate, weight_decay)

    @staticmethod
    def _decay(parameters: list[Tensor], updates: list[Tensor], rate: float, weight_decay: float) -> None:
        torch._foreach_add_(updates, parameters, alpha=weight_decay)
        torch._foreach_sub_(parameters, updates, alpha=rate)


class AdamW(torch.optim.Optimizer):
    """Adam with bias correction; eps 1e-6 outside the root of the uncorrected second moment; decay after the step."""

    def __init__(
        self, groups: list[dict[str, Any]], lr: float, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-6
    ):
        super().__init__(groups, {"lr": lr, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] (no closures)
        for group, parameters, gradients, states in _groups_with_gradients(self):
            means, squares = _moments(states, gradients, group["betas"])
            roots = torch._foreach_sqrt(squares)
            torch._foreach_add_(roots, group["eps"])
            rates: list[float] = []
            for state in states:
                state["step"] = state.get("step", 0) + 1
                first, second = (1.0 - beta ** state["step"] for beta in group["betas"])
                rates.append(-group["lr"] * second**0.5 / first)
            torch._foreach_addcdiv_(parameters, means, roots, rates)
            self.decay(parameters, group["lr"], group["weight_decay"])

    @torch.no_grad()
    def decay(self, parameters: list[Tensor], rate: float, weight_decay: float) -> None:
        """What a step does to parameters that never had a gradient other than 0."""
        torch._foreach_sub_(parameters, parameters, alpha=rate * weight_decay)


class DecayFirst(torch.optim.Optimizer):
    """`torch.optim.AdamW` to the byte: decay before the step, bias correction, eps outside the root.

    PyTorch's own imports its compiler before the first step. Its arithmetic is written out here as calls over lists.
    """

    def __init__(
        self, groups: list[dict[str, Any]], lr: float, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8
    ):
        super().__init__(groups, {"lr": lr, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] (no closures)
        for group, parameters, gradients, states in _groups_with_gradients(self):
            self.decay(parameters, group["lr"], group["weight_decay"])
            means, squares = _moments(states, gradients, group["betas"])
            rates: list[float] = []
            corrections: list[float] = []
            for state in states:
                state["step"] = state.get("step", 0) + 1
                first, second = (1.0 - beta ** state["step"] for beta in group["betas"])
                rates.append(-(group["lr"] / first))
                corrections.append(second**0.5)
            roots = torch._foreach_sqrt(squares)
            torch._foreach_div_(roots, corrections)
            torch._foreach_add_(roots, group["eps"])
            torch._foreach_addcdiv_(parameters, means, roots, rates)

    @torch.no_grad()
    def decay(self, parameters: list[Tensor], rate: float, weight_decay: float) -> None:
        """What a step does to parameters that never had a gradient other than 0."""
        torch._foreach_mul_(parameters, 1.0 - rate * weight_decay)


def _groups_with_gradients(
    optimiser: torch.optim.Optimizer,
) -> Iterator[tuple[dict[str, Any], list[Tensor], list[Tensor], list[dict[str, Any]]]]:
    """Each group with its parameters that have a gradient, these gradients, and the states of these parameters."""
    for group in optimiser.param_groups:
        parameters = [parameter for parameter in group["params"] if parameter.grad is not None]
        if parameters:
            gradients = [parameter.grad for parameter in parameters]
            yield group, parameters, gradients, [optimiser.state[parameter] for parameter in parameters]


def _moments(
    states: list[dict[str, Any]], gradients: list[Tensor], betas: tuple[float, float]
) -> tuple[list[Tensor], list[Tensor]]:
    """First and second moments [parameters] in `states`, brought up to date with the gradients."""
    for state, gradient in zip(states, gradients, strict=True):
        if "mean" not in state:
            state["mean"], state["square"] = torch.zeros_like(gradient), torch.zeros_like(gradient)
    means: list[Tensor] = [state["mean"] for state in states]
    squares: list[Tensor] = [state["square"] for state in states]
    torch._foreach_lerp_(means, gradients, 1.0 - betas[0])
    torch._foreach_mul_(squares, betas[1])
    torch._foreach_addcmul_(squares, gradients, gradients, 1.0 - betas[1])
    return means, squares


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
