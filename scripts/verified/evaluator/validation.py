"""Grade the evaluator by captions of known truth, faithful or perturbed: areas, calibration, an ablation."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from verified.benchmark.auroc import auroc_interval
from verified.evaluator.checkpoint import load_checkpoint
from verified.evaluator.clips import CodedClips, open_clips
from verified.evaluator.inputs import scoring_view
from verified.evaluator.model import NoiseEvaluator
from verified.evaluator.score import caption_readings, encode_moment
from verified.io.jsonl import read_json, read_jsonl, write_json
from verified.nn.layers import visible_device
from verified.runtime.progress import track

FAITHFUL, STATIC, DYNAMIC = "faithful", "static", "dynamic"
READINGS = "z1", "margin", "probability", "similarity"
TYPE_OF_KIND = {STATIC: "statics", DYNAMIC: "dynamics"}


@dataclass(frozen=True)
class Graded:
    """One caption: `kind` is its truth, `group` the perturbed captions it may be compared with (static, dynamic or
    both).
    """

    desc_id: int
    caption: str
    kind: str
    group: tuple[str, ...]


def corrupted_candidates(captions: list[dict], corrupted: list[dict]) -> list[Graded]:
    """The demo's candidates by its truth: statics captions are compared with statically corrupted statics captions,
    dynamics captions with dynamically corrupted dynamics captions; a candidate corrupted in the other way is omitted.

    captions: rows of captions/{statics,dynamics}; corrupted: rows of the files beside them.
    """
    wrong = {(row["desc_id"], row["type"], row["candidate"]): row["kind"] for row in corrupted}
    graded = []
    for row in captions:
        group = next(kind for kind, name in TYPE_OF_KIND.items() if name == row["type"])
        for number, candidate in enumerate(row["candidates"]):
            kind = wrong.get((row["desc_id"], row["type"], number), FAITHFUL)
            if kind in (FAITHFUL, group):
                graded.append(Graded(row["desc_id"], candidate["caption"], kind, (group,)))
    return graded


def unseen_perturbations(perturbations: list[dict]) -> list[Graded]:
    """Perturbed captions that were not selected, so that fine-tuning never saw them: rewritten positives count as
    faithful, negatives as perturbed."""
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


Readings = dict[str, np.ndarray]
"""Readings of captions by name (z1, margin, probability, similarity), float64 [n] each."""


def confidences(
    model: NoiseEvaluator,
    sets: dict[str, list[Graded]],
    clips: list[np.ndarray | CodedClips],
    indices: list[list[dict]],
    device: torch.device,
    precision: str = "float32",
) -> dict[str, tuple[list[Graded], Readings]]:
    """Graded captions of each set whose moments have a clip, moment by moment, and their readings.

    A moment's clip is encoded once for all sets.
    """
    places = {
        entry["desc_id"]: (array, row)
        for array, index in enumerate(indices)
        for row, entry in enumerate(index)
        if not entry["reason"]
    }
    by_moment: dict[str, dict[int, list[Graded]]] = {name: {} for name in sets}
    for name, graded in sets.items():
        for caption in graded:
            if caption.desc_id in places:
                by_moment[name].setdefault(caption.desc_id, []).append(caption)
    model.to(device).eval()
    moments = list(dict.fromkeys(desc_id for of_set in by_moment.values() for desc_id in of_set))
    read: dict[str, dict[int, Readings]] = {name: {} for name in sets}
    for desc_id in track(moments, "graded captions", len(moments), "moments"):
        array, row = places[desc_id]
        view = scoring_view(clips[array][row], model.size.frames, model.size.image_size)
        moment = encode_moment(model, torch.from_numpy(view).to(device), precision)
        for name, of_set in by_moment.items():
            if captions := of_set.get(desc_id):
                readings, _ = caption_readings(model, moment, [caption.caption for caption in captions], precision)
                read[name][desc_id] = {key: values.double().cpu().numpy() for key, values in readings.items()}
    return {
        name: (
            [caption for captions in of_set.values() for caption in captions],
            {key: np.concatenate([np.zeros(0), *(read[name][desc_id][key] for desc_id in of_set)]) for key in READINGS},
        )
        for name, of_set in by_moment.items()
    }


def grade(
    model: NoiseEvaluator, files: Mapping[str, Any], device: torch.device, precision: str
) -> dict[str, tuple[list[Graded], Readings]]:
    """`confidences` of the sets of a data set, from its lists of files `perturbations`, `clips` and `indices`, and
    `captions` and `corrupted` where the truth of its candidates is known."""

    def rows_of(name: str) -> list[dict]:
        return [row for file in files.get(name) or () for row in read_jsonl(file)]

    indices = [read_jsonl(file) for file in files["indices"]]
    clips = [open_clips(file, index) for file, index in zip(files["clips"], indices)]
    sets = {"perturbations": unseen_perturbations(rows_of("perturbations"))}
    if files.get("corrupted"):
        sets["corrupted"] = corrupted_candidates(rows_of("captions"), rows_of("corrupted"))
    return confidences(model, sets, clips, indices, device, precision)


BINS = 10
HISTOGRAM_BINS = 40
COVERAGES = np.linspace(0.05, 1.0, 20)


def validation(graded: list[Graded], values: dict[str, np.ndarray], confidence: str, resamples: int, seed: int) -> dict:
    """Everything about one set of graded captions; `values` as of `confidences`, of which `confidence` is the score."""
    score, probability = values[confidence], values["probability"]
    faithful = np.array([caption.kind == FAITHFUL for caption in graded], dtype=bool)
    return {
        "captions": {kind: sum(caption.kind == kind for caption in graded) for kind in (FAITHFUL, STATIC, DYNAMIC)},
        "moments": len({caption.desc_id for caption in graded}),
        "auroc": areas(graded, score, resamples, seed),
        "calibration": calibration(probability, faithful),
        "histogram": histogram(graded, score),
        "precision_coverage": precision_coverage(score, faithful),
    }


def areas(graded: list[Graded], score: np.ndarray, resamples: int, seed: int) -> dict[str, dict]:
    """AUROC of faithful against static and dynamic captions by `score` [captions], with intervals over moments."""
    measured = {}
    for kind in (STATIC, DYNAMIC):
        members = [
            n
            for n, caption in enumerate(graded)
            if caption.kind == kind or (caption.kind == FAITHFUL and kind in caption.group)
        ]
        positive = np.array([graded[n].kind == FAITHFUL for n in members], dtype=bool)
        units = np.array([graded[n].desc_id for n in members])
        entry = {"faithful": int(positive.sum()), "perturbed": int((~positive).sum())}
        numbers = (None, None, None)
        if entry["faithful"] and entry["perturbed"]:
            numbers = (round(float(n), 6) for n in auroc_interval(score[members], positive, units, resamples, seed))
        measured[kind] = {**entry, **dict(zip(("value", "low", "high"), numbers))}
    return measured


def calibration(probability: np.ndarray, faithful: np.ndarray) -> list[dict]:
    """Ten equal bins of probability [captions]: captions, their mean and the share that is faithful (None: empty)."""
    bins = np.minimum((probability * BINS).astype(int), BINS - 1)
    rows = []
    for number in range(BINS):
        inside = bins == number
        count = int(inside.sum())
        rows.append(
            {
                "from": number / BINS,
                "to": (number + 1) / BINS,
                "captions": count,
                "mean_probability": round(float(probability[inside].mean()), 6) if count else None,
                "faithful_share": round(float(faithful[inside].mean()), 6) if count else None,
            }
        )
    return rows


def histogram(graded: list[Graded], score: np.ndarray) -> dict:
    """Counts of scores [captions] in forty equal bins from the lowest to the highest score, by kind."""
    if not len(score):
        return {"edges": [], FAITHFUL: [], STATIC: [], DYNAMIC: []}
    edges = np.histogram_bin_edges(score, HISTOGRAM_BINS)
    kinds = np.array([caption.kind for caption in graded])
    counts = {kind: np.histogram(score[kinds == kind], edges)[0].tolist() for kind in (FAITHFUL, STATIC, DYNAMIC)}
    return {"edges": [round(float(edge), 6) for edge in edges], **counts}


def precision_coverage(score: np.ndarray, faithful: np.ndarray) -> list[dict]:
    """Precision and coverage of a threshold on scores [captions]: the share of faithful captions above it, and the
    share above it."""
    order = np.argsort(-score, kind="stable")
    rows = []
    for coverage in COVERAGES if len(score) else []:
        accepted = order[: max(1, round(coverage * len(score)))]
        rows.append(
            {
                "coverage": round(len(accepted) / len(score), 6),
                "threshold": round(float(score[accepted[-1]]), 6),
                "precision": round(float(faithful[accepted].mean()), 6),
            }
        )
    return rows


log = logging.getLogger("verified")


def ablate(
    checkpoints: dict[str, str],
    datasets: list[dict],
    validated: tuple[str, dict[str, str]],
    confidence: str,
    precision: str,
    seed: int,
    resamples: int,
    output: str,
) -> None:
    """Write rows {dataset, set, variant, static, dynamic} of AUROCs (see `areas`).

    checkpoints: variant → its file. datasets: for each its `name`, and lists of files as of `grade`. validated: another
    variant, and for each data set the file that has its areas already (see `validation`).
    """
    device = torch.device(visible_device())
    rows, before = [], None
    for variant, path in checkpoints.items():
        model = load_checkpoint(path)
        model.vision.remember_frames(before)
        before = model.vision
        for dataset in datasets:
            graded = grade(model, dataset, device, precision)
            for name, (with_clips, values) in graded.items():
                measured = areas(with_clips, values[confidence], resamples, seed)
                rows.append({"dataset": dataset["name"], "set": name, "variant": variant, **measured})
                log.info("%s, %s: %s", variant, name, measured)
    variant, files = validated
    for dataset in datasets:
        for name, of_set in read_json(files[dataset["name"]])["sets"].items():
            rows.append({"dataset": dataset["name"], "set": name, "variant": variant, **of_set["auroc"]})
    write_json(output, rows)
