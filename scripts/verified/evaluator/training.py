"""The training loop of the evaluator, for pre-training and fine-tuning alike."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from verified.errors import InputError
from verified.evaluator.processes import processes
from verified.evaluator.step import Batch, TrainingStep
from verified.nn.precision import computing
from verified.nn.training_state import Reached, TrainingState
from verified.runtime.prefetch import ahead
from verified.runtime.progress import Progress
from verified.runtime.seeds import derive_seed

WEIGHT_DECAY = 0.02
FLOOR = 0.01
"""Smallest learning rate, as a share of the peak."""


def adamw(model: nn.Module, learning_rate: float, beta2: float = 0.999) -> torch.optim.AdamW:
    """AdamW, betas (0.9, beta2), weight decay 0.02, none for biases and other one-dimensional tensors.

    The scalar temperature has no dimension, so UMT's rule misses it and it does decay; kept.
    """
    plain, bare = [], []
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            (bare if parameter.ndim == 1 or name.endswith(".bias") else plain).append(parameter)
    groups = [{"params": plain, "weight_decay": WEIGHT_DECAY}, {"params": bare, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=learning_rate, betas=(0.9, beta2))


def rate_share(step: int, steps: int, warmup: int) -> float:
    """Learning rate of step `step` (from 0) as a share of the peak: linear warm-up, then a cosine down to 0.01."""
    if step < warmup:
        return FLOOR + (1 - FLOOR) * step / warmup
    progress = (step - warmup) / max(1, steps - warmup)
    return FLOOR + (1 - FLOOR) * (1 + math.cos(math.pi * progress)) / 2


def set_rate(optimiser: torch.optim.Optimizer, rate: float) -> None:
    """Set the learning rate of all groups."""
    for group in optimiser.param_groups:
        group["lr"] = rate


@dataclass(frozen=True)
class Schedule:
    """How long and how fast: steps in all, of which `warmup` rise to `learning_rate`; a log row every `every` steps."""

    steps: int
    warmup: int
    learning_rate: float
    seed: int
    every: int = 10
    precision: str = "float32"
    beta2: float = 0.999
    largest_gradient: float | None = None
    """Norm to which gradients are cut; null: as they are."""


def train(
    step: TrainingStep,
    batch_of: Callable[[int], Batch],
    schedule: Schedule,
    label: str,
    device: torch.device,
    state: TrainingState | None = None,
) -> list[dict]:
    """Train `step.model` in place; returns log rows with the loss terms, temperature and learning rate of a step.

    `batch_of(number)` gives the batch of step `number` (from 0), the same in every process but for its frames. With
    `state`, a killed training resumes from its last saved state, with the same bytes in the end; the caller removes
    it once the result is safe. Raises InputError, naming the items of the batch, when the loss is
    not finite.
    """
    rank, world = processes()
    step.to(device).train()
    optimiser = adamw(step, schedule.learning_rate, schedule.beta2)
    reached = state.restore(step, optimiser) if state else Reached()
    rows = reached.rows
    wrapped = nn.parallel.DistributedDataParallel(step) if world > 1 else step
    progress = Progress(label, schedule.steps - reached.finished, "steps") if rank == 0 else None
    numbers = range(reached.finished, schedule.steps)
    # Clips are decoded while the network computes.
    for number, prepared in zip(numbers, ahead(map(batch_of, numbers))):
        torch.manual_seed(derive_seed(schedule.seed, label, "dropout", number, rank))
        step.generator.manual_seed(derive_seed(schedule.seed, label, "negatives", number))
        rate = schedule.learning_rate * rate_share(number, schedule.steps, schedule.warmup)
        set_rate(optimiser, rate)
        batch = to_device(prepared, device)
        with computing(device, schedule.precision):
            loss, seen = wrapped(batch)
        if not torch.isfinite(seen["loss"]):
            raise InputError(
                f"the loss of step {number} of {label} is {seen['loss'].item()}; its items: {', '.join(batch.names)}",
                remedy="look at these moments and captions, or lower the learning rate",
            )
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        if schedule.largest_gradient:
            nn.utils.clip_grad_norm_(step.parameters(), schedule.largest_gradient)
        optimiser.step()
        if number % schedule.every == 0 or number == schedule.steps - 1:
            terms = {name: round(value.item(), 6) for name, value in seen.items()}
            temperature = round(step.model.temperature.item(), 6)
            rows.append({"stage": label, "step": number, **terms, "temperature": temperature, "learning_rate": rate})
        if progress:
            shown = ", ".join(f"{name} {value.item():.3f}" for name, value in seen.items())
            progress.step(note=shown)
            if state and state.due() and number + 1 < schedule.steps:
                state.save(Reached(number + 1, rows), step, optimiser)
    if progress:
        progress.finish()
    return rows


def to_device(batch: Batch, device: torch.device) -> Batch:
    """The batch with its tensors on `device`; `same` stays on the CPU, where negatives are drawn."""
    tensors = {name: value for name, value in vars(batch).items() if isinstance(value, Tensor) and name != "same"}
    return replace(batch, **{name: value.to(device) for name, value in tensors.items()})
