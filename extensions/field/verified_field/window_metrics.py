"""QVHighlights' measures, as numbers per query (the official evaluator, moment_detr's standalone_eval).

Moments: R1 is whether the first window of the list reaches a tIoU with the true window of largest overlap; average
precision uses the first ten of the list, ranked by score, each matched with the true window of highest tIoU that is
still unmatched. Highlights: a clip is right for an annotator who gave it 2 (Fair), 3 (Good) or 4 (VeryGood) at least;
interpolated average precision is the mean over annotators, Hit1 is whether the best clip is right for one.

Differences from the official code: a query without a window counts as missed (there R1 crashes and average precision
omits it); two windows without length do not match (there 0 by 0 does); the union of spans is their hull, which may
round otherwise in the last of 16 digits.
"""

import dataclasses
import itertools
from collections.abc import Iterable

import numpy as np

from verified.benchmark.submissions import WindowAnswer
from verified.benchmark.tiou import tiou
from verified_field.window_rows import ANNOTATORS, WindowQuery

THRESHOLDS = tuple(round(0.5 + 0.05 * step, 2) for step in range(10))
"""tIoU thresholds of R1 and of average precision: .50, .55, ... .95."""
RANGES = {"short": (0, 10), "middle": (10, 30), "long": (30, 150), "full": None}
"""True windows longer than the first and up to the second number of seconds; full has all."""
SALIENT = {"Fair": 2, "Good": 3, "VeryGood": 4}
"""The least saliency of a clip that is right."""
MOST_WINDOWS = 10
"""Rows of a list that count for average precision."""


@dataclasses.dataclass(frozen=True)
class WindowScores:
    """Scores of Q queries."""

    videos: tuple[str, ...]
    """[Q]"""
    first: dict[str, np.ndarray]
    """{range: [Q] tIoU of the first window}, NaN where a query has no true window of the range. Empty, as `precision`,
    where a submission has no windows."""
    precision: dict[str, np.ndarray]
    """{range: [Q, thresholds]} average precision, NaN as in `first`."""
    highlights: dict[str, np.ndarray]
    """{least: [Q, 2] average precision and Hit1}; empty where the submission or the truth has no saliency."""


def score(queries: list[WindowQuery], answers: dict[str, WindowAnswer]) -> WindowScores:
    """Score the queries that have an answer, in their order."""
    answered = [query for query in queries if query.qid in answers]
    predictions = [answers[query.qid] for query in answered]
    first, precision, highlights = {}, {}, {}
    listed = [answer.windows for answer in predictions if answer.windows is not None]
    if listed and len(listed) == len(predictions):
        for name, bounds in RANGES.items():
            pairs = [_moments(_within(query.windows, bounds), rows) for query, rows in zip(answered, listed)]
            first[name] = np.array([best for best, _ in pairs])
            precision[name] = np.array([each for _, each in pairs])
    rated = [
        (query.saliency, answer.saliency)
        for query, answer in zip(answered, predictions)
        if query.saliency is not None and answer.saliency is not None
    ]
    if rated and len(rated) == len(predictions):
        for name, least in SALIENT.items():
            highlights[name] = np.array([_highlights(truth >= least, saliency) for truth, saliency in rated])
    return WindowScores(tuple(query.video for query in answered), first, precision, highlights)


def _within(windows: np.ndarray, bounds: tuple[float, float] | None) -> np.ndarray:
    if bounds is None:
        return windows
    lengths = windows[:, 1] - windows[:, 0]
    return windows[(lengths > bounds[0]) & (lengths <= bounds[1])]


