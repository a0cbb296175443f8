"""Training of the evaluator, for pre-training and fine-tuning alike."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from verified.evaluator.processes import processes
from verified.evaluator.step import Batch, TrainingStep
from verified.io.jsonl import Row
from verified.nn import training
from verified.nn.training import TrainingProgress, TrainingState, cosine_multiplier, one_dimensional, parameter_groups
from verified.runtime.processes import prefetch
from verified.runtime.seeds import derive_seed

WEIGHT_DECAY = 0.02


def adamw(model: nn.Module, learning_rate: float, beta2: float = 0.999) -> torch.optim.AdamW:
    """AdamW, betas (0.9, beta2), weight decay 0.02, none for biases and other one-dimensional tensors."""
    groups = parameter_groups(model.named_parameters(), WEIGHT_DECAY, one_dimensional)
    return torch.optim.AdamW(groups, lr=learning_rate, betas=(0.9, beta2), fused=True)


@dataclass(frozen=True)
class Schedule:
    """Length and learning rate: steps in all, of which `warmup` rise to `learning_rate`; a log row every `every`
    steps."""

    steps: int
    warmup: float
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
) -> list[Row]:
    """Train `step.model` in place; returns log rows with the loss terms, temperature and learning rate of a step.

    `batch_of(number)` gives the batch of step `number` (from 0), the same in every process but for its frames. `state`
    and errors: see `training.train`; an error names the items of the batch.
    """
    rank, world = processes()
    step.to(device).train()

    def rate(number: int) -> float:
        return schedule.learning_rate * cosine_multiplier(number, schedule.steps, schedule.warmup)

    def losses(batch: Batch, number: int) -> tuple[Tensor, dict[str, Tensor]]:
        torch.manual_seed(derive_seed(schedule.seed, label, "dropout", number, rank))
        step.generator.manual_seed(derive_seed(schedule.seed, label, "negatives", number))
        return wrapped(to_device(batch, device))

    def row(number: int, terms: list[training.Terms], reached: TrainingProgress) -> Row | None:
        if number % schedule.every and number != schedule.steps - 1:
            return None
        rounded = {name: round(value, 6) for name, value in terms[-1].items()}
        temperature = round(step.model.temperature.item(), 6)
        return {"stage": label, "step": number, **rounded, "temperature": temperature, "learning_rate": rate(number)}

    wrapped = nn.parallel.DistributedDataParallel(step) if world > 1 else step
    how = training.Training(
        label=label,
        module=step,
        optimiser=adamw(step, schedule.learning_rate, schedule.beta2),
        steps=schedule.steps,
        rate=rate,
        # Clips are decoded while the network computes.
        batches=lambda first: prefetch([batch_of(number)] for number in range(first, schedule.steps)),
        losses=losses,
        row=row,
        clip_norm=schedule.largest_gradient,
        device=device,
        precision=schedule.precision,
        names=lambda batch: batch.names,
        remedy="look at these moments and captions, or lower the learning rate",
    )
    return training.train(how, state).rows


def to_device(batch: Batch, device: torch.device) -> Batch:
    """The batch with its tensors on `device`; `same` stays on the CPU, where negatives are drawn."""
    tensors = {name: value for name, value in vars(batch).items() if isinstance(value, Tensor) and name != "same"}
    return replace(batch, **{name: value.to(device) for name, value in tensors.items()})
