"""Ranked lists of spans, many at once, and their greedy temporal non-maximum suppression (NMS): best first, each span
removes those that overlap it by more than a tIoU.

`suppress` works on many ranked lists at once, as the TVR family does: per list, rows by descending score (stable); only
rows of one video meet. The official scripts cut lists to 100 rows before this step, so `before` is 100 here too.
`suppress_spans` works on one list, in float32 as MAD does.
"""

from dataclasses import dataclass

import numpy as np

from verified.benchmark.tiou import tiou

NO_VIDEO = -1


@dataclass
class Lists:
    """Q ranked lists of R rows, best first; a row with video −1 is a pad and comes after all others."""

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
        """The lists at `index` [n], or those of a slice."""
        return Lists(*(column[index] for column in (self.video, self.start, self.end, self.score)))

    @classmethod
    def join(cls, parts: list["Lists"]) -> "Lists":
        """The lists of all parts, which have as many rows each."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in vars(parts[0])))

    @classmethod
    def pad(cls, lists: list[np.ndarray]) -> "Lists":
        """Pad one [rows, 4] array (video, start, end, score) per query; rows may be 0."""
        counts = np.array([len(rows) for rows in lists], dtype=np.int64)
        table = np.zeros((len(lists), max(counts.max(initial=0), 1), 4))
        table[:, :, 0] = NO_VIDEO
        table[np.arange(table.shape[1]) < counts[:, None]] = np.concatenate([np.empty((0, 4)), *lists])
        return cls(table[..., 0].astype(np.int64), table[..., 1], table[..., 2], table[..., 3])


_CHUNK = 256
"""Lists per pass: bounds the memory of a pass and keeps it in the processor's cache."""


def unsuppressed_mask(
    start: np.ndarray,
    end: np.ndarray,
    threshold: float | np.floating,
    inside: np.ndarray | None = None,
    enough: int | None = None,
) -> np.ndarray:
    """Mask of the spans that remain, bool [rows, lists]: lists side by side, each best first; tIoU in the precision of
    the spans.

    inside: [rows, lists] bool, false for pads. With `enough`, it is settled only until so many stay of every list.
    """
    mask: np.ndarray = np.ones_like(start, dtype=bool) if inside is None else inside.copy()
    row, counts = 0, np.zeros(mask.shape[1], int)
    while row < len(mask):
        later = slice(row + 1, None)
        mask[later] &= ~((tiou(start[row], end[row], start[later], end[later]) > threshold) & mask[row])
        counts += mask[row]
        if not mask[later].any() or (enough is not None and counts.min() >= enough):
            break
        row += 1 + int(mask[later].ravel().argmax()) // mask.shape[1]  # the next that stays in any list
    return mask


def suppress_spans(spans: np.ndarray, threshold: float, keep: int) -> np.ndarray:
    """Indices of at most `keep` of the spans [n, 2], given best first.

    tIoUs are computed in float32, as MAD's are: on a grid of 0.4 s a tIoU of exactly 0.3 is common (1.2 s within 4 s),
    and its rounding decides which spans are listed.
    """
    spans = np.asarray(spans, np.float32)
    mask = unsuppressed_mask(spans[:, :1], spans[:, 1:], np.float32(threshold), enough=keep)
    return np.flatnonzero(mask)[:keep]


def suppress(lists: Lists, threshold: float, before: int | None = 100) -> Lists:
    """Suppress overlapping rows among the first `before` of each list (None: all), and return at most 100.

    Ties are ordered by their videos' first appearance, then in their input order, as in the official routine, which
    works video by video and merges.
    """
    lists = lists if before is None else lists.top(before)
    chunks = [_suppress(lists.take(slice(at, at + _CHUNK)), threshold) for at in range(0, len(lists), _CHUNK)]
    if not chunks:
        return lists
    whole = Lists.join(chunks)
    return whole.top(min(100, max(int(whole.counts().max()), 1)))


def _suppress(lists: Lists, threshold: float) -> Lists:
    lists = _sort_rows(lists)
    # Rows of one video of one list are adjacent, best first; rows of different videos are never compared.
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
            fallen.append(grouped[_suppressed_rows(begins[similar], sizes[similar], grouped, start, end, threshold)])
        bound *= 2
    mask = video != NO_VIDEO
    mask[np.concatenate(fallen or [np.zeros(0, np.int64)])] = False
    mask = mask.reshape(lists.video.shape)
    whole = Lists(np.where(mask, lists.video, NO_VIDEO), lists.start, lists.end, lists.score)
    return _take_rows(whole, np.argsort(~mask, axis=1, kind="stable"))


def _suppressed_rows(begins, sizes, grouped, start, end, threshold: float) -> np.ndarray:
    """Positions in `grouped` of the rows that fall, of runs of about one size, all at once."""
    steps = np.arange(sizes.max())[:, None]
    inside = steps < sizes
    rows = begins + np.minimum(steps, sizes - 1)  # [longest, runs]
    return rows[inside & ~unsuppressed_mask(start[grouped[rows]], end[grouped[rows]], threshold, inside)]


def _runs(video: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """[Q, R]: positions such that equal videos of a list follow each other, in their order, and where each begins."""
    grouped = np.argsort(video, axis=1, kind="stable")
    ordered = np.take_along_axis(video, grouped, axis=1)
    first = np.ones(video.shape, bool)
    first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    return grouped, first


def _sort_rows(lists: Lists) -> Lists:
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