def overlap(windows: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """tIoU [R, W] of a list's rows [R, 3] with true windows [W, 2]."""
    return tiou(rows[:, None, 0], rows[:, None, 1], windows[None, :, 0], windows[None, :, 1])


def _moments(windows: np.ndarray, rows: np.ndarray) -> tuple[float, np.ndarray]:
    """tIoU of the first of `rows` [R, 3] with `windows` [W, 2], and average precision [thresholds]."""
    if not len(windows):
        return np.nan, np.full(len(THRESHOLDS), np.nan)
    overlaps = overlap(windows, rows)
    ranked = overlaps[:MOST_WINDOWS][np.argsort(-rows[:MOST_WINDOWS, 2], kind="stable")]
    return float(overlaps[0].max()) if len(rows) else 0.0, average_precision(ranked, np.array(THRESHOLDS))


def average_precision(overlaps: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Interpolated average precision at each of `thresholds`, of tIoUs [rows, best first; true windows]."""
    rows, count = overlaps.shape
    if not rows:
        return np.zeros(len(thresholds))
    taken = np.zeros((len(thresholds), count), bool)
    right = np.zeros((len(thresholds), rows), bool)
    for row, each in enumerate(overlaps):
        free = np.where(~taken & (each >= thresholds[:, None]), each, -1)
        best = count - 1 - free[:, ::-1].argmax(axis=1)  # of equal ones the last, as the official code
        right[:, row] = np.take_along_axis(free, best[:, None], axis=1)[:, 0] >= 0
        taken[right[:, row], best[right[:, row]]] = True
    hits = np.cumsum(right, axis=1)
    envelope = np.maximum.accumulate((hits / np.arange(1, rows + 1))[:, ::-1], axis=1)[:, ::-1]
    return (np.diff(hits / count, axis=1, prepend=0) * envelope).sum(axis=1)


def _highlights(right: np.ndarray, saliency: np.ndarray) -> tuple[float, float]:
    """Average precision, the mean over annotators, and Hit1 of `right` [clips, annotators]."""
    best = int(saliency.argmax())
    padded = np.zeros(len(right))  # a list that is too short or too long is filled up or cut, as in the official code
    padded[: len(saliency)] = saliency[: len(right)]
    each = [_clip_precision(right[:, annotator], padded) for annotator in range(ANNOTATORS)]
    return float(np.mean(each)), float(best < len(right) and right[best].any())


def _clip_precision(right: np.ndarray, saliency: np.ndarray) -> float:
    """Mean, over the steps of recall, of the best precision at that recall or more."""
    # Here: who scores windows alone does not wait for it.
    from sklearn.metrics import precision_recall_curve

    if right.all() or not right.any():
        return float(right.any())
    precision, recall, _ = precision_recall_curve(right, saliency)
    return float(np.maximum.accumulate(precision)[np.flatnonzero(np.diff(recall))].mean())


def measures(scores: WindowScores, thresholds: Iterable[float] = (0.3,)) -> dict[str, np.ndarray]:
    """The measures of the official summary, R1 at additional `thresholds`, and mIoU: numbers per query [Q] from 0 to
    1."""
    values: dict[str, np.ndarray] = {}
    if scores.first:
        first, precision = scores.first["full"], scores.precision["full"]
        values = {
            f"R1@{threshold:g}": (first >= threshold).astype(float) for threshold in sorted({*thresholds, 0.5, 0.7})
        }
        values |= {"mAP": precision.mean(axis=1), "mIoU": first}
        values |= {f"mAP@{threshold:g}": precision[:, THRESHOLDS.index(threshold)] for threshold in (0.5, 0.75)}
    for name, columns in scores.highlights.items():
        values |= {f"HL-{name}-mAP": columns[:, 0], f"HL-{name}-Hit1": columns[:, 1]}
    return values


def official_result(scores: WindowScores) -> dict[str, dict]:
    """The output of the official evaluator, key by key: percent, two decimals; None for a range without a window."""
    result: dict[str, dict] = {}
    for name, first in scores.first.items():
        mask = ~np.isnan(first)
        by_threshold = scores.precision[name][mask].mean(axis=0) if mask.any() else np.full(len(THRESHOLDS), np.nan)
        result[name] = {
            "MR-mAP": {
                **{f"{threshold:g}": _percent(value) for threshold, value in zip(THRESHOLDS, by_threshold)},
                "average": _percent(by_threshold.mean()),
            },
            "MR-R1": {
                f"{threshold:g}": _percent((first[mask] >= threshold).mean() if mask.any() else np.nan)
                for threshold in THRESHOLDS
            },
        }
    for name, columns in scores.highlights.items():
        precision, hit = columns.mean(axis=0)
        result[f"HL-min-{name}"] = {"HL-mAP": _percent(precision), "HL-Hit1": _percent(hit)}
    brief = dict(itertools.chain(_brief_moments(result), _brief_highlights(result)))
    return {"brief": brief, **dict(sorted(result.items()))}


def _brief_moments(result: dict):
    if "full" not in result:
        return
    full = result["full"]
    yield from ((f"MR-full-R1@{threshold}", full["MR-R1"][threshold]) for threshold in ("0.5", "0.7"))
    yield "MR-full-mAP", full["MR-mAP"]["average"]
    yield from ((f"MR-full-mAP@{threshold}", full["MR-mAP"][threshold]) for threshold in ("0.5", "0.75"))
    yield from ((f"MR-{name}-mAP", result[name]["MR-mAP"]["average"]) for name in ("long", "middle", "short"))


def _brief_highlights(result: dict):
    for name in SALIENT:
        for key, value in result.get(f"HL-min-{name}", {}).items():
            yield f"HL-min-{name}-{key.removeprefix('HL-')}", value


def _percent(share: float) -> float | None:
    return None if np.isnan(share) else float(f"{100 * share:.2f}")
