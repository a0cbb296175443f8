"""The demo's stand-in for UMT's pre-training on 25 million pairs: clips of a separate world with full true captions."""

import numpy as np
import torch

from verified.common.seeds import derive_seed
from verified.corpus.clips import separate_world_clips
from verified.evaluator.architecture import Architecture
from verified.evaluator.batches import make_batch
from verified.evaluator.model import NoiseEvaluator
from verified.evaluator.step import Batch, TrainingStep
from verified.evaluator.training import Schedule, train

LABEL = "pre-training"


def pretrain(
    size: Architecture, clips: int, batch: int, learning_rate: float, seed: int
) -> tuple[NoiseEvaluator, list]:
    """Train a fresh network on `clips` clips, each seen once; returns it and the log rows."""
    torch.manual_seed(derive_seed(seed, "evaluator weights"))
    model = NoiseEvaluator(size)
    generator = torch.Generator().manual_seed(derive_seed(seed, "evaluator pre-training negatives"))
    step = TrainingStep(model, "all", "batch", generator)
    steps = max(1, clips // batch)

    def batch_of(number: int) -> Batch:
        return world_batch(seed, number * batch, batch, size)

    schedule = Schedule(steps, max(1, steps // 20), learning_rate)
    return model, train(step, batch_of, schedule, LABEL, torch.device("cpu"))


def world_batch(seed: int, first: int, count: int, size: Architecture) -> Batch:
    """Clips `first` to `first + count` of the separate world with their true and disturbed captions."""
    drawn = list(separate_world_clips(seed, count, size.frames, size.image_size, first))
    captions = {
        "caption": [clip.caption for clip in drawn],
        "static": [clip.static_disturbed for clip in drawn],
        "dynamic": [clip.dynamic_disturbed for clip in drawn],
    }
    names = [f"world clip {first + place}" for place in range(count)]
    made, _ = make_batch(np.stack([clip.frames for clip in drawn]), captions, names)
    return made
