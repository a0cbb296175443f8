"""Ranked lists of spans, many at once."""

from dataclasses import dataclass

import numpy as np

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
    def pad(cls, lists: list[np.ndarray]) -> "Lists":
        """Pad one [rows, 4] array (video, start, end, score) per query; rows may be 0."""
        counts = np.array([len(rows) for rows in lists], dtype=np.int64)
        table = np.zeros((len(lists), max(counts.max(initial=0), 1), 4))
        table[:, :, 0] = NO_VIDEO
        table[np.arange(table.shape[1]) < counts[:, None]] = np.concatenate([np.empty((0, 4)), *lists])
        return cls(table[..., 0].astype(np.int64), table[..., 1], table[..., 2], table[..., 3])
