"""The training of every network: optimisers, the state that a killed training resumes from, and the loop.

The optimisers are those of the official codes, with their learning rate curves; the loop sets each group's `lr`. All
have decoupled weight decay, with exceptions: see `parameter_groups`.

A training supplies small functions: the batches of a step, their losses, the learning rate, the rows of the log, the
end. Draw every random number from a seed of its step or of its row: then weights, the optimiser's state, the progress
and the log are the whole state, and a killed training resumes to the same bytes.

A saved state belongs to one training: it has digests of the code, the settings and the input files behind it, and is
used only if all of them agree. Another state is set aside, and the log reports the difference.
"""

import contextlib
import hashlib
import json
import logging
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from verified.errors import InputError
from verified.io.files import file_digest
from verified.io.jsonl import Row
from verified.nn.checkpoint import Form, load, require_fit, save
from verified.nn.layers import computing
from verified.runtime.processes import ENDED, noticing_sigterm
from verified.runtime.progress import Progress

log = logging.getLogger("verified")

Undecayed = Callable[[str, nn.Parameter], bool]


def bias_or_norm(name: str, parameter: nn.Parameter) -> bool:
    """Parameters that the TVR family does not decay: "bias" or "LayerNorm.weight" in a name.

    Case matters: ReLoCLNet's `video_cross_layernorm.weight` is decayed.
    """
    return "bias" in name or "LayerNorm.weight" in name


def one_dimensional(name: str, parameter: nn.Parameter) -> bool:
    """Parameters that UMT does not decay. Its rule misses the scalar temperature, which has no dimension and does
    decay."""
    return parameter.ndim == 1 or name.endswith(".bias")


def parameter_groups(
    parameters: Iterable[tuple[str, nn.Parameter]], weight_decay: float, undecayed: Undecayed = bias_or_norm
) -> list[dict[str, Any]]:
    """Two groups, with and without decay, of the named parameters that are trained."""
    groups: tuple[list[nn.Parameter], list[nn.Parameter]] = [], []
    for name, parameter in parameters:
        if parameter.requires_grad:
            groups[undecayed(name, parameter)].append(parameter)
    return [{"params": groups[0], "weight_decay": weight_decay}, {"params": groups[1], "weight_decay": 0.0}]


