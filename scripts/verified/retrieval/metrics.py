"""Recall of VCMR, SVMR and VR as the TVR evaluator counts it, on arrays.

The order of a list decides; scores are not looked at. Only the first 100 rows of a list count. A span is right if its
tIoU with the true one reaches the threshold (≥, in float32, the union being the hull of both spans). SVMR drops rows of
other videos first. VR looks at videos alone, and repeated videos use up ranks.

Differences from the official code: an empty list is a miss instead of a crash; video indices are compared as integers
(there as float32, where indices above 2^24 would collide).
"""

from dataclasses import dataclass

import numpy as np

TASKS = ("VCMR", "SVMR", "VR")
DEPTH = 100
RANKS = (1, 5, 10, 100)
THRESHOLDS = (0.5, 0.7)
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
        return Lists(*(part[:, :rows] for part in (self.video, self.start, self.end, self.score)))

    def take(self, index: np.ndarray) -> "Lists":
        """The lists at `index`."""
        return Lists(*(part[index] for part in (self.video, self.start, self.end, self.score)))

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


def hits(task: str, truth: Truth, lists: Lists) -> dict[str, np.ndarray]:
    """Per metric name ("0.5-r1", or "r1" for VR) whether each query is answered, [Q] bool."""
    lists = lists.top(DEPTH)
    right_video = (lists.video == truth.video[:, None]) & (lists.video != NO_VIDEO)
    if task == "VR":
        return {f"r{rank}": right_video[:, :rank].any(axis=1) for rank in RANKS}
    place = np.cumsum(right_video, axis=1) if task == "SVMR" else np.arange(1, lists.video.shape[1] + 1)[None]
    overlaps = _overlaps(truth, lists)
    needed = np.where((~np.isnan(truth.spans[:, :, 0])).sum(axis=1) >= 4, 2, 1)[:, None]
    found = {}
    for threshold in THRESHOLDS:
        agreeing = (overlaps >= np.float32(threshold)).sum(axis=0)
        right = right_video & (agreeing >= needed)
        for rank in RANKS:
            found[f"{threshold}-r{rank}"] = (right & (place <= rank)).any(axis=1)
    return found


def _overlaps(truth: Truth, lists: Lists) -> np.ndarray:
    """tIoU of every row with every annotated span, [A, Q, R] float32."""
    with np.errstate(over="ignore", invalid="ignore"):  # times beyond float32 overlap with nothing
        start, end = lists.start.astype(np.float32), lists.end.astype(np.float32)
        spans = np.nan_to_num(truth.spans, nan=-1.0).astype(np.float32)
        return np.stack([hull_iou(start, end, span[:, :1], span[:, 1:]) for span in spans.swapaxes(0, 1)])


def percentage(found: np.ndarray) -> float:
    """Share of true entries in percent, two decimals; NaN for none at all."""
    return float(round(found.mean() * 100, 2)) if len(found) else float("nan")


def summarise(task: str, truth: Truth, lists: Lists) -> dict[str, dict[str, float | str]]:
    """``{task: {metric: percent}}``; with query types also ``{task}_by_type`` with keys such as "v-0.5-r1".

    The latter ends with the shares of the types ("desc_type_ratio"), as in the TVR evaluator.
    """
    found = hits(task, truth, lists)
    summary = {task: {name: percentage(values) for name, values in found.items()}}
    if truth.kind is not None:
        summary[f"{task}_by_type"] = {
            f"{kind}-{name}": percentage(values[truth.kind == kind]) for kind in TYPES for name, values in found.items()
        }
        shares = [f"{kind} {percentage(truth.kind == kind)}" for kind in TYPES]
        summary[f"{task}_by_type"]["desc_type_ratio"] = " ".join(shares)
    return summary
