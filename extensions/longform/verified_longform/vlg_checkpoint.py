"""VLG-Net's checkpoints: safetensors with the sizes and the windows that it was trained for, and a warm start.

The official training starts GCNeXt's block from G-TAD, trained for temporal action detection: the twelve tensors of the
first block behind its first convolution fill the one block that VLG-Net passes several times. A checkpoint of VLG-Net
itself serves as well.
"""

import logging
from dataclasses import asdict
from pathlib import Path

from verified.errors import InputError
from verified.io.files import file_digest
from verified.io.foreign import read_tensors
from verified.nn import checkpoint
from verified.nn.layers import visible_device
from verified_longform.grid import Grid
from verified_longform.vlg_net import VLGNet, VLGSettings

FORM = checkpoint.Form("vlg-net", 1, "train VLG-Net again")
WINDOW = ("fps", "window", "clips", "pooling_counts")


def save(path: str | Path, model: VLGNet, grid: Grid, facts: dict) -> None:
    """Write the weights and a JSON header; `facts` name the training data."""
    checkpoint.save(path, FORM, model.state_dict(), {"size": asdict(model.size), "grid": grid.model_dump(), **facts})


def load(path: str | Path, grid: Grid) -> VLGNet:
    """The network in evaluation mode, on a GPU if available.

    Raises InputError for any other file, and a checkpoint trained for other windows than `grid`.
    """
    tensors, header = checkpoint.load(path, FORM)
    expected = grid.model_dump(mode="json")
    try:
        trained_for, size = header["grid"], VLGSettings(**header["size"])
        other = next((key for key in WINDOW if trained_for[key] != expected[key]), None)
    except (KeyError, TypeError) as error:
        raise InputError(f"damaged: its header describes no VLG-Net ({error})", file=path) from None
    if other:
        raise InputError(
            f"trained with {other} {trained_for[other]}, not {expected[other]}",
            file=path,
            remedy="train again, or set longform.grid as it was",
        )
    model = VLGNet(size, grid.anchors)
    checkpoint.fill(model, tensors, "VLG-Net", path)
    return model.to(visible_device()).eval()


log = logging.getLogger("verified")
BLOCKS = ("backbone1.2.", "x_1d_b.2.", "context_aggregator.0.")
"""Prefix of the block: in G-TAD of 512 and of 256 channels, and in VLG-Net."""


def warm_start(model: VLGNet, path: str | Path) -> dict[str, str | int]:
    """Fill the model's GCNeXt block in place from a local checkpoint.

    Returns its origin: file, sha256, and the numbers of tensors taken and not_taken. Only tensors are read from the
    file (`io.foreign`). Raises InputError for a file without such a block, for a block of other shapes, and for a model
    without one.
    """
    if not len(model.context_aggregator):
        raise InputError("VLG-Net has no GCNeXt block", remedy="set longform.vlg_net.blocks, or leave warm_start out")
    read = read_tensors(path)
    prefix = next((block for block in BLOCKS if any(name.startswith(f"{block}tconvs.") for name in read)), None)
    if prefix is None:
        raise InputError("holds no GCNeXt block", file=path, remedy=f"expected tensors of {' or '.join(BLOCKS)}")
    # G-TAD of 256 channels calls the semantic branch fconvs.
    block = {
        name.removeprefix(prefix).replace("fconvs.", "sconvs."): value.float()
        for name, value in read.items()
        if name.startswith(prefix)
    }
    checkpoint.fill(model.context_aggregator[0], block, "VLG-Net's GCNeXt block", path)
    remaining = len(read) - len(block)
    log.info("GCNeXt from %s: %d tensors taken, %d not", path, len(block), remaining)
    return {"file": str(path), "sha256": file_digest(path), "taken": len(block), "not_taken": remaining}
