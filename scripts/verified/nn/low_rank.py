"""Low-rank adapters of linear layers (LoRA, Hu et al., ICLR 2022): W x becomes W x + (alpha / rank) B A x.

W is frozen; A and B are trained. B begins as zeros, so that new adapters change nothing; A is drawn uniformly within 1
/ √inputs, as in the authors' code, which the papers of video LMMs build upon. The file of a fine-tuned model contains
them with a card: ``base_model, revision, rank, alpha, targets, seed`` and more facts of the training.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from verified.errors import InputError
from verified.io.jsonl import Row
from verified.nn.checkpoint import Form, load, save
from verified.runtime.seeds import derive_seed

FORM = Form("low-rank adapters", 1, "fine-tune the model again")


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


def merge(network: nn.Module, tensors: Mapping[str, Tensor], scale: float) -> None:
    """Add adapters into the weights of their layers: W becomes W + `scale` B A, rounded once to the format of W.

    `tensors` are the adapters' state, `scale` is alpha / rank. Raises ValueError for a layer that the network has not,
    or has in another shape; then some layers may be changed.
    """
    layers = dict(network.named_modules())
    for name in sorted({key.rpartition(".")[0] for key in tensors}):
        path = name.replace("/", ".")
        layer = layers.get(path)
        if not isinstance(layer, nn.Linear):
            raise ValueError(f"the network has no linear layer {path}")
        down, up = (tensors[f"{name}.{side}"].to(layer.weight.device, torch.float32) for side in ("down", "up"))
        if (up.shape[0], down.shape[1]) != tuple(layer.weight.shape) or up.shape[1] != down.shape[0]:
            raise ValueError(
                f"{path} is {list(layer.weight.shape)}, and the adapter {list(up.shape)} {list(down.shape)}"
            )
        with torch.no_grad():
            layer.weight.copy_(layer.weight.float() + scale * (up @ down))


def save_adapters(path: str | Path, tensors: Mapping[str, Tensor], card: Row) -> None:
    """Write the state of adapters with their card; equal ones give equal bytes."""
    save(path, FORM, tensors, card)


def merge_adapters(network: nn.Module, path: str | Path, model: str, revision: str) -> None:
    """Merge the adapters of a file into a network, which is this model at this revision.

    Raises InputError for a file without adapters, and for adapters of another model.
    """
    tensors, card = load(path, FORM)
    remedy = "fine-tune this model, or answer with the one that was fine-tuned"
    if (card.get("base_model"), card.get("revision")) != (model, revision):
        base = " ".join(filter(None, (str(card.get("base_model")), str(card.get("revision") or ""))))
        raise InputError(f"adapters of {base}, not of {model} {revision}".rstrip(), file=path, remedy=remedy)
    try:
        merge(network, tensors, float(card["alpha"]) / float(card["rank"]))
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise InputError(f"the adapters do not fit {model}: {error}", file=path, remedy=remedy) from None
