"""Recall and mean tIoU of VCMR, SVMR and VR on arrays, a number per query; recall is counted as by the TVR evaluator.

The order of a list decides; scores are ignored. Only the first 100 rows of a list count. A span is right if its tIoU
with the true one reaches the threshold (≥, in float32, the union being the hull of both spans). SVMR drops rows of
other videos first. VR looks at videos alone, and repeated videos use up ranks. mIoU, which the TVR evaluator lacks, is
the mean over queries of the first row's tIoU: 0 if its video is wrong (VCMR) or no row has the true one (SVMR).

Another metric beyond the TVR evaluator's is a function with the decorator `own_metric`.

One spelling everywhere: "0.5/r1" for spans, "r1" for videos, "mIoU", with the task before it if tasks are mixed,
"VCMR/0.5/r1". `tvr_name` gives the TVR evaluator's, for submissions scored in its name.

Differences from the official code: an empty list is a miss instead of a crash; video indices are compared as integers
(there as float32, where indices above 2^24 would collide).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from verified.benchmark.lists import NO_VIDEO, Lists
from verified.benchmark.tiou import first_ranks, tiou

TASKS = ("VCMR", "SVMR", "VR")
DEPTH = 100
RANKS = (1, 5, 10, 100)
THRESHOLDS = (0.5, 0.7)
SPAN_RECALLS = tuple(f"{threshold}/r{rank}" for threshold in THRESHOLDS for rank in RANKS)
VIDEO_RECALLS = tuple(f"r{rank}" for rank in RANKS)
TVR_METRICS = (*SPAN_RECALLS, *VIDEO_RECALLS)
"""Metrics of the TVR evaluator: its output holds these alone."""
TYPES = ("v", "t", "vt")


@dataclass
class Truth:
    """The answers of Q queries."""

    desc_id: np.ndarray
    """[Q] int64."""
    video: np.ndarray
    """[Q] int64 video index, in the numbering of the lists."""
    spans: np.ndarray
    """[Q, A, 2] seconds, NaN where a query has fewer than A annotated spans."""
    kind: np.ndarray | None = None
    """[Q] query types v, t, vt of TVR, or None."""
    windows: bool = False
    """Whether each span is right alone; else two of four or more spans, those of annotators, must agree."""

    def __len__(self) -> int:
        return len(self.desc_id)

    def take(self, index: np.ndarray) -> "Truth":
        """The queries at `index` [n]."""
        kind = None if self.kind is None else self.kind[index]
        return Truth(self.desc_id[index], self.video[index], self.spans[index], kind, self.windows)


@dataclass
class RankedRows:
    """The first 100 rows of the lists of Q queries with the true moments: the input of a metric."""

    task: str
    truth: Truth
    lists: Lists
    """[Q, R] rows, R ≤ 100."""

    @cached_property
    def right_video(self) -> np.ndarray:
        """Whether a row is of the true video, [Q, R] bool."""
        return (self.lists.video == self.truth.video[:, None]) & (self.lists.video != NO_VIDEO)

    @cached_property
    def rank(self) -> np.ndarray:
        """Rank of each row from 1, [Q, R] or, one for all queries, [1, R]; in SVMR among rows of the true video."""
        if self.task == "SVMR":
            return np.cumsum(self.right_video, axis=1)
        return np.arange(1, self.lists.video.shape[1] + 1)[None]

    @cached_property
    def overlap(self) -> np.ndarray:
        """tIoU of each row with the true span, 0 in another video, [Q, R] float32."""
        return np.where(self.right_video, agreed_overlap(self.truth, self.lists), 0)


@dataclass(frozen=True)
class OwnMetric:
    """A metric that the TVR evaluator has not: a number from 0 to 1 per query, [Q], by task."""

    name: str
    tasks: tuple[str, ...]
    shown: tuple[str, ...]
    """Tasks whose tables of all models, main-4 and main-5, have a column for it."""
    measure: Callable[[RankedRows], np.ndarray]


OWN_METRICS: list[OwnMetric] = []


def own_metric(
    name: str, *tasks: str, shown: tuple[str, ...] | None = None
) -> Callable[[Callable[[RankedRows], np.ndarray]], Callable[[RankedRows], np.ndarray]]:
    """Function decorator: register a project metric, `name`, of `tasks`, as a column in the tables of all or `shown`
    ones.

    Raises ValueError for a name that exists, or an unknown task.
    """
    if name in TVR_METRICS or name in (metric.name for metric in OWN_METRICS):
        raise ValueError(f"the metric {name!r} is there already")
    if not tasks or not set(tasks) <= set(TASKS):
        raise ValueError(f"the metric {name!r} needs tasks of {', '.join(TASKS)}")

    def add(measure: Callable[[RankedRows], np.ndarray]) -> Callable[[RankedRows], np.ndarray]:
        OWN_METRICS.append(OwnMetric(name, tasks, tasks if shown is None else shown, measure))
        return measure

    return add


def shown_metrics(task: str) -> tuple[str, ...]:
    """Names of the metrics of our own that the tables of all models show for a task."""
    return tuple(metric.name for metric in OWN_METRICS if task in metric.shown)


def tvr_name(metric: str) -> str:
    """A metric's name in the TVR evaluator: ``0.5/r1`` → ``0.5-r1``."""
    return metric.replace("/", "-")


