"""The evaluator's checkpoints: safetensors whose header has the architecture and the origin of the weights."""

from pathlib import Path

import torch

from verified.demo.pretrained import SHIPPED
from verified.errors import InputError
from verified.evaluator.model import NoiseEvaluator
from verified.evaluator.settings import Architecture, from_header
from verified.nn.checkpoint import Form, load, load_facts, misfit, save
from verified.runtime.project import check_card

FORM = Form("evaluator", 1, "train the evaluator again; a .pth file of UMT is converted by: verified import umt FILE")
TABLE = "text.embeddings.word_embeddings.weight"
WORDS = "text.embeddings.words"
"""Tensor of a compact checkpoint: the word ids of the rows of TABLE."""


def save_checkpoint(path: str | Path, tensors: dict[str, torch.Tensor], size: Architecture, origin: str) -> None:
    """Write float32 tensors with a header; `origin` is a text on the origin of the weights."""
    facts = {"architecture": size.as_dict(), "origin": origin}
    save(path, FORM, {name: tensor.detach().float() for name, tensor in tensors.items()}, facts)


def read_header(path: str | Path) -> tuple[Architecture, str]:
    """Architecture and origin of a checkpoint. Raises InputError for any other file; see `nn.checkpoint.load`."""
    header = load_facts(path, FORM)
    if not isinstance(header.get("origin"), str):
        raise InputError("damaged: its header lacks the origin", file=path)
    return from_header(header.get("architecture"), Path(path)), header["origin"]


def load_checkpoint(path: str | Path, architecture: Architecture | None = None) -> NoiseEvaluator:
    """Build the network of a checkpoint and fill it.

    architecture: that of the config; frames and image size may differ where no tensor depends on them (UMT's
    stem), anything else is an error. Raises InputError that names the first missing, unknown or misshapen tensor.
    """
    check_card(path, SHIPPED)
    stored_size, _ = read_header(path)
    size = architecture or stored_size
    tensors = _expand(load(path, FORM)[0], size.vocabulary, path)
    try:
        with torch.device("meta"):
            problem = misfit(tensors, NoiseEvaluator(size).state_dict())
    except (ValueError, TypeError, RuntimeError, ArithmeticError, AssertionError) as error:
        raise InputError(f"its header describes no network that can be built: {error}", file=path) from None
    if problem:
        raise InputError(
            f"the checkpoint does not fit size {size.size!r} with {size.frames} frames of {size.image_size} pixels:"
            f" {problem}",
            file=path,
        )
    model = NoiseEvaluator(size)
    model.load_state_dict(tensors)
    return model


def _expand(tensors: dict[str, torch.Tensor], vocabulary: int, path: str | Path) -> dict[str, torch.Tensor]:
    """The tensors of a compact checkpoint in the network's form; those of any other unchanged."""
    if WORDS not in tensors or TABLE not in tensors:
        return tensors
    words, rows = tensors.pop(WORDS).long(), tensors[TABLE]
    if words.ndim != 1 or rows.ndim != 2 or len(words) != len(rows):
        raise InputError(f"damaged: {list(words.shape)} words for {list(rows.shape)} embeddings", file=path)
    if len(words) and not 0 <= int(words.min()) <= int(words.max()) < vocabulary:
        raise InputError(f"damaged: a word outside the vocabulary of {vocabulary}", file=path)
    return tensors | {TABLE: rows.new_zeros(vocabulary, rows.shape[1]).index_copy(0, words, rows)}
