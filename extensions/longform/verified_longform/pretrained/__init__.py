"""The shipped weights of VLG-Net, and the checks before their use."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from verified.demo.pretrained import relative_name
from verified.errors import InputError
from verified.io.files import file_digest
from verified.io.jsonl import read_json
from verified.runtime.project import CARD, check_card

SHIPPED = Path(__file__).with_name("weights")
PRETRAINED = "vlg-net-pretrained"
"""Its name among the models."""
WEIGHTS = "vlg-net.safetensors"


def shipped_vlg_net() -> str:
    """The checkpoint, relative to the working folder if it is inside it."""
    return relative_name(SHIPPED / WEIGHTS)


def card_file() -> str:
    """The card, named as `shipped_vlg_net` is."""
    return relative_name(SHIPPED / CARD)


@cache
def read_card() -> Mapping[str, Any]:
    """The card, after checking the weights next to it. Raises InputError as `check_card`."""
    check_card(SHIPPED / WEIGHTS, SHIPPED)
    return read_json(SHIPPED / CARD)


def require_other_seed(seed: int) -> None:
    """Raise InputError where a seed renders the very movies that the weights were trained on."""
    if seed == read_card()["seed"]:
        raise InputError(
            f"seed: {seed} renders the movies that longform.models vlg-net-pretrained was trained on",
            remedy="choose another seed, or leave that model out",
        )


def require_its_encoder(checkpoint: str | Path) -> None:
    """Raise InputError unless an evaluator's checkpoint is the one whose features the weights were trained on."""
    digest, wanted = file_digest(checkpoint), read_card()["encoder"]["sha256"]
    if digest != wanted:
        raise InputError(
            f"its SHA-256 is {digest[:16]}, but vlg-net-pretrained reads features of the evaluator {wanted[:16]}",
            file=checkpoint,
            remedy="leave vlg-net-pretrained out of longform.models, or set evaluator.checkpoint to pretrained",
        )