def per_query(task: str, truth: Truth, lists: Lists) -> dict[str, np.ndarray]:
    """Per metric name a number per query, [Q]: of recalls whether it is answered (bool), of mIoU its tIoU (float32)."""
    rows = RankedRows(task, truth, lists.top(DEPTH))
    own = {metric.name: metric.measure(rows) for metric in OWN_METRICS if task in metric.tasks}
    if task == "VR":
        ranks = first_ranks(rows.right_video)
        return {name: ranks <= rank for name, rank in zip(VIDEO_RECALLS, RANKS)} | own
    values = {}
    for threshold in THRESHOLDS:
        right = rows.right_video & (rows.overlap >= np.float32(threshold))
        ranks = first_ranks(right, rows.rank)
        values |= {f"{threshold}/r{rank}": ranks <= rank for rank in RANKS}
    return values | own


def agreed_overlap(truth: Truth, lists: Lists) -> np.ndarray:
    """tIoU of every row with the annotated span next to it, or next but one where two of four must agree, [Q, R]."""
    with np.errstate(over="ignore", invalid="ignore"):  # times beyond float32 overlap with nothing
        start, end = lists.start.astype(np.float32), lists.end.astype(np.float32)
        spans = np.nan_to_num(truth.spans, nan=-1.0).astype(np.float32)
        overlaps = [tiou(start, end, span[:, :1], span[:, 1:]) for span in spans.swapaxes(0, 1)]
    overlaps = np.nan_to_num(np.stack(overlaps))
    if len(overlaps) == 1:
        return overlaps[0]
    overlaps.sort(axis=0)
    if truth.windows:
        return overlaps[-1]
    two_must_agree = (~np.isnan(truth.spans[:, :, 0])).sum(axis=1) >= 4
    return np.where(two_must_agree[:, None], overlaps[-2], overlaps[-1])


def percentage(values: np.ndarray) -> float:
    """Mean of numbers [Q] from 0 to 1 in percent, two decimals; NaN for an empty array."""
    return float(round(values.mean(dtype=np.float64) * 100, 2)) if len(values) else float("nan")


def tvr_summary(task: str, truth: Truth, values: dict[str, np.ndarray]) -> dict[str, dict[str, float | str]]:
    """Output of the TVR evaluator for `per_query`: ``{task: {metric: percent}}``, under its names.

    With query types also ``{task}_by_type`` with keys such as "v-0.5-r1"; it ends with the shares of the types
    ("desc_type_ratio").
    """
    recalls = {tvr_name(name): answered for name, answered in values.items() if name in TVR_METRICS}
    summary: dict[str, dict[str, float | str]] = {
        task: {name: percentage(answered) for name, answered in recalls.items()}
    }
    if truth.kind is not None:
        by_type = {
            f"{kind}-{name}": percentage(answered[truth.kind == kind])
            for kind in TYPES
            for name, answered in recalls.items()
        }
        shares = [f"{kind} {percentage(truth.kind == kind)}" for kind in TYPES]
        summary[f"{task}_by_type"] = {**by_type, "desc_type_ratio": " ".join(shares)}
    return summary


@own_metric("mIoU", "VCMR", "SVMR", shown=("SVMR",))
def mean_tiou(rows: RankedRows) -> np.ndarray:
    """tIoU of the first row, [Q] float32; its mean over queries is mIoU."""
    return np.where(rows.rank == 1, rows.overlap, 0).max(axis=1)
