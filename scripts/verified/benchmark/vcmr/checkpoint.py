"""Checkpoints: safetensors with one JSON header that rebuilds the model."""

import json
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from verified.benchmark.vcmr.contract import RetrievalModel
from verified.benchmark.vcmr.registry import model_class
from verified.errors import InputError
from verified.io.files import atomic_path
from verified.io.tensor_file import KEY, read_tensor_file
from verified.nn.linear import through_onednn


def save_tensors(path: str | Path, tensors: dict[str, Tensor], header: dict) -> None:
    """Write tensors with a JSON header, through a temporary file. Tensors that share memory are written apart."""
    apart = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}
    with atomic_path(path) as temporary:
        save_file(apart, temporary, metadata={KEY: json.dumps(header, sort_keys=True)})


def load_tensors(path: str | Path, device: str = "cpu") -> tuple[dict[str, Tensor], dict]:
    """Tensors and header. Raises InputError if the file is missing, damaged, or not of this project."""
    tensors, header = read_tensor_file(path, device)
    if header is None:
        raise InputError(
            "has no header of this project", file=path, remedy="import it with `verified import-checkpoint`"
        )
    return tensors, header


def save_model(path: str | Path, name: str, model: RetrievalModel, state: dict[str, Tensor], facts: dict) -> None:
    """Write `state` of a model called `name`, its config, and `facts` about its training."""
    save_tensors(path, state, {"model": name, "config": asdict(model.config), **facts})


def load_model(path: str | Path, device: str = "cpu") -> tuple[RetrievalModel, dict]:
    """A model in evaluation mode and the checkpoint's header. Raises InputError if weights and config do not agree."""
    tensors, header = load_tensors(path)
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
        model.load_state_dict(tensors)
    except (TypeError, ValueError, RuntimeError, ArithmeticError, AssertionError, AttributeError) as error:
        detail = " ".join(str(error).split())[:400]
        raise InputError(f"does not fit the model {name!r}: {detail}", file=path) from None
    return through_onednn(model).to(torch.device(device)).eval(), header
