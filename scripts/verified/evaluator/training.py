"""The training loop of the evaluator, for pre-training and fine-tuning alike."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from verified.common.errors import InputError
from verified.common.progress import Progress
from verified.evaluator.distributed import processes
from verified.evaluator.model import NoiseEvaluator
from verified.evaluator.optimiser import adamw, rate_share, set_rate
from verified.evaluator.step import Batch, TrainingStep


@dataclass(frozen=True)
class Schedule:
    """How long and how fast: steps in all, of which `warmup` rise to `learning_rate`; a log row every `every` steps."""

    steps: int
    warmup: int
    learning_rate: float
    every: int = 10


def train(
    step: TrainingStep, batch_of: Callable[[int], Batch], schedule: Schedule, label: str, device: torch.device
) -> list[dict]:
    """Train `step.model` in place; returns log rows with the loss terms, temperature and learning rate of a step.

    `batch_of(number)` gives the batch of step `number` (from 0), the same in every process but for its frames.
    Raises InputError, naming the items of the batch, when the loss is not finite.
    """
    rank, world = processes()
    model: NoiseEvaluator = step.model
    model.to(device).train()
    wrapped = nn.parallel.DistributedDataParallel(step) if world > 1 else step
    optimiser = adamw(model, schedule.learning_rate)
    progress = Progress(label, schedule.steps, "steps") if rank == 0 else None
    rows = []
    for number in range(schedule.steps):
        rate = schedule.learning_rate * rate_share(number, schedule.steps, schedule.warmup)
        set_rate(optimiser, rate)
        batch = to_device(batch_of(number), device)
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda"):
            loss, seen = wrapped(batch)
        if not torch.isfinite(seen["loss"]):
            raise InputError(
                f"the loss of step {number} of {label} is {seen['loss'].item()}; its items: {', '.join(batch.names)}",
                remedy="look at these moments and captions, or lower evaluator.learning_rate",
            )
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        if number % schedule.every == 0 or number == schedule.steps - 1:
            terms = {name: round(value.item(), 6) for name, value in seen.items()}
            rows.append({"stage": label, "step": number, **terms, "temperature": round(model.temperature.item(), 6),
                         "learning_rate": rate})  # fmt: skip
        if progress:
            progress.step(note=f"loss {seen['loss'].item():.3f}")
    if progress:
        progress.finish(note=f"loss {seen['loss'].item():.3f}")
    return rows


def to_device(batch: Batch, device: torch.device) -> Batch:
    """The batch with its tensors on `device`; `same` stays on the CPU, where negatives are drawn."""
    return Batch(
        batch.frames.to(device), batch.ids.to(device), batch.mask.to(device), batch.roles, batch.same, batch.names
    )
