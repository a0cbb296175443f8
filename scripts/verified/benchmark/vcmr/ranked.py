"""Ranked lists of a first-stage model (XML) as files: the input of two-stage models and their source of negatives."""

from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import torch
from torch import Tensor

from verified.benchmark.lists import NO_VIDEO
from verified.errors import InputError
from verified.io.hdf5 import create_hdf5, data_set, open_hdf5, reading


@dataclass
class Ranked:
    """K videos per query, best first, with the cosines of the first stage."""

    desc_id: np.ndarray
    """[Q] int64."""
    video: np.ndarray
    """[Q, K] int64, positions in `videos`."""
    cosine: np.ndarray
    """[Q, K] float32."""
    videos: list[str]
    file: Path | None = None
    external_score: str = "exp"
    """Reading of the score: "exp" for exp(20 · cosine), or "cosine"."""

    def __post_init__(self):
        self._row = {int(desc_id): row for row, desc_id in enumerate(self.desc_id)}

    def at(self, desc_ids: np.ndarray) -> np.ndarray:
        """Rows [Q] of the queries `desc_ids` [Q]; raises InputError for a query without a list."""
        missing = [int(desc_id) for desc_id in desc_ids if int(desc_id) not in self._row]
        if missing:
            raise InputError(f"no ranked list for desc_id {missing[0]} ({len(missing)} missing)", file=self.file)
        return np.array([self._row[int(desc_id)] for desc_id in desc_ids], dtype=np.int64)

    def rows(self, desc_ids: np.ndarray, depth: int) -> tuple[Tensor, Tensor]:
        """First `depth` videos of each query and their external scores, [Q, K] each."""
        at = self.at(desc_ids)
        cosine = torch.from_numpy(self.cosine[at, :depth])
        score = torch.exp(20.0 * cosine) if self.external_score == "exp" else cosine
        return torch.from_numpy(self.video[at, :depth]), score

    def rank_of(self, desc_ids: np.ndarray, video: np.ndarray) -> np.ndarray:
        """Position [Q] of a `video` [Q] in each query's list, counted from 0; −1 if it is not in the list."""
        equal = self.video[self.at(desc_ids)] == video[:, None]
        return np.where(equal.any(axis=1), equal.argmax(axis=1), NO_VIDEO)


def write_ranked(path: str | Path, parts: dict[str, Ranked]) -> None:
    """Write ranked lists by part ("train", "selection", "test"), each a group of one HDF5 file."""
    with create_hdf5(path) as (file, _):
        file.attrs["score"] = "cosine"
        for name, ranked in parts.items():
            group = file.create_group(name)
            group["desc_id"], group["video"] = ranked.desc_id, ranked.video.astype(np.int32)
            group["cosine"] = ranked.cosine.astype(np.float32)
            group["videos"] = np.array(ranked.videos, dtype=h5py.string_dtype())


def read_ranked(path: str | Path, split: str, videos: list[str], external_score: str = "exp") -> Ranked:
    """One part of a file, with videos renumbered to the corpus `videos`.

    Raises InputError if the part is missing or ranks a video that the corpus does not have.
    """
    path = Path(path)
    with open_hdf5(path) as file, reading(path, f"the part {split!r}"):
        group = file.get(split)
        if not isinstance(group, h5py.Group):
            raise InputError(f"holds no ranked lists of the part {split!r}", file=path)
        desc_id, numbered, cosine = (
            np.asarray(data_set(file, f"{split}/{name}", path, name)) for name in ("desc_id", "video", "cosine")
        )
        names = [name.decode() for name in np.asarray(group["videos"])]
    position = {video: index for index, video in enumerate(videos)}
    unknown = [name for name in names if name not in position]
    if unknown:
        raise InputError(f"ranks {len(unknown)} videos that the corpus does not have: {unknown[0]!r}", file=path)
    renumbered = np.array([position[name] for name in names], dtype=np.int64)
    return Ranked(
        desc_id.astype(np.int64), renumbered[numbered.astype(np.int64)], cosine, list(videos), path, external_score
    )


def draw_negatives(
    ranked: Ranked, desc_ids: np.ndarray, truth: np.ndarray, count: int, pool: int, generator: torch.Generator
) -> np.ndarray:
    """`count` negatives per query without replacement, [N, count] positions in the corpus.

    They come from the list without the ground-truth video, restricted to its first (rank of the ground truth + `pool`)
    entries, or to as many as `count` needs.
    """
    rows = ranked.at(desc_ids)
    ranks = ranked.rank_of(desc_ids, truth)
    drawn = np.empty((len(rows), count), dtype=np.int64)
    for at, (row, rank, positive) in enumerate(zip(rows, ranks, truth)):
        others = ranked.video[row][ranked.video[row] != positive]
        others = others[: max(rank + pool, count)]
        drawn[at] = others[torch.randperm(len(others), generator=generator)[:count].numpy()]
    return drawn
