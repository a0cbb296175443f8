"""The start of VLG-Net's GCNeXt block from a published checkpoint, as in the official training.

The authors begin with G-TAD, trained for temporal action detection: the twelve tensors of the first block behind its
first convolution fill the one block that VLG-Net passes several times. A checkpoint of VLG-Net itself serves as well.
"""

import logging
from pathlib import Path

from verified.errors import InputError
from verified.io.files import file_digest
from verified.io.foreign import read_tensors
from verified.nn import checkpoint
from verified_longform.vlg_net import VLGNet

log = logging.getLogger("verified")
BLOCKS = ("backbone1.2.", "x_1d_b.2.", "context_aggregator.0.")
"""Prefix of the block: in G-TAD of 512 and of 256 channels, and in VLG-Net."""


def warm_start(model: VLGNet, path: str | Path) -> dict[str, str | int]:
    """Fill the model's GCNeXt block in place from a local checkpoint.

    Returns where it came from: file, sha256, and how many of its tensors were taken and not_taken.
    Only tensors are read of the file (`io.foreign`). Raises InputError for one without such a block, for a block of
    other shapes, and for a model without one.
    """
    if not len(model.context_aggregator):
        raise InputError("VLG-Net has no GCNeXt block", remedy="set longform.vlg_net.blocks, or leave warm_start out")
    read = read_tensors(path)
    prefix = next((one for one in BLOCKS if any(name.startswith(f"{one}tconvs.") for name in read)), None)
    if prefix is None:
        raise InputError("holds no GCNeXt block", file=path, remedy=f"expected tensors of {' or '.join(BLOCKS)}")
    # G-TAD of 256 channels calls the semantic branch fconvs.
    block = {
        name.removeprefix(prefix).replace("fconvs.", "sconvs."): value.float()
        for name, value in read.items()
        if name.startswith(prefix)
    }
    checkpoint.fill(model.context_aggregator[0], block, "VLG-Net's GCNeXt block", path)
    left = len(read) - len(block)
    log.info("GCNeXt from %s: %d tensors taken, %d not", path, len(block), left)
    return {"file": str(path), "sha256": file_digest(path), "taken": len(block), "not_taken": left}
