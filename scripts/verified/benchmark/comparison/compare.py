"""Compare runs on the same queries: scores, paired differences over all queries and groups, and the most different
queries.

Queries are grouped by properties of the moment and of its caption.
"""

import re
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from verified.benchmark.comparison.runs import Run
from verified.benchmark.intervals import Paired, compare_paired, intra_class_correlation, mean_interval
from verified.benchmark.submissions import Query
from verified.benchmark.vcmr.results import SETTINGS
from verified.errors import InputError
from verified.io.characters import length_in_words
from verified.tables.table import ONE_TRAINING_NOTE, Estimate, Table, estimate, p_or_why

SIMILAR = 0.5
"""Cosine of two captions' word weights (tf-idf) from which they count as similar."""
CELLS = 10_000_000
"""Cosines in memory at once."""
PARTS = 3


@dataclass(frozen=True)
class Group:
    """Queries that share something."""

    by: str
    label: str
    queries: np.ndarray
    """[Q] bool."""


def groups_of(queries: list[Query]) -> list[Group]:
    """All groups; a property that all queries share, or that the ground truth does not state, gives none."""
    seconds = np.array([query.end - query.start for query in queries])
    words = np.array([length_in_words(query.caption) for query in queries])
    groups = _thirds("length of the moment", seconds, "s") + _thirds("length of the caption", words, "words")
    groups += _groups_by_label("caption", [query.kind for query in queries])
    groups += _groups_by_label("position in the video", [_position(query) for query in queries])
    counts = count_similar([query.caption for query in queries], [query.video for query in queries])
    return groups + _groups_by_label("captions that are much alike", [_several(count) for count in counts])


def count_similar(captions: list[str], videos: list[str]) -> np.ndarray:
    """[Q] how many captions of other videos resemble each one (cosine of tf-idf weights ≥ `SIMILAR`)."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    if not any(re.search(r"\w", caption) for caption in captions):
        return np.zeros(len(captions), dtype=int)
    weights = TfidfVectorizer(token_pattern=r"\w+").fit_transform(captions)
    video = np.unique(videos, return_inverse=True)[1]
    counts = []
    rows = max(1, CELLS // len(captions))
    for start in range(0, len(captions), rows):
        block = (weights[start : start + rows] @ weights.T).toarray() >= SIMILAR
        counts.append((block & (video[start : start + rows, None] != video[None])).sum(axis=1))
    return np.concatenate(counts)


def _position(query: Query) -> str | None:
    if query.duration is None:
        return None
    third = int(PARTS * (query.start + query.end) / 2 / query.duration)
    return ("first third", "middle third", "last third")[min(third, PARTS - 1)]


def _several(count: int) -> str:
    return "none" if count == 0 else "1 to 4" if count < 5 else "5 and more"


def _groups_by_label(by: str, labels: list[str | None]) -> list[Group]:
    names = sorted({label for label in labels if label}, key=_order)
    if len(names) < 2:
        return []
    return [Group(by, name, np.array([label == name for label in labels])) for name in names]


def _order(label: str) -> tuple[int, str]:
    order = ("first third", "middle third", "last third", "none", "1 to 4", "5 and more", "statics", "dynamics")
    return (order.index(label) if label in order else len(order), label)


def _thirds(by: str, values: np.ndarray, unit: str) -> list[Group]:
    """Thirds of the queries by a number; equal numbers stay together, so thirds may differ in size."""
    bounds = np.unique(np.quantile(values, (1 / PARTS, 2 / PARTS), method="lower"))
    third = np.searchsorted(bounds, values, side="left")
    groups = []
    for number in range(len(bounds) + 1):
        low = "" if number == 0 else f"over {bounds[number - 1]:g}"
        high = "" if number == len(bounds) else f"up to {bounds[number]:g}"
        queries = third == number
        if queries.any():
            groups.append(Group(by, f"{' '.join(filter(None, (low, high)))} {unit}", queries))
    return groups if len(groups) > 1 else []


FEW = 10
"""The variance of fewer videos is hardly known."""
SHOWN = 5
"""Queries shown of those in which one run is ahead of another."""


def difference(first: Run, second: Run, metric: str, queries: np.ndarray) -> Paired:
    """The first run minus the second over `queries` [Q] bool, in percent and points."""
    x, y = (100 * run.values[metric][:, queries] for run in (first, second))
    return compare_paired(x, y, first.videos[queries])


def common_metrics(runs: list[Run], names: tuple[str, ...], usual: tuple[str, ...]) -> list[str]:
    """The metrics `names`, or by default those of `usual` that all runs have.

    Raises InputError for a wanted metric that a run lacks.
    """
    shared = set.intersection(*(set(run.values) for run in runs))
    for metric in names:
        if metric not in shared:
            raise InputError(f"not every run has the metric {metric!r}", remedy=f"known: {', '.join(sorted(shared))}")
    if not shared:
        raise InputError("the runs have no metric in common", remedy="give lists of the same tasks")
    return list(names) or [metric for metric in usual if metric in shared]


def scores_table(runs: list[Run], metrics: list[str]) -> Table:
    """Each run's `metrics`, best first by the first of them."""
    rows = []
    for run in runs:
        values = np.stack([run.values[metric] for metric in metrics], axis=2)
        intervals = mean_interval(100 * values, run.videos, top=100)
        cells = [estimate(*bounds, len(values)) for bounds in zip(intervals.value, intervals.low, intervals.high)]
        rows.append((run.name, len(values), *cells))
    rows.sort(key=lambda row: (-getattr(row[2], "value", row[2]), row[0]))
    notes = [
        f"Percent, mean over trainings; in brackets: 95 % interval over {_drawn(runs)}."
        " Whether a run is ahead of the next one is told by their paired difference, not by the order.",
        *_cautions(rows),
    ]
    return Table("scores", "scores of all runs", ("Run", "Trainings", *metrics), rows, notes)


