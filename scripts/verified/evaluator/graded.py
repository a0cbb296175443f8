"""Captions that are known to be faithful or disturbed, to grade the evaluator by."""

from dataclasses import dataclass

import numpy as np
import torch

from verified.common.progress import track
from verified.evaluator.clips import CodedClips
from verified.evaluator.model import NoiseEvaluator
from verified.evaluator.sampling import scoring_view
from verified.evaluator.score import moment_readings

FAITHFUL, STATIC, DYNAMIC = "faithful", "static", "dynamic"
TYPE_OF_KIND = {STATIC: "statics", DYNAMIC: "dynamics"}


@dataclass(frozen=True)
class Graded:
    """One caption: `kind` says what is true of it, `group` which disturbed captions it may be compared with (static,
    dynamic or both)."""

    desc_id: int
    caption: str
    kind: str
    group: tuple[str, ...]


def spoiled_candidates(captions: list[dict], spoiled: list[dict]) -> list[Graded]:
    """The demo's candidates by its truth: statics captions are compared with statically spoiled statics captions,
    dynamics captions with dynamically spoiled dynamics captions; a candidate spoiled in the other way is left out.

    captions: rows of captions/{statics,dynamics}; spoiled: rows of captions/spoiled.
    """
    wrong = {(row["desc_id"], row["type"], row["candidate"]): row["kind"] for row in spoiled}
    graded = []
    for row in captions:
        group = next(kind for kind, name in TYPE_OF_KIND.items() if name == row["type"])
        for place, candidate in enumerate(row["candidates"]):
            kind = wrong.get((row["desc_id"], row["type"], place), FAITHFUL)
            if kind in (FAITHFUL, group):
                graded.append(Graded(row["desc_id"], candidate["caption"], kind, (group,)))
    return graded


def unseen_perturbations(perturbations: list[dict]) -> list[Graded]:
    """Perturbed captions that were not selected, so that fine-tuning never saw them: rewritten positives count as
    faithful, negatives as disturbed."""
    graded = []
    for row in perturbations:
        selected = row["selected"] or {}
        used = {row["caption"], *(text for text in selected.values() if text)}
        for kind, texts in ((FAITHFUL, "positives"), (STATIC, "statics"), (DYNAMIC, "dynamics")):
            group = (STATIC, DYNAMIC) if kind == FAITHFUL else (kind,)
            for caption in dict.fromkeys(row[texts]):
                if caption not in used:
                    graded.append(Graded(row["desc_id"], caption, kind, group))
    return graded


def confidences(
    model: NoiseEvaluator,
    graded: list[Graded],
    clips: list[np.ndarray | CodedClips],
    indices: list[list[dict]],
    device: torch.device,
    precision: str = "float32",
) -> tuple[list[Graded], dict[str, np.ndarray]]:
    """The graded captions whose moments have a clip, and their readings by name, float64 [n] each."""
    where = {
        entry["desc_id"]: (array, row)
        for array, index in enumerate(indices)
        for row, entry in enumerate(index)
        if not entry["reason"]
    }
    by_moment: dict[int, list[Graded]] = {}
    for item in graded:
        if item.desc_id in where:
            by_moment.setdefault(item.desc_id, []).append(item)
    model.to(device).eval()
    kept, values = [], {"z1": [], "margin": [], "probability": [], "similarity": []}
    for desc_id, items in track(by_moment.items(), "graded captions", len(by_moment), "moments"):
        array, row = where[desc_id]
        view = scoring_view(clips[array][row], model.size.frames, model.size.image_size)
        frames = torch.from_numpy(view).to(device)
        readings, _ = moment_readings(model, frames, [item.caption for item in items], precision)
        kept.extend(items)
        for name, numbers in readings.items():
            values[name].extend(numbers.tolist())
    return kept, {name: np.array(numbers, np.float64) for name, numbers in values.items()}