class BertAdam(torch.optim.Optimizer):
    """Adam as in BERT's first PyTorch port: no bias correction, and each tensor's gradient clipped to norm 1.

    Update: p ← p − lr · (m / (√v + 1e-6) + decay · p).
    """

    def __init__(
        self, groups: list[dict[str, Any]], lr: float, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-6
    ):
        super().__init__(groups, {"lr": lr, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] (no closures)
        for group in self.param_groups:
            (first, second), rate, decay = group["betas"], group["lr"], group["weight_decay"]
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                state = self.state[parameter]
                if not state:
                    state["mean"], state["square"] = torch.zeros_like(parameter), torch.zeros_like(parameter)
                scale = (parameter.grad.norm() + 1e-6).reciprocal().clamp(max=1.0)
                gradient = parameter.grad * scale
                state["mean"].lerp_(gradient, 1.0 - first)
                state["square"].mul_(second).addcmul_(gradient, gradient, value=1.0 - second)
                update = state["mean"] / state["square"].sqrt().add_(group["eps"])
                parameter.sub_(update.add_(parameter, alpha=decay), alpha=rate)


def linear_multiplier(step: int, total: int, warmup: float, floor: float = 0.0) -> float:
    """Share of the peak rate at `step` of `total`: rises over the first `warmup` (a share of all), then falls to 0.

    BertAdam counts steps from 0 (its first update has rate 0), HERO's AdamW from 1 (with a floor of 1e-8).
    """
    progress = step / total
    if progress < warmup:
        return max(progress / warmup, floor)
    return max((1.0 - progress) / (1.0 - warmup), floor)


def cosine_multiplier(step: int, total: int, warmup: float, floor: float = 0.01) -> float:
    """Share of the peak rate at `step` (from 0) of `total`: up from the floor in `warmup` steps, then half a cosine."""
    if step < warmup:
        return floor + (1 - floor) * step / warmup
    progress = (step - warmup) / max(1, total - warmup)
    return floor + (1 - floor) * (1 + math.cos(math.pi * progress)) / 2


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
    extra: dict[str, Tensor] = field(default_factory=dict)
    """More tensors, such as the best weights so far."""


class TrainingState:
    """The file in which a training keeps its state. Of several processes of one training, only the first writes.

    `owner`: see `fingerprint`. `seconds`: minimum time between two states; a kill loses at most that, plus the step or
    epoch in progress.
    """

    def __init__(self, path: str | Path, owner: Mapping[str, str], seconds: float):
        self.path, self.owner, self.seconds = Path(path), dict(owner), seconds
        self.aside = self.path.with_name(f"{self.path.stem}.set-aside{self.path.suffix}")
        self.saved = time.monotonic()

    def restore(self, module: nn.Module, optimiser: torch.optim.Optimizer) -> TrainingProgress:
        """Fill `module` and `optimiser` from the file; returns the progress made, empty without a matching state.

        Both are unchanged unless the whole state matches.
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
            reached = TrainingProgress(header["finished"], header["rows"], grouped["extra"])
            require_fit(module, grouped["module"], "the model", self.path)
            stored, own = (
                [len(group["params"]) for group in side] for side in (header["groups"], optimiser.param_groups)
            )
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
        tensors |= {f"extra.{name}": value for name, value in reached.extra.items()}
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
    """Whether this process writes the files of its training; always true for a training of one process."""
    return not torch.distributed.is_initialized() or torch.distributed.get_rank() == 0


def _group_by_prefix(tensors: dict[str, Tensor]) -> dict[str, dict[str, Tensor]]:
    grouped: dict[str, dict[str, Tensor]] = {"module": {}, "extra": {}, "optimiser": {}}
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


Batch = TypeVar("Batch")
Terms = dict[str, float]
"""Log terms of a batch, by name."""


@dataclass(frozen=True, kw_only=True)
class Training(Generic[Batch]):
    """Model, data and settings of a training. Steps count from 0."""

    label: str
    module: nn.Module
    optimiser: torch.optim.Optimizer
    steps: int
    """Steps in all."""
    rate: Callable[[int], float]
    """Learning rate of a step."""
    batches: Callable[[int], Iterator[Iterable[Batch]]]
    """For each step from a given one on, the batches whose gradients are added up; drawn one at a time."""
    losses: Callable[[Batch, int], tuple[Tensor, Mapping[str, Tensor | float]]]
    """Losses of a batch at a step: the value to differentiate, and terms for the log, among which `loss` is that of all
    processes where each differentiates a share."""
    row: Callable[[int, list[Terms], TrainingProgress], Row | None]
    """After a step that ends a row of the log: the row, or None, from the terms of all batches since the last row."""
    steps_per_row: int = 1
    """Steps between two calls of `row`, after which the state may be saved; an epoch's, for instance."""
    over: Callable[[list[Row]], bool] = lambda rows: False
    """Whether the rows so far end the training before its last step."""
    accumulate: int = 1
    """Number by which losses are divided: batches of a step."""
    clip_norm: float | None = None
    """Norm to which gradients are clipped; None: no clipping."""
    device: torch.device | str = "cpu"
    precision: str = "float32"
    """Number format of the losses' inner computations; see `computing`."""
    file: object = None
    """The file named in the error when a loss is not finite."""
    names: Callable[[Batch], Sequence[str]] = lambda batch: ()
    """Names of the items of a batch whose loss is not finite."""
    remedy: str = "lower the learning rate"


def train(training: Training[Batch], state: TrainingState | None = None) -> TrainingProgress:
    """Train `module` in place; returns the log and the tensors that `row` stored.

    With a state, a killed training resumes from its last saved state, to the same bytes; the caller removes the state
    once the result is safe. On SIGTERM it saves after the next row, and raises SystemExit. Raises InputError when a
    loss is not finite.
    """
    with noticing_sigterm() if state else contextlib.nullcontext(lambda: False) as to_end:
        return _train(training, state, to_end)


def _train(training: Training[Batch], state: TrainingState | None, to_end: Callable[[], bool]) -> TrainingProgress:
    module, optimiser = training.module, training.optimiser
    reached = state.restore(module, optimiser) if state else TrainingProgress()
    first = is_first_process()
    numbers = range(reached.finished, training.steps)
    progress = Progress(training.label, len(numbers), "steps", quiet=not first)
    terms: list[Terms] = []
    parameters = list(module.parameters())
    module.train()
    for step, batches in zip(numbers, training.batches(reached.finished), strict=True):
        for group in optimiser.param_groups:
            group["lr"] = training.rate(step)
        optimiser.zero_grad(set_to_none=True)
        for batch in batches:
            with computing(training.device, training.precision):
                loss, parts = training.losses(batch, step)
            terms.append({name: value.item() if isinstance(value, Tensor) else value for name, value in parts.items()})
            _require_finite(terms[-1].get("loss", loss.item()), training, step, batch)
            (loss / training.accumulate).backward()  # pyright: ignore[reportUnknownMemberType] (torch's own)
        if training.clip_norm is not None:
            nn.utils.clip_grad_norm_(parameters, training.clip_norm)
        optimiser.step()
        reached.finished = step + 1
        progress.step(note=", ".join(f"{name} {value:.4g}" for name, value in terms[-1].items()))
        last = reached.finished == training.steps
        if reached.finished % training.steps_per_row and not last:
            continue
        if row := training.row(step, terms, reached):
            reached.rows.append(row)
        terms = []
        if last or training.over(reached.rows):
            break
        if first and state and ((ending := to_end()) or state.due()):
            state.save(reached, module, optimiser)
            if ending:
                log.warning("asked to end: the state after %d steps is saved", reached.finished)
                sys.exit(ENDED)
        module.train()  # a row may include an evaluation
    progress.total = progress.done  # it may have ended early
    progress.finish()
    return reached


def _require_finite(value: float, training: Training[Batch], step: int, batch: Batch) -> None:
    if not math.isfinite(value):
        names = ", ".join(training.names(batch))
        raise InputError(
            f"the loss of step {step} of {training.label} is {value}{names and f'; its items: {names}'}",
            file=training.file,
            remedy=training.remedy,
        )
