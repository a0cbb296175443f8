"""Frame, token and sentence features of long videos: HDF5 as MAD publishes it, one data set per movie or id."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from verified.errors import InputError
from verified.io.hdf5 import FeatureFile, Room


@dataclass(frozen=True)
class LongFeatures:
    """frames: movie → [frames, dim]; tokens: annotation id → [tokens, dim]; sentences: annotation id → [dim]."""

    frames: FeatureFile
    tokens: FeatureFile | None = None
    sentences: FeatureFile | None = None
    room: Room = field(default_factory=Room)
    """Cache for frames and tokens: a training reads them in every epoch."""
    _kept: dict[tuple[Path, str], np.ndarray] = field(default_factory=dict, repr=False, compare=False)

    def movie(self, movie: str, first: int = 0, last: int | None = None) -> np.ndarray:
        """Frames `first` to `last` of a movie, float32. Raises InputError where a value is not finite."""
        last = self.frames.length(movie) if last is None else last
        return _sound(self._rows(self.frames, movie, first, last), 2, movie, self.frames)

    def token_rows(self, name: str, most: int) -> np.ndarray:
        """At most `most` token features of an annotation, float32 [tokens, dim]."""
        if self.tokens is None:
            raise ValueError("token features are asked for, and no file of them is given")
        return _sound(self._rows(self.tokens, name, 0, most), 2, name, self.tokens)

    def _rows(self, file: FeatureFile, key: str, first: int, last: int) -> np.ndarray:
        name = (file.path, key)
        if name not in self._kept:
            length = file.length(key)
            if not self.room.take(length * file.width(key) * np.dtype(np.float32).itemsize):
                return file.rows(key, first, last)
            self._kept[name] = file.rows(key, 0, length)
        return self._kept[name][first:last]

    def sentence_rows(self, names: Iterable[str]) -> np.ndarray:
        """Sentence features, float32 [annotations, dim]."""
        if self.sentences is None:
            raise ValueError("sentence features are asked for, and no file of them is given")
        return np.stack([_sound(self.sentences[name].reshape(-1), 1, name, self.sentences) for name in names])


def frame_counts(file: FeatureFile) -> dict[str, int]:
    """Movie → number of its frames."""
    return {movie: file.length(movie) for movie in file}


def _sound(values: np.ndarray, dimensions: int, key: str, file: FeatureFile) -> np.ndarray:
    if values.ndim != dimensions or not values.size:
        raise InputError(f"features of {key!r} have shape {list(values.shape)}", file=file.path)
    if not np.isfinite(values).all():
        raise InputError(
            f"features of {key!r} hold {int((~np.isfinite(values)).sum())} values that are not finite",
            file=file.path,
            remedy="extract them again, or leave the movie out of the annotations",
        )
    return values
