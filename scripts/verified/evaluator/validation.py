"""How well confidence tells faithful captions from disturbed ones: areas, calibration, histograms, precision."""

import numpy as np

from verified.common.auroc import auroc_interval
from verified.evaluator.graded import DYNAMIC, FAITHFUL, STATIC, Graded

BINS = 10
HISTOGRAM_BINS = 40
COVERAGES = np.linspace(0.05, 1.0, 20)


def validation(graded: list[Graded], values: dict[str, np.ndarray], chosen: str, resamples: int, seed: int) -> dict:
    """Everything about one set of graded captions; `values` as of `confidences`, `chosen` the reading used as score."""
    score, probability = values[chosen], values["probability"]
    faithful = np.array([item.kind == FAITHFUL for item in graded], dtype=bool)
    return {
        "captions": {kind: sum(item.kind == kind for item in graded) for kind in (FAITHFUL, STATIC, DYNAMIC)},
        "moments": len({item.desc_id for item in graded}),
        "auroc": areas(graded, score, resamples, seed),
        "calibration": calibration(probability, faithful),
        "histogram": histogram(graded, score),
        "precision_coverage": precision_coverage(score, faithful),
    }


def areas(graded: list[Graded], score: np.ndarray, resamples: int, seed: int) -> dict[str, dict]:
    """AUROC of faithful against static and against dynamic captions, with 95 % intervals over moments."""
    found = {}
    for kind in (STATIC, DYNAMIC):
        places = [
            n for n, item in enumerate(graded) if item.kind == kind or (item.kind == FAITHFUL and kind in item.group)
        ]
        positive = np.array([graded[n].kind == FAITHFUL for n in places], dtype=bool)
        units = np.array([graded[n].desc_id for n in places])
        entry = {"faithful": int(positive.sum()), "disturbed": int((~positive).sum())}
        numbers = (None, None, None)
        if entry["faithful"] and entry["disturbed"]:
            numbers = (round(float(n), 6) for n in auroc_interval(score[places], positive, units, resamples, seed))
        found[kind] = {**entry, **dict(zip(("value", "low", "high"), numbers))}
    return found


def calibration(probability: np.ndarray, faithful: np.ndarray) -> list[dict]:
    """Ten equal bins of probability: captions, their mean probability and the share that is faithful (None: empty)."""
    place = np.minimum((probability * BINS).astype(int), BINS - 1)
    rows = []
    for number in range(BINS):
        inside = place == number
        count = int(inside.sum())
        rows.append({
            "from": number / BINS, "to": (number + 1) / BINS, "captions": count,
            "mean_probability": round(float(probability[inside].mean()), 6) if count else None,
            "faithful_share": round(float(faithful[inside].mean()), 6) if count else None,
        })  # fmt: skip
    return rows


def histogram(graded: list[Graded], score: np.ndarray) -> dict:
    """Counts of scores in forty equal bins from the lowest to the highest score, by kind."""
    if not len(score):
        return {"edges": [], FAITHFUL: [], STATIC: [], DYNAMIC: []}
    edges = np.histogram_bin_edges(score, HISTOGRAM_BINS)
    kinds = np.array([item.kind for item in graded])
    counts = {kind: np.histogram(score[kinds == kind], edges)[0].tolist() for kind in (FAITHFUL, STATIC, DYNAMIC)}
    return {"edges": [round(float(edge), 6) for edge in edges], **counts}


def precision_coverage(score: np.ndarray, faithful: np.ndarray) -> list[dict]:
    """What a score threshold buys: keep the best share (coverage) of captions, and this share of them is faithful."""
    order = np.argsort(-score, kind="stable")
    rows = []
    for coverage in COVERAGES if len(score) else []:
        kept = order[: max(1, round(coverage * len(score)))]
        rows.append({
            "coverage": round(len(kept) / len(score), 6), "threshold": round(float(score[kept[-1]]), 6),
            "precision": round(float(faithful[kept].mean()), 6),
        })  # fmt: skip
    return rows
