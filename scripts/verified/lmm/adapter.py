"""The file of a fine-tuned model: low-rank adapters with a card that names their base model and training.

The card holds ``base_model, revision, rank, alpha, targets, seed`` and whatever else the training states.
"""

from collections.abc import Mapping
from pathlib import Path

from torch import Tensor, nn

from verified.errors import InputError
from verified.io.jsonl import Row
from verified.nn.checkpoint import Form, load, save
from verified.nn.low_rank import merge

FORM = Form("low-rank adapters", 1, "fine-tune the model again")


def save_adapters(path: str | Path, tensors: Mapping[str, Tensor], card: Row) -> None:
    """Write the state of adapters with their card; equal ones give equal bytes."""
    save(path, FORM, tensors, card)


def merge_adapters(network: nn.Module, path: str | Path, model: str, revision: str) -> None:
    """Merge the adapters of a file into a network, which is this model at this revision.

    Raises InputError for a file that is none, and for one of another model.
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
