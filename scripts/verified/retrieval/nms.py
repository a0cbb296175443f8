"""Temporal non-maximum suppression of many ranked lists at once.

Per list: rows by descending score (stable); a row falls if an earlier kept row of the same video overlaps it by a tIoU
strictly above the threshold. The official scripts cut lists to 100 rows before this step, so `before` is 100 here too.
"""

import numpy as np

from verified.retrieval.metrics import NO_VIDEO, Lists, hull_iou

_CHUNK = 256
"""Lists per pass: bounds the memory of a pass and keeps it in the processor's cache."""


def suppress(lists: Lists, threshold: float, before: int | None = 100, after: int = 100) -> Lists:
    """Suppress overlapping rows among the first `before` of each list (None: all), keep at most `after`.

    Rows of equal score come in the order of their videos' first appearance, then in their own order, as in the official
    routine, which works video by video and merges.
    """
    lists = lists if before is None else lists.top(before)
    parts = [_suppress(lists.take(slice(at, at + _CHUNK)), threshold) for at in range(0, len(lists), _CHUNK)]
    if not parts:
        return lists
    whole = Lists(*(np.concatenate([getattr(part, name) for part in parts]) for name in vars(lists)))
    return whole.top(min(after, max(int(whole.counts().max()), 1)))


def _suppress(lists: Lists, threshold: float) -> Lists:
    lists = _take_rows(lists, _order(lists))
    kept = lists.video != NO_VIDEO
    rows = lists.video.shape[1]
    video, start, end = (np.ascontiguousarray(part.T) for part in (lists.video, lists.start, lists.end))
    kept = np.ascontiguousarray(kept.T)
    for row in range(rows - 1):
        later = slice(row + 1, rows)
        candidates = (video[later] == video[row]) & kept[row]
        overlap = hull_iou(start[row], end[row], start[later], end[later])
        kept[later] &= ~(candidates & (overlap > threshold))
    lists.video[~kept.T] = NO_VIDEO
    return _take_rows(lists, np.argsort(~kept.T, axis=1, kind="stable"))


def _order(lists: Lists) -> np.ndarray:
    """Row order: pads last, then by descending score, first appearance of the video, own position."""
    same = lists.video[:, :, None] == lists.video[:, None, :]
    first = same.argmax(axis=2)
    score = np.where(lists.video == NO_VIDEO, -np.inf, lists.score)
    return np.lexsort((first, -score, lists.video == NO_VIDEO), axis=1)


def _take_rows(lists: Lists, order: np.ndarray) -> Lists:
    return Lists(*(np.take_along_axis(part, order, axis=1) for part in vars(lists).values()))
