"""Small ResNet in place of ResNet-152 with ImageNet's weights, trained to classify the contents of a frame.

As ImageNet's classes teach a network edges, textures and parts, the labels of the separate synthetic corpus teach this
one its objects. The classifiers are discarded and the pooled features remain. The folder has the format of
transformers, so the workflow treats it like ResNet-152.

A labelled frame has its true classes. Its seed is derived under a separate name, so that no event is shared with the
demo corpus or with the evaluator's pre-training.
"""

import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import reduce
from operator import add
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from verified.demo.motion import positions
from verified.demo.render import draw_actors, draw_stage, finish
from verified.demo.scenes import Event, Scene, draw_event
from verified.demo.shapes import BACKGROUNDS, COLOURS, EXTENT, SHAPES, TEXTURES
from verified.demo.tiny_evaluator.stem import IMAGE_SIZE, STAGES, SmallResNet
from verified.evaluator.vision import normalise
from verified.io.jsonl import Row, write_json, write_jsonl
from verified.nn import training
from verified.nn.layers import channels_last
from verified.nn.training import TrainingProgress, TrainingState, fingerprint
from verified.runtime.digest import modules_digest
from verified.runtime.processes import prefetch
from verified.runtime.seeds import derive_seed

FPS = 8
LONGEST = 10 * FPS
"""Frames within which an event must end."""
GRID = 7
"""The place of the actors is one of GRID × GRID cells of the picture."""
UNKNOWN = -100
"""Label of an invisible attribute; torch's cross entropy ignores it."""
CLASSES = {
    "shape": len(SHAPES),
    "colour": len(COLOURS),
    "texture": len(TEXTURES),
    "count": 3,
    "size": 2,
    "cell": GRID**2,
    "background": len(BACKGROUNDS),
    "bystander_shape": len(SHAPES) + 1,
    "bystander_colour": len(COLOURS) + 1,
}
"""Label → number of classes; a bystander's last class means "no bystander"."""


def labelled_frame(seed: int, number: int, size: int) -> tuple[np.ndarray, dict[str, int]]:
    """Frame `number`, uint8 [size, size, 3] RGB, and its classes by label; a pure function of its arguments."""
    rng = random.Random(derive_seed(seed, "labelled frames of the separate world", number))
    event = draw_event(rng, 0, LONGEST, FPS)
    time = rng.uniform(0.02, 0.98) * (event.last - event.first) / FPS
    scene = next(scene for scene in reversed(event.scenes) if scene.first / FPS <= event.first / FPS + time)
    canvas = np.empty((1, size, size, 3), np.float32)
    draw_stage(canvas, scene, np.array([time - (scene.first - event.first) / FPS]))
    draw_actors(canvas, event, np.array([time]))
    return finish(canvas, rng)[0], {**_actors(event, time), **_stage(scene)}


def _actors(event: Event, time: float) -> dict[str, int]:
    x, y, _, present = positions(event.placed.path, np.array([time]))
    if not present[0]:
        return dict.fromkeys(("shape", "colour", "texture", "count", "size", "cell"), UNKNOWN)
    middle = np.mean(event.placed.offsets, axis=0) + np.array([x[0], y[0]])
    column, row = np.clip((middle * GRID / EXTENT).astype(int), 0, GRID - 1)
    return {
        "shape": SHAPES.index(event.shape),
        "colour": list(COLOURS).index(event.colour),
        "texture": TEXTURES.index(event.texture),
        "count": event.count - 1,
        "size": UNKNOWN if event.placed.size is None else int(event.placed.size == "large"),
        "cell": int(row * GRID + column),
    }


def _stage(scene: Scene) -> dict[str, int]:
    bystander = scene.bystander
    return {
        "background": list(BACKGROUNDS).index(scene.background),
        "bystander_shape": SHAPES.index(bystander.shape) if bystander else len(SHAPES),
        "bystander_colour": list(COLOURS).index(bystander.colour) if bystander else len(COLOURS),
    }


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
        """Learning rate of `step` (from 0): linear warm-up over a twentieth of the steps, then linear decay to zero."""
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


def run_training(schedule: Schedule, save_seconds: float, folder: str, record: str, graded: str) -> None:
    """Train, evaluate, and write the folder, its log and its accuracy. During training its state is saved next to the
    folder.
    """
    owner = fingerprint(modules_digest(__name__), asdict(schedule), [])
    state = TrainingState(Path(folder).with_name("unfinished-image-backbone.safetensors"), owner, save_seconds)
    model, rows = train(schedule, state)
    accuracy = grade(model, schedule.seed, GRADED, schedule.batch)
    save(model.network, Path(folder))
    write_json(graded, {"frames": GRADED, "accuracy": accuracy})
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
        labels = {name: torch.tensor([classes[name] for _, classes in items]) for name in CLASSES}
        yield torch.from_numpy(np.stack([frame for frame, _ in items])), labels


def accuracies(logits: dict[str, Tensor], labels: dict[str, Tensor]) -> dict[str, float]:
    """Share of right classes by label; NaN where no frame shows the attribute."""
    shares = {}
    for name, values in logits.items():
        mask = labels[name] >= 0
        shares[name] = (values.argmax(1) == labels[name])[mask].float().mean().item()
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
