"""New low-rank adapters of linear layers (LoRA, Hu et al., ICLR 2022): W x becomes W x + (alpha / rank) B A x.

W is frozen; A and B are trained. B begins as zeros, so that new adapters change nothing; A is drawn uniformly within 1
/ √inputs, as in the authors' code, which the papers of video LMMs build upon.
"""

from collections.abc import Iterable, Mapping
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from verified.errors import InputError
from verified.runtime.seeds import derive_seed


class LowRank(nn.Module):
    """The adapter of one layer: `down` (A) [rank, inputs] and `up` (B) [outputs, rank], float32."""

    def __init__(self, inputs: int, outputs: int, rank: int, alpha: float, seed: int):
        super().__init__()
        draw = torch.Generator().manual_seed(seed)
        self.down = nn.Parameter((2 * torch.rand(rank, inputs, generator=draw) - 1) / inputs**0.5)
        self.up = nn.Parameter(torch.zeros(outputs, rank))
        self.scale = alpha / rank

    def forward(self, x: Tensor) -> Tensor:
        """Correction of the layer's output [..., outputs] for its input [..., inputs], in the input's format."""
        down, up = (weight.to(x.dtype) for weight in (self.down, self.up))
        return functional.linear(functional.linear(x, down), up) * self.scale


def linear_layers(network: nn.Module, targets: Iterable[str]) -> dict[str, nn.Linear]:
    """The linear layers of a network whose last name is a target, by their full name.

    Raises InputError for a target without a layer.
    """
    targets = tuple(targets)
    layers = {name: layer for name, layer in network.named_modules() if isinstance(layer, nn.Linear)}
    own = {name: name.rpartition(".")[2] for name in layers}
    if missing := sorted(set(targets) - set(own.values())):
        raise InputError(
            f"the network has no linear layer called {missing[0]!r}",
            remedy=f"name some of these as targets: {', '.join(sorted(set(own.values())))}",
        )
    return {name: layer for name, layer in layers.items() if own[name] in targets}


def attach(network: nn.Module, layers: Mapping[str, nn.Linear], rank: int, alpha: float, seed: int) -> nn.ModuleDict:
    """New adapters of these layers of a network, which is frozen; they are active from now on.

    They have the names of their layers, with slashes in place of full stops.
    """
    network.requires_grad_(False)
    adapters = nn.ModuleDict()
    for name, layer in layers.items():
        adapter = LowRank(layer.in_features, layer.out_features, rank, alpha, derive_seed(seed, "adapter", name))
        layer.register_forward_hook(partial(_add, adapter.to(layer.weight.device)))
        adapters[name.replace(".", "/")] = adapter
    return adapters


def _add(adapter: LowRank, _layer: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
    return output + adapter(inputs[0])
