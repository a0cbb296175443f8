"""Linear maps of float32 on an AMD processor by oneDNN instead of MKL.

PyTorch uses MKL for float32 matrix products on x86. oneDNN, in the same build, takes half as long on an AMD EPYC
(`benchmarks/networks.py`); on an Intel Xeon a training step is 8 to 11 % slower by it. So the processor's maker
decides, and not a measurement, which a busy machine would turn round: the same machine always gives the same bytes.
The results differ by rounding alone. Nothing else changes: names and values of parameters, other devices, autocast and
other number formats are PyTorch's.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import FunctionCtx, once_differentiable

from verified.nn.modules import Net
from verified.runtime.processor import AMD, vendor

HAS_ONEDNN = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")
BY_ONEDNN = HAS_ONEDNN and vendor() == AMD
LEAST_WEIGHTS = 2**16
"""Smaller maps stay with PyTorch: the call costs what the product saves. The number of rows does not matter."""


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x Wᵀ + b; [..., in], [out, in] and [out] → [..., out]. As `torch.nn.functional.linear`, with its errors."""
    if not (BY_ONEDNN and x.device.type == weight.device.type == "cpu" and x.dtype == weight.dtype == torch.float32):
        return F.linear(x, weight, bias)
    if weight.numel() < LEAST_WEIGHTS or not x.numel() or torch.is_autocast_enabled("cpu"):
        return F.linear(x, weight, bias)
    if weight.dim() != 2 or x.shape[-1:] != weight.shape[1:]:  # for PyTorch to name
        return F.linear(x, weight, bias)
    if torch.is_grad_enabled() and (x.requires_grad or weight.requires_grad):
        return _Linear.apply(  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] (not annotated)
            x, weight, bias
        )
    return _product(x, weight, bias)


def _product(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    return torch.ops.mkldnn._linear_pointwise(_dense(x), _dense(weight), bias, "none", [], "")


def _dense(matrix: Tensor) -> Tensor:
    """The same numbers without gaps between rows or columns, for which oneDNN's fallback is a thousand times slower."""
    if matrix.is_contiguous() or (matrix.dim() == 2 and matrix.T.is_contiguous()):
        return matrix
    return matrix.contiguous()


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        return _product(x, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride] (the decorator hides the name of `ctx`)
        ctx: Any, *gradients: Tensor
    ) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        (gradient,), (x, weight) = gradients, ctx.saved_tensors
        to_x, to_weight, to_bias = ctx.needs_input_grad
        rows, inputs = gradient.reshape(-1, len(weight)), x.reshape(-1, weight.shape[1])
        return (
            _product(gradient, weight.T, None) if to_x else None,
            _product(rows.T, inputs.T, None) if to_weight else None,
            rows.sum(0) if to_bias else None,
        )


class Linear(nn.Linear):
    """`torch.nn.Linear` whose product is `linear`; same parameters, names and initial values."""

    def forward(self, input: Tensor) -> Tensor:
        return linear(input, self.weight, self.bias)


def through_onednn(model: Net) -> Net:
    """Have every plain `nn.Linear` inside `model` compute by `linear`, in place; returns the model."""
    for module in model.modules():
        if type(module) is nn.Linear:
            module.__class__ = Linear
    return model


def library(model: nn.Module) -> str:
    """Who multiplies the linear maps of `model` on this machine: "oneDNN" where one is wide enough, else "PyTorch"."""
    wide = any(isinstance(module, Linear) and module.weight.numel() >= LEAST_WEIGHTS for module in model.modules())
    return "oneDNN" if BY_ONEDNN and wide else "PyTorch"
