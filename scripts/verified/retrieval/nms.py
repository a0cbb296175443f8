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
    chunks = [_suppress(lists.take(slice(at, at + _CHUNK)), threshold) for at in range(0, len(lists), _CHUNK)]
    if not chunks:
        return lists
    whole = Lists(*(np.concatenate([getattr(chunk, name) for chunk in chunks]) for name in vars(lists)))
    return whole.top(min(after, max(int(whole.counts().max()), 1)))


def _suppress(lists: Lists, threshold: float) -> Lists:
    lists = _in_order(lists)
    # Rows of one video of one list stand side by side, best first; rows of other videos never meet.
    grouped, first = _runs(lists.video)
    begins = np.flatnonzero(first)
    sizes = np.diff(begins, append=first.size)
    grouped += np.arange(len(grouped))[:, None] * grouped.shape[1]
    grouped = grouped.ravel()
    video, start, end = (np.ascontiguousarray(column).ravel() for column in (lists.video, lists.start, lists.end))
    sizes[video[grouped[begins]] == NO_VIDEO] = 1  # pads
    fallen = []
    bound = 1
    while bound < sizes.max(initial=0):
        similar = (sizes > bound) & (sizes <= 2 * bound)
        if similar.any():
            fallen.append(grouped[_fallen(begins[similar], sizes[similar], grouped, start, end, threshold)])
        bound *= 2
    kept = video != NO_VIDEO
    kept[np.concatenate(fallen or [np.zeros(0, np.int64)])] = False
    kept = kept.reshape(lists.video.shape)
    whole = Lists(np.where(kept, lists.video, NO_VIDEO), lists.start, lists.end, lists.score)
    return _take_rows(whole, np.argsort(~kept, axis=1, kind="stable"))


def _fallen(begins, sizes, grouped, start, end, threshold: float) -> np.ndarray:
    """Positions in `grouped` of the rows that fall, of runs of about one size, all at once."""
    steps = np.arange(sizes.max())[:, None]
    inside = steps < sizes
    rows = begins + np.minimum(steps, sizes - 1)  # [longest, runs]
    start, end, kept = start[grouped[rows]], end[grouped[rows]], inside.copy()
    for row in range(len(rows) - 1):
        later = slice(row + 1, None)
        overlap = hull_iou(start[row], end[row], start[later], end[later])
        kept[later] &= ~((overlap > threshold) & kept[row])
    return rows[inside & ~kept]


def _runs(video: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """[Q, R]: positions such that equal videos of a list follow each other, in their order, and where each begins."""
    grouped = np.argsort(video, axis=1, kind="stable")
    ordered = np.take_along_axis(video, grouped, axis=1)
    first = np.ones(video.shape, bool)
    first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    return grouped, first


def _in_order(lists: Lists) -> Lists:
    """Rows with pads last, then by descending score, first appearance of the video, own position."""
    score = np.where(lists.video == NO_VIDEO, -np.inf, lists.score)
    if (score[:, 1:] < score[:, :-1]).all():
        return lists
    order = np.argsort(-score, axis=1, kind="stable")
    ordered = np.take_along_axis(score, order, axis=1)
    tied = ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] > -np.inf)).any(axis=1)
    if tied.any():
        order[tied] = _order_of_ties(lists.video[tied], score[tied])
    return _take_rows(lists, order)


def _order_of_ties(video: np.ndarray, score: np.ndarray) -> np.ndarray:
    grouped, first = _runs(video)
    begin = np.maximum.accumulate(np.where(first, np.arange(grouped.shape[1]), 0), axis=1)
    appearance = np.empty_like(grouped)
    np.put_along_axis(appearance, grouped, np.take_along_axis(grouped, begin, axis=1), axis=1)
    return np.lexsort((appearance, -score, video == NO_VIDEO), axis=1)


def _take_rows(lists: Lists, order: np.ndarray) -> Lists:
    return Lists(*(np.take_along_axis(column, order, axis=1) for column in vars(lists).values()))
