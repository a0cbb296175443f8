"""In place of ResNet-152 with ImageNet's weights: a small ResNet, trained to classify what is in a frame.

As ImageNet's classes teach a network edges, textures and parts, the labels of the separate synthetic corpus teach this
one what its things look like; the classifiers are thrown away and the pooled features stay. It is written in the form
of a folder that transformers loads, so nothing in the workflow knows that it is not ResNet-152.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import reduce
from operator import add
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from verified.demo.pretrained.labelled_frames import CLASSES, labelled_frame
from verified.demo.tiny_evaluator.stem import IMAGE_SIZE, STAGES, SmallResNet
from verified.evaluator.vision import normalise
from verified.io.jsonl import Row, write_json, write_jsonl
from verified.nn import training
from verified.nn.layers import channels_last
from verified.nn.training import TrainingProgress, TrainingState, fingerprint
from verified.runtime.digest import modules_digest
from verified.runtime.processes import prefetch
from verified.runtime.seeds import derive_seed

WEIGHT_DECAY = 0.05
EVERY = 50
"""Steps between two rows of the log."""
GRADED = 1920
"""Unseen frames that grade a network."""
UNSEEN = 10**9
"""Number of the first frame that grades a network: after those of any schedule."""


Labelled = tuple[Tensor, dict[str, Tensor]]
"""Frames uint8 [batch, size, size, 3] and their classes [batch] by label."""


@dataclass(frozen=True)
class Schedule:
    """Frames in all, each seen once, frames a step, the peak learning rate, and the seed of frames and weights."""

    frames: int
    batch: int
    learning_rate: float
    seed: int

    @property
    def steps(self) -> int:
        """Steps in all."""
        return max(1, self.frames // self.batch)

    def rate(self, step: int) -> float:
        """Learning rate of `step` (from 0): up over a twentieth of the steps, then straight down to nothing."""
        warmup = max(1, self.steps // 20)
        decay = (self.steps - step) / max(1, self.steps - warmup)
        return self.learning_rate * min((step + 1) / warmup, decay)


class Classifier(nn.Module):
    """The network and one linear classifier for each label."""

    def __init__(self):
        super().__init__()
        self.network = channels_last(SmallResNet())
        self.heads = nn.ModuleDict({name: nn.Linear(STAGES[-1], classes) for name, classes in CLASSES.items()})

    def forward(self, frames: Tensor) -> dict[str, Tensor]:
        """uint8 frames [B, size, size, 3] → logits [B, classes] by label."""
        pixels = normalise(frames[None])[0].contiguous(memory_format=torch.channels_last)
        features = self.network(pixels)
        return {name: head(features) for name, head in self.heads.items()}


def run_training(schedule: Schedule, save_seconds: float, folder: str, record: str) -> None:
    """Train, grade, and write the folder and its log. While it runs, its state is saved beside the folder."""
    owner = fingerprint(modules_digest("verified.demo.pretrained.image_backbone"), asdict(schedule), [])
    state = TrainingState(Path(folder).with_name("unfinished-image-backbone.safetensors"), owner, save_seconds)
    model, rows = train(schedule, state)
    accuracy = grade(model, schedule.seed, GRADED, schedule.batch)
    save(model.network, Path(folder))
    write_json(Path(folder) / "accuracy.json", {"frames": GRADED, "accuracy": accuracy})
    write_jsonl(record, rows)
    state.remove()


def train(schedule: Schedule, state: TrainingState | None = None) -> tuple[Classifier, list[dict]]:
    """Train a fresh classifier; returns it and log rows (step, loss, accuracy by label over the steps since)."""
    torch.manual_seed(derive_seed(schedule.seed, "image backbone weights"))
    model = Classifier().train()

    def losses(batch: Labelled, step: int) -> tuple[Tensor, dict[str, Tensor | float]]:
        frames, labels = batch
        logits = model(frames)
        loss = reduce(add, (cross_entropy(logits[name], labels[name]) for name in CLASSES))
        return loss, {"loss": loss, **accuracies(logits, labels)}

    def row(step: int, terms: list[training.Terms], reached: TrainingProgress) -> Row:
        return {"step": step, "loss": round(terms[-1]["loss"], 6), **means(terms)}

    how = training.Training(
        label="image backbone",
        module=model,
        optimiser=torch.optim.AdamW(model.parameters(), lr=schedule.learning_rate, weight_decay=WEIGHT_DECAY),
        steps=schedule.steps,
        rate=schedule.rate,
        batches=lambda first: prefetch(
            [batch] for batch in batches(schedule.seed, range(first, schedule.steps), schedule.batch)
        ),
        losses=losses,
        row=row,
        steps_per_row=EVERY,
    )
    rows = training.train(how, state).rows
    return model.eval(), rows


def batches(seed: int, numbers: range, batch: int) -> Iterator[Labelled]:
    """The labelled frames of the steps `numbers`."""
    for number in numbers:
        items = [labelled_frame(seed, number * batch + n, IMAGE_SIZE) for n in range(batch)]
        labels = {name: torch.tensor([known[name] for _, known in items]) for name in CLASSES}
        yield torch.from_numpy(np.stack([frame for frame, _ in items])), labels


def accuracies(logits: dict[str, Tensor], labels: dict[str, Tensor]) -> dict[str, float]:
    """Share of right classes by label; NaN where none can be seen."""
    shares = {}
    for name, values in logits.items():
        seen = labels[name] >= 0
        shares[name] = (values.argmax(1) == labels[name])[seen].float().mean().item()
    return shares


def means(rows: list[dict[str, float]]) -> dict[str, float]:
    """Mean accuracy by label over batches."""
    return {name: round(float(np.nanmean([row[name] for row in rows])), 4) for name in CLASSES}


@torch.inference_mode()
def grade(model: Classifier, seed: int, frames: int, batch: int) -> dict[str, float]:
    """Accuracy by label on frames that no training saw."""
    first = UNSEEN // batch
    numbers = range(first, first + max(1, frames // batch))
    return means([accuracies(model(pixels), labels) for pixels, labels in batches(seed, numbers, batch)])


def save(network: SmallResNet, folder: Path) -> None:
    """Write the network as transformers writes it, in half precision: a folder that transformers loads."""
    from transformers import ResNetConfig, ResNetModel

    config = ResNetConfig(embedding_size=STAGES[0], hidden_sizes=list(STAGES), depths=[1] * 4, layer_type="basic")
    config.image_size = IMAGE_SIZE
    theirs = ResNetModel(config)
    theirs.load_state_dict(network.state_dict())
    theirs.half().save_pretrained(folder)
