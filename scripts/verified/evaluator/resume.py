"""The state of a training under way: enough to go on after a kill as if nothing had happened.

Every random draw of a step is seeded by the step's number, so parameters, optimiser state, number and log are all
there is to keep; the loader's place and the generators follow from the number.
"""

import hashlib
import json
import logging
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import nn

from verified.common.files import atomic_path

log = logging.getLogger("verified")
KEY = "verified"


def fingerprint(*parts: object) -> str:
    """SHA-256 of plain values: a state is only taken up by the very training that wrote it."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def save_state(
    path: Path, name: str, finished: int, rows: list[dict], module: nn.Module, optimiser: torch.optim.Optimizer
) -> None:
    """Write the state after `finished` steps of the training called `name`, in place of an older one."""
    tensors = {f"module.{key}": value for key, value in module.state_dict().items()}
    for number, slots in optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser.{number}.{key}": value for key, value in slots.items()}
    header = {"name": name, "finished": finished, "rows": rows}
    plain = {key: value.detach().cpu().contiguous() for key, value in tensors.items()}
    with atomic_path(path) as temporary:
        save_file(plain, temporary, metadata={KEY: json.dumps(header)})


def load_state(path: Path, name: str, module: nn.Module, optimiser: torch.optim.Optimizer) -> tuple[int, list[dict]]:
    """Fill `module` and `optimiser` from `path`; returns finished steps and log rows, (0, []) if there is no state.

    A state of another training (other data, settings, start or code) or an unreadable file is ignored, and the log
    says so.
    """
    if not path.is_file():
        return 0, []
    try:
        with safe_open(path, "pt") as stored:
            header = json.loads(stored.metadata()[KEY])
            tensors = {key: stored.get_tensor(key) for key in stored.keys()}  # noqa: SIM118 - not a mapping
    except (SafetensorError, OSError, KeyError, TypeError, ValueError):
        log.info("%s is not readable; training starts anew", path)
        return 0, []
    if header["name"] != name:
        log.info("%s belongs to another training; training starts anew", path)
        return 0, []
    module.load_state_dict({k.removeprefix("module."): v for k, v in tensors.items() if k.startswith("module.")})
    slots: dict[int, dict] = {}
    for key, value in tensors.items():
        if key.startswith("optimiser."):
            _, number, slot = key.split(".", 2)
            slots.setdefault(int(number), {})[slot] = value
    optimiser.load_state_dict({"state": slots, "param_groups": optimiser.state_dict()["param_groups"]})
    log.info("going on after step %d", header["finished"])
    return header["finished"], header["rows"]
