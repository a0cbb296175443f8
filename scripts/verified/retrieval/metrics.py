"""Recall and mean tIoU of VCMR, SVMR and VR on arrays, a number per query; recall is counted as by the TVR evaluator.

The order of a list decides; scores are not looked at. Only the first 100 rows of a list count. A span is right if its
tIoU with the true one reaches the threshold (≥, in float32, the union being the hull of both spans). SVMR drops rows of
other videos first. VR looks at videos alone, and repeated videos use up ranks. mIoU, which the TVR evaluator has not,
is the mean over queries of the first row's tIoU: 0 where its video is wrong (VCMR) or no row has the true one (SVMR).

One spelling everywhere: "0.5/r1" for spans, "r1" for videos, "mIoU", with the task before it where tasks are mixed,
"VCMR/0.5/r1". `tvr_name` gives the TVR evaluator's, for submissions scored in its name.

Differences from the official code: an empty list is a miss instead of a crash; video indices are compared as integers
(there as float32, where indices above 2^24 would collide).
"""

from dataclasses import dataclass

import numpy as np

TASKS = ("VCMR", "SVMR", "VR")
DEPTH = 100
RANKS = (1, 5, 10, 100)
THRESHOLDS = (0.5, 0.7)
MIOU = "mIoU"
SPAN_RECALLS = tuple(f"{threshold}/r{rank}" for threshold in THRESHOLDS for rank in RANKS)
VIDEO_RECALLS = tuple(f"r{rank}" for rank in RANKS)
TVR_METRICS = (*SPAN_RECALLS, *VIDEO_RECALLS)
"""Metrics of the TVR evaluator: its output holds these and no other, whatever else `per_query` gives."""
TYPES = ("v", "t", "vt")
NO_VIDEO = -1


@dataclass
class Lists:
    """Q ranked lists of R rows, best first; a row with video −1 is a pad and stands behind all others."""

    video: np.ndarray
    """[Q, R] int64 video index."""
    start: np.ndarray
    """[Q, R] seconds."""
    end: np.ndarray
    """[Q, R] seconds."""
    score: np.ndarray
    """[Q, R] float."""

    def __len__(self) -> int:
        return len(self.video)

    def counts(self) -> np.ndarray:
        """Rows per list, [Q]."""
        return (self.video != NO_VIDEO).sum(axis=1)

    def top(self, rows: int) -> "Lists":
        """The first `rows` rows of each list."""
        return Lists(*(column[:, :rows] for column in (self.video, self.start, self.end, self.score)))

    def take(self, index: np.ndarray | slice) -> "Lists":
        """The lists at `index`."""
        return Lists(*(column[index] for column in (self.video, self.start, self.end, self.score)))

    @classmethod
    def pad(cls, lists: list[np.ndarray]) -> "Lists":
        """From one [rows, 4] array (video, start, end, score) per query; rows may be 0."""
        depth = max([len(rows) for rows in lists], default=0)
        table = np.zeros((len(lists), max(depth, 1), 4))
        table[:, :, 0] = NO_VIDEO
        for query, rows in enumerate(lists):
            if len(rows):
                table[query, : len(rows)] = rows
        return cls(table[..., 0].astype(np.int64), table[..., 1], table[..., 2], table[..., 3])


@dataclass
class Truth:
    """The answers of Q queries."""

    desc_id: np.ndarray
    """[Q] int64."""
    video: np.ndarray
    """[Q] int64 video index, in the numbering of the lists."""
    spans: np.ndarray
    """[Q, A, 2] seconds, NaN where a query has fewer than A annotated spans. Of four or more spans, two must agree."""
    kind: np.ndarray | None = None
    """[Q] query types v, t, vt of TVR, or None."""

    def __len__(self) -> int:
        return len(self.desc_id)

    def take(self, index: np.ndarray) -> "Truth":
        """The queries at `index`."""
        kind = None if self.kind is None else self.kind[index]
        return Truth(self.desc_id[index], self.video[index], self.spans[index], kind)


def hull_iou(start_a: np.ndarray, end_a: np.ndarray, start_b: np.ndarray, end_b: np.ndarray) -> np.ndarray:
    """Overlap divided by the hull of two spans, in the precision of the arguments; 0/0 is 0, disjoint spans give 0."""
    overlap = np.maximum(0, np.minimum(end_a, end_b) - np.maximum(start_a, start_b))
    hull = np.maximum(end_a, end_b) - np.minimum(start_a, start_b)
    return np.divide(overlap, hull, out=np.zeros_like(overlap), where=hull != 0)


def tvr_name(metric: str) -> str:
    """A metric's name in the TVR evaluator: ``0.5/r1`` → ``0.5-r1``."""
    return metric.replace("/", "-")


def per_query(task: str, truth: Truth, lists: Lists) -> dict[str, np.ndarray]:
    """Per metric name a number per query, [Q]: of recalls whether it is answered (bool), of mIoU its tIoU (float32)."""
    lists = lists.top(DEPTH)
    right_video = (lists.video == truth.video[:, None]) & (lists.video != NO_VIDEO)
    if task == "VR":
        return {name: right_video[:, :rank].any(axis=1) for name, rank in zip(VIDEO_RECALLS, RANKS)}
    rank_of_row = np.cumsum(right_video, axis=1) if task == "SVMR" else np.arange(1, lists.video.shape[1] + 1)[None]
    overlap = np.where(right_video, agreed_overlap(truth, lists), 0)
    values = {}
    for threshold in THRESHOLDS:
        right = right_video & (overlap >= np.float32(threshold))
        values |= {f"{threshold}/r{rank}": (right & (rank_of_row <= rank)).any(axis=1) for rank in RANKS}
    return {**values, MIOU: np.where(rank_of_row == 1, overlap, 0).max(axis=1)}


def agreed_overlap(truth: Truth, lists: Lists) -> np.ndarray:
    """tIoU of every row with the annotated span next to it, or next but one where two of four must agree, [Q, R]."""
    with np.errstate(over="ignore", invalid="ignore"):  # times beyond float32 overlap with nothing
        start, end = lists.start.astype(np.float32), lists.end.astype(np.float32)
        spans = np.nan_to_num(truth.spans, nan=-1.0).astype(np.float32)
        overlaps = [hull_iou(start, end, span[:, :1], span[:, 1:]) for span in spans.swapaxes(0, 1)]
    overlaps = np.nan_to_num(np.stack(overlaps))
    if len(overlaps) == 1:
        return overlaps[0]
    overlaps.sort(axis=0)
    two_must_agree = (~np.isnan(truth.spans[:, :, 0])).sum(axis=1) >= 4
    return np.where(two_must_agree[:, None], overlaps[-2], overlaps[-1])


def percentage(values: np.ndarray) -> float:
    """Mean of numbers from 0 to 1 in percent, two decimals; NaN for none at all."""
    return float(round(values.mean(dtype=np.float64) * 100, 2)) if len(values) else float("nan")


def tvr_summary(task: str, truth: Truth, values: dict[str, np.ndarray]) -> dict[str, dict[str, float | str]]:
    """What the TVR evaluator returns of `per_query`: ``{task: {metric: percent}}``, under its names.

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
