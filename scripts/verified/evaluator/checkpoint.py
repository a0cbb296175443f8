"""The evaluator's checkpoints: safetensors whose header holds the architecture and where the weights come from."""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file

from verified.common import tensor_file
from verified.common.errors import InputError
from verified.common.files import atomic_path
from verified.evaluator.architecture import Architecture, from_header
from verified.evaluator.model import NoiseEvaluator

FORMAT, VERSION = "evaluator", 1


def save_checkpoint(path: str | Path, tensors: dict[str, torch.Tensor], size: Architecture, origin: str) -> None:
    """Write float32 tensors with a header; `origin` says in words where the weights come from."""
    header = {"format": FORMAT, "version": VERSION, "architecture": size.as_dict(), "origin": origin}
    plain = {name: tensor.detach().float().cpu().contiguous() for name, tensor in tensors.items()}
    with atomic_path(path) as temporary:
        # One key: the library writes several in an order of its own, and equal runs must give equal bytes.
        save_file(plain, temporary, metadata={tensor_file.KEY: json.dumps(header)})


def read_header(path: str | Path) -> tuple[Architecture, str]:
    """Architecture and origin of a checkpoint.

    Raises InputError for a missing file, one that is no safetensors file, another format, or a newer version.
    """
    path = Path(path)
    header = tensor_file.read_header(path) or {}
    if header.get("format") != FORMAT:
        raise InputError(
            "not a checkpoint of the evaluator", file=path,
            remedy="a .pth file of UMT is converted by: verified import-umt FILE",
        )  # fmt: skip
    if not isinstance(header.get("version"), int) or not isinstance(header.get("origin"), str):
        raise InputError("damaged: its header lacks version or origin", file=path)
    if header["version"] > VERSION:
        raise InputError(
            f"checkpoint format {header['version']} is newer than {VERSION}, the newest known here", file=path,
            remedy="update the workflow",
        )  # fmt: skip
    return from_header(header.get("architecture"), path), header["origin"]


def load_checkpoint(path: str | Path, wanted: Architecture | None = None) -> NoiseEvaluator:
    """Build the network of a checkpoint and fill it.

    wanted: the architecture of the config; frames and image size may differ where no tensor depends on them (UMT's
    stem), anything else is an error. Raises InputError that names the first missing, unknown or misshapen tensor.
    """
    stored_size, _ = read_header(path)
    size = wanted or stored_size
    tensors, _ = tensor_file.read_tensor_file(path)
    try:
        with torch.device("meta"):
            expected = {name: tensor.shape for name, tensor in NoiseEvaluator(size).state_dict().items()}
    except (ValueError, TypeError, RuntimeError, ArithmeticError, AssertionError) as error:
        raise InputError(f"its header describes no network that can be built: {error}", file=path) from None
    problem = misfit({name: tensor.shape for name, tensor in tensors.items()}, expected)
    if problem:
        raise InputError(
            f"the checkpoint does not fit size {size.size!r} with {size.frames} frames of {size.image_size} pixels:"
            f" {problem}", file=path,
        )  # fmt: skip
    model = NoiseEvaluator(size)
    model.load_state_dict(tensors)
    return model


def misfit(found: dict[str, torch.Size], expected: dict[str, torch.Size]) -> str | None:
    """The first difference between two sets of named shapes in words, or None."""
    for name, shape in expected.items():
        if name not in found:
            return f"tensor {name} {list(shape)} is missing"
        if found[name] != shape:
            return f"tensor {name} is {list(found[name])}, not {list(shape)}"
    unknown = sorted(set(found) - set(expected))
    return f"tensor {unknown[0]} is unknown" if unknown else None
