"""Checkpoints of retrieval models: a header that rebuilds the model."""

from dataclasses import asdict
from pathlib import Path

import torch
from torch import Tensor

from verified.benchmark.vcmr.contract import RetrievalModel
from verified.benchmark.vcmr.registry import model_class
from verified.errors import InputError
from verified.nn.checkpoint import Form, fill, load, save

FORM = Form(
    "retrieval model",
    1,
    "train it again, or import a published one again: verified import MODEL FILE --output TARGET",
)


def save_model(path: str | Path, name: str, model: RetrievalModel, state: dict[str, Tensor], facts: dict) -> None:
    """Write `state` of a model called `name`, its config, and `facts` about its training."""
    save(path, FORM, state, {"model": name, "config": asdict(model.config), **facts})


def load_model(path: str | Path, device: str = "cpu") -> tuple[RetrievalModel, dict]:
    """A model in evaluation mode and the checkpoint's header. Raises InputError if weights and config do not agree."""
    tensors, header = load(path, FORM)
    name, config = header.get("model"), header.get("config")
    if not isinstance(name, str) or not isinstance(config, dict):
        raise InputError("damaged: its header names no model or no config", file=path)
    largest = max([1000, *(size for tensor in tensors.values() for size in tensor.shape)])
    for key, value in config.items():
        # The step or epoch from which negatives are hard belongs to training and changes no tensor.
        if isinstance(value, int) and abs(value) > largest and not key.startswith("hard_"):
            raise InputError(f"damaged: {key} = {value} is beyond all of its tensors", file=path)
    cls = model_class(name)
    try:
        model = cls(cls.Config(**config))
    except (TypeError, ValueError, RuntimeError, ArithmeticError, AssertionError, AttributeError) as error:
        detail = " ".join(str(error).split())[:400]
        raise InputError(f"does not fit the model {name!r}: {detail}", file=path) from None
    fill(model, tensors, f"the model {name!r}", path)
    return model.to(torch.device(device)).eval(), header
