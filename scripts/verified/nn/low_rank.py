"""Low-rank adapters of linear layers (LoRA, Hu et al., ICLR 2022) in a model: W becomes W + (alpha / rank) B A.

The file of a fine-tuned model contains A and B with a card: ``base_model, revision, rank, alpha, targets, seed`` and
more facts of the training.
"""

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor, nn

from verified.errors import InputError
from verified.nn.checkpoint import Form, load

FORM = Form("low-rank adapters", 1, "fine-tune the model again")


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
