"""The training loop of every network: steps, gradients of several batches, clipping, the log, going on after a kill.

What sets one training apart from another comes as small functions: the batches of a step, their losses, the learning
rate, the rows of the log, the end. Draw every random number from a seed of its step or of its row: then a training that
was killed and goes on ends with the same bytes.
"""

import contextlib
import logging
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import torch
from torch import Tensor, nn

from verified.errors import InputError
from verified.io.jsonl import Row
from verified.nn.precision import computing
from verified.nn.training_state import TrainingProgress, TrainingState, is_first_process
from verified.runtime.preemption import ENDED, noticing_sigterm
from verified.runtime.progress import Progress

log = logging.getLogger("verified")

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
    """After a step that ends a row of the log: the row, or None, from the terms of all batches since the last one."""
    steps_per_row: int = 1
    """Steps between two calls of `row`, after which the state may be saved; an epoch's, for instance."""
    over: Callable[[list[Row]], bool] = lambda rows: False
    """Whether the rows so far end the training before its last step."""
    accumulate: int = 1
    """Number by which losses are divided: batches of a step."""
    clip_norm: float | None = None
    """Norm to which gradients are cut; None: as they are."""
    device: torch.device | str = "cpu"
    precision: str = "float32"
    """Number format of the losses' inner computations; see `computing`."""
    file: object = None
    """The file to look at when a loss is not finite."""
    names: Callable[[Batch], Sequence[str]] = lambda batch: ()
    """Names of the items of a batch whose loss is not finite."""
    remedy: str = "lower the learning rate"


def train(training: Training[Batch], state: TrainingState | None = None) -> TrainingProgress:
    """Train `module` in place; returns the log and whatever tensors `row` kept.

    With a state, a training that was killed goes on after what it saved last, to the same bytes; whoever trains removes
    the state once the result is safe. On SIGTERM it saves after the next row, and raises SystemExit. Raises InputError
    when a loss is not finite.
    """
    with noticing_sigterm() if state else contextlib.nullcontext(lambda: False) as to_end:
        return _train(training, state, to_end)


def _train(training: Training[Batch], state: TrainingState | None, to_end: Callable[[], bool]) -> TrainingProgress:
    module, optimiser = training.module, training.optimiser
    reached = state.restore(module, optimiser) if state else TrainingProgress()
    first = is_first_process()
    numbers = range(reached.finished, training.steps)
    progress = Progress(training.label, len(numbers), "steps") if first else None
    terms: list[Terms] = []
    parameters = list(module.parameters())
    module.train()
    for step, batches in zip(numbers, training.batches(reached.finished), strict=True):
        set_rate(optimiser, training.rate(step))
        optimiser.zero_grad(set_to_none=True)
        for batch in batches:
            with computing(training.device, training.precision):
                loss, seen = training.losses(batch, step)
            terms.append({name: value.item() if isinstance(value, Tensor) else value for name, value in seen.items()})
            _require_finite(terms[-1].get("loss", loss.item()), training, step, batch)
            (loss / training.accumulate).backward()  # pyright: ignore[reportUnknownMemberType] (torch's own)
        if training.clip_norm is not None:
            nn.utils.clip_grad_norm_(parameters, training.clip_norm)
        optimiser.step()
        reached.finished = step + 1
        if progress:
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
        module.train()  # a row may come of an evaluation
    if progress:
        progress.total = progress.done  # it may have ended early
        progress.finish()
    return reached


def set_rate(optimiser: torch.optim.Optimizer, rate: float) -> None:
    """Set the learning rate of all groups."""
    for group in optimiser.param_groups:
        group["lr"] = rate


def _require_finite(value: float, training: Training[Batch], step: int, batch: Batch) -> None:
    if not math.isfinite(value):
        names = ", ".join(training.names(batch))
        raise InputError(
            f"the loss of step {step} of {training.label} is {value}{names and f'; its items: {names}'}",
            file=training.file,
            remedy=training.remedy,
        )
