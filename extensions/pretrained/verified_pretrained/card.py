"""The card of the shipped weights: training settings, accuracies, digests and the data excluded from training."""

from collections import defaultdict
from pathlib import Path

import numpy as np
import torch

from verified.benchmark.auroc import auroc
from verified.evaluator.checkpoint import load_checkpoint
from verified.evaluator.model import NoiseEvaluator
from verified.evaluator.score import moment_readings
from verified.io.files import file_digest
from verified.io.jsonl import read_json, read_jsonl, write_json
from verified.runtime.progress import Progress
from verified_pretrained.evaluator import synthetic_item

EVENTS = 200
"""Unseen events that grade an evaluator."""
UNSEEN = 10**9
"""Number of the first event that grades an evaluator: after those of any pre-training."""
PERTURBED = 3
READINGS = ("z1", "margin", "similarity")
NEVER_SEEN = (
    "No video, event or caption of a demo corpus: the separate world draws its events from seeds derived under names of"
    " its own. No file compressed as MP4: frames come straight from the rasteriser."
)


def grade(model: NoiseEvaluator, seed: int, count: int) -> dict[str, dict[str, float]]:
    """AUROC by kind of corruption and reading, true captions of unseen events against corrupted ones."""
    model.eval()
    scores: dict[str, dict[str, list[float]]] = {kind: defaultdict(list) for kind in ("static", "dynamic")}
    progress = Progress("unseen events", count, "events")
    for number in range(count):
        item = synthetic_item(seed, UNSEEN + number, model.size.frames, model.size.image_size, PERTURBED)
        captions = [item.caption, *item.static, *item.dynamic]
        readings, _ = moment_readings(model, torch.from_numpy(item.frames), captions)
        for name in READINGS:
            true, *false = readings[name].tolist()
            for kind, values in zip(scores, (false[:PERTURBED], false[PERTURBED:])):
                scores[kind][name] += [true, *values]
        progress.step()
    progress.finish()
    positive = np.tile([True] + [False] * PERTURBED, count)
    return {
        kind: {name: round(auroc(np.array(values[name]), positive), 4) for name in READINGS}
        for kind, values in scores.items()
    }


FILES = (
    "image-backbone/config.json",
    "image-backbone/model.safetensors",
    "evaluator.safetensors",
    "image-backbone.log.jsonl",
    "evaluator.log.jsonl",
)


def write_card(weights: Path, accuracy: Path, plan: dict, output: Path) -> None:
    """Grade the evaluator and write the card of FILES below the folder `weights`.

    accuracy: file of the image network's. plan: command, seed, commit and the sizes of both trainings.
    """
    grades = grade(load_checkpoint(weights / "evaluator.safetensors"), plan["seed"], EVENTS)
    image_log, log = (read_jsonl(weights / f"{name}.log.jsonl") for name in ("image-backbone", "evaluator"))
    write_json(
        output,
        {
            **plan,
            "never_seen": NEVER_SEEN,
            "image_backbone": {"unseen frames": read_json(accuracy), "last step": image_log[-1]},
            "evaluator": {"unseen events": EVENTS, "auroc": grades, "last step": log[-1]},
            "files": {
                name: {"bytes": (weights / name).stat().st_size, "sha256": file_digest(weights / name)}
                for name in FILES
            },
        },
    )
