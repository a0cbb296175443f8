"""The state of a training in progress: enough to resume after a kill as if nothing had happened.

The project's trainings draw every random number of a step or an epoch from a seed of its own, so weights, the
optimiser's state, the progress made and the log are all that has to be saved. A state belongs to one training: it
carries digests of the code, the settings and the input files behind it, and is used only where all of them agree. One
that does not fit is set aside, and the log says how it differs. One safetensors file with a JSON header, no pickle.
"""

import hashlib
import json
import logging
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import save_file  # pyright: ignore[reportUnknownVariableType] (their paths have no type argument)
from torch import Tensor, nn

from verified.io.files import atomic_path, file_digest
from verified.io.tensor_file import opened

log = logging.getLogger("verified")
KEY, VERSION = "verified", 2


def fingerprint(code: str, settings: object, inputs: Iterable[str | Path], **more: object) -> dict[str, str]:
    """Identity of a training: {name: digest} for ``code``, ``settings`` (plain values), ``inputs`` (files) and `more`.

    Inputs are identified by their bytes, not by their names: a moved run can resume.
    """
    files = [file_digest(path) for path in inputs]
    return {"code": code} | {
        name: _digest(value) for name, value in {"settings": settings, "inputs": files, **more}.items()
    }


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:16]


@dataclass
class Reached:
    """How far a training came."""

    finished: int = 0
    """Steps or epochs that are done."""
    rows: list[dict[str, Any]] = field(default_factory=list)
    """Its log, with keys in the order in which they were written."""
    kept: dict[str, Tensor] = field(default_factory=dict)
    """Further tensors, such as the best weights so far."""


class TrainingState:
    """The file in which a training keeps its state. Of several processes of one training, only the first writes.

    `owner`: see `fingerprint`. `seconds`: least time between two states; a kill costs at most that, besides the step or
    epoch in progress.
    """

    def __init__(self, path: str | Path, owner: Mapping[str, str], seconds: float):
        self.path, self.owner, self.seconds = Path(path), dict(owner), seconds
        self.aside = self.path.with_name(f"{self.path.stem}.set-aside{self.path.suffix}")
        self.saved = time.monotonic()

    def restore(self, module: nn.Module, optimiser: torch.optim.Optimizer) -> Reached:
        """Fill `module` and `optimiser` from the file; returns the progress made, none if there is no state that fits.

        Both are left as they are unless the whole state fits.
        """
        if not self.path.is_file():
            return Reached()
        try:
            with opened(self.path) as stored:
                header = json.loads((stored.metadata() or {})[KEY])
                if reason := self._foreign(header):
                    return self._set_aside(reason)
                tensors = {key: stored.get_tensor(key) for key in stored.keys()}  # noqa: SIM118 - not a mapping
            grouped = _by_prefix(tensors)
            slots = _slots(grouped["optimiser"], header["scalars"])
            reached = Reached(header["finished"], header["rows"], grouped["kept"])
        except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
            return self._set_aside(f"cannot be read ({error})")
        if reason := _misfit(module, optimiser, grouped["module"], header["groups"]):
            return self._set_aside(reason)
        module.load_state_dict(grouped["module"])
        optimiser.load_state_dict({"state": slots, "param_groups": header["groups"]})
        log.info("going on with a saved state: %d done", reached.finished)
        return reached

    def due(self) -> bool:
        """Whether the last state is `seconds` old."""
        return time.monotonic() - self.saved >= self.seconds

    def save(self, reached: Reached, module: nn.Module, optimiser: torch.optim.Optimizer) -> None:
        """Write the state, replacing an older one."""
        tensors = {f"module.{name}": value for name, value in module.state_dict().items()}
        tensors |= {f"kept.{name}": value for name, value in reached.kept.items()}
        state, scalars = optimiser.state_dict(), {}
        for number, values in state["state"].items():
            for slot, value in values.items():
                target = tensors if isinstance(value, Tensor) else scalars
                target[f"optimiser.{number}.{slot}"] = value
        header = {
            "version": VERSION,
            "owner": self.owner,
            "finished": reached.finished,
            "rows": reached.rows,
            "groups": state["param_groups"],
            "scalars": scalars,
        }
        # Copies: tensors may share memory, which the format refuses.
        plain = {name: value.detach().cpu().clone().contiguous() for name, value in tensors.items()}
        with atomic_path(self.path) as temporary:
            save_file(plain, temporary, metadata={KEY: json.dumps(header)})
        self.saved = time.monotonic()

    def remove(self) -> None:
        """Delete the file and any that was set aside: the training is over and its result is safe."""
        self.path.unlink(missing_ok=True)
        self.aside.unlink(missing_ok=True)

    def _foreign(self, header: dict[str, Any]) -> str:
        if header.get("version") != VERSION:
            return "was written by another version of the workflow"
        names = [name for name in self.owner | header["owner"] if self.owner.get(name) != header["owner"].get(name)]
        return f"was left by a training with other {' and '.join(names)}" if names else ""

    def _set_aside(self, reason: str) -> Reached:
        if _first_process():
            self.path.replace(self.aside)
            log.warning("%s %s; set aside as %s, training starts over", self.path, reason, self.aside.name)
        return Reached()


def _first_process() -> bool:
    return not torch.distributed.is_initialized() or torch.distributed.get_rank() == 0


def _by_prefix(tensors: dict[str, Tensor]) -> dict[str, dict[str, Tensor]]:
    grouped: dict[str, dict[str, Tensor]] = {"module": {}, "kept": {}, "optimiser": {}}
    for name, tensor in tensors.items():
        prefix, _, key = name.partition(".")
        grouped[prefix][key] = tensor
    return grouped


def _slots(tensors: dict[str, Tensor], scalars: dict[str, object]) -> dict[int, dict[str, object]]:
    slots: dict[int, dict[str, object]] = {}
    for key, value in [
        *tensors.items(),
        *((name.removeprefix("optimiser."), value) for name, value in scalars.items()),
    ]:
        number, _, slot = key.partition(".")
        slots.setdefault(int(number), {})[slot] = value
    return slots


def _misfit(
    module: nn.Module, optimiser: torch.optim.Optimizer, stored: dict[str, Tensor], groups: list[dict[str, Any]]
) -> str:
    state = module.state_dict()
    if odd := sorted(state.keys() ^ stored.keys()):
        return f"does not fit the model ({odd[0]})"
    if odd := [name for name, value in state.items() if value.shape != stored[name].shape]:
        return f"does not fit the model (shape of {odd[0]})"
    return (
        ""
        if [len(group["params"]) for group in groups] == [len(group["params"]) for group in optimiser.param_groups]
        else "does not fit the optimiser"
    )