def overall_table(runs: list[Run], metrics: list[str]) -> Table:
    """Every pair of runs in every metric."""
    everything = np.ones(len(runs[0].first), dtype=bool)
    rows = []
    for first, second in combinations(runs, 2):
        for metric in metrics:
            measured = difference(first, second, metric, everything)
            rows.append((first.name, second.name, _heading(metric), *_numbers(measured)))
    header = ("First", "Second", "Metric", *NUMBERS)
    notes = [
        f"{len(everything)} queries in {len(set(runs[0].videos))} videos; {', '.join(map(_trainings, runs))};"
        f" intra-class correlation of queries of one video: {_intra_class_range(runs, metrics)}.",
        f"In brackets: 95 % interval over {_drawn(runs)}; queries are paired."
        " p: two-sided, of that difference; not corrected for the number of comparisons.",
        *_cautions(rows),
        "Wins, losses: queries that the first run answers more or less often than the second, on the mean over its"
        " trainings.",
    ]
    notes += [
        f"{first.name} and {second.name} are trainings of one model with different settings."
        for first, second in combinations(runs, 2)
        if _unlike(first.metrics, second.metrics)
    ]
    return Table("comparison", "paired differences between runs", header, rows, notes, (0,) * 3 + DIGITS)


def _drawn(runs: list[Run]) -> str:
    """Units of the intervals: those of single trainings hold test videos alone."""
    videos = "test videos, drawn with all of their queries"
    return f"{videos}, and over trainings" if any(len(run.reciprocal) > 1 for run in runs) else videos


def _cautions(rows: list[tuple]) -> list[str]:
    single = any(isinstance(cell, Estimate) and cell.trainings == 1 for row in rows for cell in row)
    return [ONE_TRAINING_NOTE] if single else []


def _intra_class_range(runs: list[Run], metrics: list[str]) -> str:
    numbers = [
        float(intra_class_correlation(run.values[metric][:, :, None], run.videos)[0])
        for run in runs
        for metric in metrics
    ]
    values = [number for number in numbers if not np.isnan(number)]
    return f"{min(values):.2f} to {max(values):.2f} by run and metric" if values else "not known"


def _unlike(first: dict, second: dict) -> bool:
    """Whether two trainings of one model, as the workflow's metrics tell, were made with different settings."""
    one_model = first.get("model") and all(first.get(key) == second.get(key) for key in ("dataset", "model"))
    return bool(one_model) and first.get(SETTINGS) != second.get(SETTINGS)


def groups_table(runs: list[Run], metric: str, groups: list[Group]) -> Table:
    """Every pair of runs in one metric, by groups of queries."""
    rows = []
    for first, second in combinations(runs, 2):
        for group in groups:
            measured = difference(first, second, metric, group.queries)
            rows.append(
                (first.name, second.name, group.by, group.label, int(group.queries.sum()), *_numbers(measured)[:6])
            )
    notes = [
        f"{_heading(metric)}. Many groups are compared: of twenty differences without cause one has p below 0.05.",
        *_cautions(rows),
    ]
    if any(len(set(runs[0].videos[group.queries])) < FEW for group in groups):
        notes.append(f"In fewer than {FEW} videos, intervals and p are rough.")
    header = ("First", "Second", "By", "Queries", "Number", *NUMBERS[:6])
    digits = (0,) * 5 + DIGITS[:6]
    return Table(
        "comparison-groups", f"differences in {_heading(metric)} by groups of queries", header, rows, notes, digits
    )


def furthest_ahead(run: Run, other: Run) -> list[int]:
    """Queries (positions) in which a run is furthest ahead of another.

    Ahead by 1 / rank of the first answer that is right at tIoU 0.5, on the mean over trainings; ties by position.
    """
    ahead = run.reciprocal.mean(axis=0) - other.reciprocal.mean(axis=0)
    return [int(query) for query in np.argsort(-ahead, kind="stable")[:SHOWN] if ahead[query] > 0]


NUMBERS = ("First %", "Second %", "First minus second", "p", "Wins", "Losses", "Equal")
DIGITS = (2, 2, 2, 3, 0, 0, 0)


def _numbers(test: Paired) -> tuple:
    points = estimate(test.value, test.low, test.high, test.trainings)
    return test.first, test.second, points, p_or_why(test.p), test.wins, test.losses, test.equal


def _heading(metric: str) -> str:
    return metric.replace("/", " ", 1)


def _trainings(run: Run) -> str:
    return f"{run.name}: {len(run.files)} training{'s' if len(run.files) > 1 else ''}"
