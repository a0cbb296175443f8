"""VLG-Net's checkpoints: safetensors with the sizes and the windows that it was trained for."""

import json
from dataclasses import asdict
from pathlib import Path

from verified.errors import InputError
from verified.nn import checkpoint
from verified.nn.layers import visible_device
from verified.runtime.project import check_card
from verified_longform.grid import Grid
from verified_longform.pretrained.paths import SHIPPED
from verified_longform.vlg_net import VLGNet, VLGSettings

FORM = checkpoint.Form("vlg-net", 1, "train VLG-Net again")
WINDOW = ("fps", "window", "clips", "pooling_counts")


def save(path: str | Path, model: VLGNet, grid: Grid, facts: dict) -> None:
    """Write the weights and a JSON header; `facts` say what it was trained on."""
    checkpoint.save(path, FORM, model.state_dict(), {"size": asdict(model.size), "grid": asdict(grid), **facts})


def load(path: str | Path, grid: Grid) -> VLGNet:
    """The network in evaluation mode, on a GPU if available.

    Raises InputError for a file that is no such checkpoint, one that was trained for other windows than `grid`, and for
    shipped weights that are not as their card says.
    """
    check_card(path, SHIPPED)
    tensors, header = checkpoint.load(path, FORM)
    wanted = json.loads(json.dumps(asdict(grid)))
    try:
        trained_for, size = header["grid"], VLGSettings(**header["size"])
        other = next((key for key in WINDOW if trained_for[key] != wanted[key]), None)
    except (KeyError, TypeError) as error:
        raise InputError(f"damaged: its header describes no VLG-Net ({error})", file=path) from None
    if other:
        raise InputError(
            f"trained with {other} {trained_for[other]}, not {wanted[other]}",
            file=path,
            remedy="train again, or set longform.grid as it was",
        )
    model = VLGNet(size, grid.anchors)
    checkpoint.fill(model, tensors, "VLG-Net", path)
    return model.to(visible_device()).eval()
