"""The state of a training in progress: enough to resume after a kill as if nothing had happened.

The project's trainings draw every random number of a step or an epoch from a seed of its own, so weights, the
optimiser's state, the progress made and the log are all that has to be saved. A state belongs to one training: it
carries digests of the code, the settings and the input files behind it, and is used only where all of them agree. One
that does not fit is set aside, and the log says how it differs.
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
from torch import Tensor, nn

from verified.errors import InputError
from verified.io.files import file_digest
from verified.nn.checkpoint import Form, load, require_fit, save

log = logging.getLogger("verified")
FORM = Form("training state", 3, "the training starts over")


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
class TrainingProgress:
    """Progress of a training."""

    finished: int = 0
    """Steps that are done."""
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

    def restore(self, module: nn.Module, optimiser: torch.optim.Optimizer) -> TrainingProgress:
        """Fill `module` and `optimiser` from the file; returns the progress made, none if there is no state that fits.

        Both are left as they are unless the whole state fits.
        """
        if not self.path.is_file():
            return TrainingProgress()
        try:
            tensors, header = load(self.path, FORM)
            owner = header["owner"]
            if names := [name for name in self.owner | owner if self.owner.get(name) != owner.get(name)]:
                return self._set_aside(f"was left by a training with other {' and '.join(names)}")
            grouped = _group_by_prefix(tensors)
            slots = _slots({**grouped["optimiser"], **header["scalars"]})
            reached = TrainingProgress(header["finished"], header["rows"], grouped["kept"])
            require_fit(module, grouped["module"], "the model", self.path)
            stored, own = ([len(group["params"]) for group in of] for of in (header["groups"], optimiser.param_groups))
            if stored != own:
                return self._set_aside("does not fit the optimiser")
        except InputError as error:
            return self._set_aside(f"cannot be used: {error.problem}")
        except (KeyError, TypeError, ValueError) as error:
            return self._set_aside(f"cannot be used: {error}")
        module.load_state_dict(grouped["module"])
        optimiser.load_state_dict({"state": slots, "param_groups": header["groups"]})
        for parameter, values in optimiser.state.items():
            for slot, value in values.items():
                if isinstance(value, Tensor) and value.shape == parameter.shape:
                    # Fused optimisers go through memory in order, so moments need the parameter's strides.
                    values[slot] = torch.empty_like(parameter, dtype=value.dtype).copy_(value)
        log.info("going on with a saved state: %d steps done", reached.finished)
        return reached

    def due(self) -> bool:
        """Whether the last state is `seconds` old."""
        return time.monotonic() - self.saved >= self.seconds

    def save(self, reached: TrainingProgress, module: nn.Module, optimiser: torch.optim.Optimizer) -> None:
        """Write the state, replacing an older one."""
        tensors = {f"module.{name}": value for name, value in module.state_dict().items()}
        tensors |= {f"kept.{name}": value for name, value in reached.kept.items()}
        state, scalars = optimiser.state_dict(), {}
        for number, values in state["state"].items():
            for slot, value in values.items():
                if isinstance(value, Tensor):
                    tensors[f"optimiser.{number}.{slot}"] = value
                else:
                    scalars[f"{number}.{slot}"] = value
        facts = {"owner": self.owner, "finished": reached.finished, "rows": reached.rows}
        save(self.path, FORM, tensors, {**facts, "groups": state["param_groups"], "scalars": scalars})
        self.saved = time.monotonic()

    def remove(self) -> None:
        """Delete the file and any that was set aside: the training is over and its result is safe."""
        self.path.unlink(missing_ok=True)
        self.aside.unlink(missing_ok=True)

    def _set_aside(self, reason: str) -> TrainingProgress:
        if is_first_process():
            self.path.replace(self.aside)
            log.warning("%s %s; set aside as %s, training starts over", self.path, reason, self.aside.name)
        return TrainingProgress()


def is_first_process() -> bool:
    """Whether this process writes for all of its training; a training of one process has no other."""
    return not torch.distributed.is_initialized() or torch.distributed.get_rank() == 0


def _group_by_prefix(tensors: dict[str, Tensor]) -> dict[str, dict[str, Tensor]]:
    grouped: dict[str, dict[str, Tensor]] = {"module": {}, "kept": {}, "optimiser": {}}
    for name, tensor in tensors.items():
        prefix, _, key = name.partition(".")
        grouped[prefix][key] = tensor
    return grouped


def _slots(values: dict[str, object]) -> dict[int, dict[str, object]]:
    slots: dict[int, dict[str, object]] = {}
    for key, value in values.items():
        number, _, slot = key.partition(".")
        slots.setdefault(int(number), {})[slot] = value
    return slots
