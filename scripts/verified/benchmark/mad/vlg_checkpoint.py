"""VLG-Net's checkpoints: safetensors with the sizes and the windows that it was trained for."""

import json
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from verified.benchmark.mad.grid import Grid
from verified.benchmark.mad.vlg_net import VLGNet, VLGSettings
from verified.errors import InputError
from verified.io.files import atomic_path

KEY = "verified"
WINDOW = ("fps", "window", "clips", "pooling_counts")


def save(path: str | Path, model: VLGNet, grid: Grid, facts: dict) -> None:
    """Write the weights and a JSON header; `facts` say what it was trained on."""
    header = {"format": "vlg-net", "size": asdict(model.size), "grid": asdict(grid), **facts}
    # Shared blocks have several names; copies, as the format refuses shared memory.
    plain = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in model.state_dict().items()}
    with atomic_path(path) as temporary:
        save_file(plain, temporary, metadata={KEY: json.dumps(header, sort_keys=True)})


def load(path: str | Path, grid: Grid) -> VLGNet:
    """The network in evaluation mode, on a GPU where there is one.

    Raises InputError for a file that is no such checkpoint, or one that was trained for other windows than `grid`.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError("no such checkpoint", file=path)
    try:
        with safe_open(path, "pt") as stored:
            header = json.loads((stored.metadata() or {}).get(KEY, "{}"))
            tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118 - not a mapping
    except (SafetensorError, OSError, ValueError) as error:
        raise InputError(f"not a safetensors file: {error}", file=path) from None
    if header.get("format") != "vlg-net":
        raise InputError("not a checkpoint of VLG-Net", file=path)
    wanted = json.loads(json.dumps(asdict(grid)))
    if other := [key for key in WINDOW if header["grid"][key] != wanted[key]]:
        raise InputError(
            f"trained with {other[0]} {header['grid'][other[0]]}, not {wanted[other[0]]}",
            file=path,
            remedy="train again, or set longform.grid as it was",
        )
    model = VLGNet(VLGSettings(**header["size"]), grid.anchors)
    model.load_state_dict(tensors)
    return model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
