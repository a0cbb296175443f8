"""Checkpoints: safetensors with one JSON header that rebuilds the model."""

import json
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from verified.common.errors import InputError
from verified.common.files import atomic_path
from verified.retrieval.contract import RetrievalModel
from verified.retrieval.registry import model_class

KEY = "verified"
"""The one entry of the header; a single entry keeps the bytes the same from run to run."""


def save_tensors(path: str | Path, tensors: dict[str, Tensor], header: dict) -> None:
    """Write tensors with a JSON header, through a temporary file. Tensors that share memory are written apart."""
    apart = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}
    with atomic_path(path) as temporary:
        save_file(apart, temporary, metadata={KEY: json.dumps(header, sort_keys=True)})


def load_tensors(path: str | Path, device: str = "cpu") -> tuple[dict[str, Tensor], dict]:
    """Tensors and header. Raises InputError if the file is missing, damaged, or not of this project."""
    path = Path(path)
    if not path.is_file():
        raise InputError("no such file", file=path)
    try:
        with safe_open(path, framework="pt", device=device) as file:
            header = json.loads((file.metadata() or {}).get(KEY, "null"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
    except (SafetensorError, json.JSONDecodeError) as error:
        raise InputError(f"damaged checkpoint: {error}", file=path) from None
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
    cls = model_class(header["model"])
    try:
        model = cls(cls.Config(**header["config"]))
        model.load_state_dict(tensors)
    except (TypeError, RuntimeError) as error:
        detail = " ".join(str(error).split())
        raise InputError(f"does not fit the model {header['model']!r}: {detail}", file=path) from None
    return model.to(torch.device(device)).eval(), header
