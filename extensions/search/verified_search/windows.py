"""The windows of all videos of an index: a folder that is written once and never changed.

- `videos.jsonl`: a row per video: id, path, duration, digest, thumbnails, and its windows, each `[offset, seconds per
  clip, clips, rows for the localiser]`;
- `clips.faiss`: the clip vectors as one flat index of faiss, whose float16 codes are the vectors themselves;
- `localise.f16`: factors that the model's localiser multiplies with a query;
- `thumbnails.bin`: JPEG files one behind the other.

A window's rows are adjacent and in time; windows are in the order of their videos. All but the rows of videos are
memory-mapped. A search compares the query with every clip: a million take a fortieth of a second.
"""

from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from verified.errors import InputError
from verified.io.jsonl import read_jsonl, write_jsonl
from verified_search.encoders import Vectors
from verified_search.sound import sound

VIDEOS, CLIPS, LOCALISE, THUMBNAILS = "videos.jsonl", "clips.faiss", "localise.f16", "thumbnails.bin"
MOST = 2**40
"""Above all seconds and rows of a window: a larger value was not written by us."""
Item = tuple[dict, list[Vectors], list[tuple[float, bytes]]]
"""Of a video its row with `windows` as lists that begin with offset and seconds, the windows' vectors, and thumbnails
(time, JPEG)."""


def write_windows(folder: Path, videos: Iterable[Item], dim: int) -> dict:
    """Write the windows of videos, with vectors of `dim` numbers, into a folder; returns facts for the manifest.

    `videos` are read once, one at a time.
    """
    import faiss

    rows: list[dict] = []
    index = faiss.IndexScalarQuantizer(dim, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)
    index.is_trained = True  # float16 needs no training
    with (folder / LOCALISE).open("wb") as localise, (folder / THUMBNAILS).open("wb") as pictures:
        for row, vectors, thumbnails in videos:
            windows = [
                [*window[:2], len(encoded.search), len(encoded.localise)]
                for window, encoded in zip(row["windows"], vectors)
            ]
            stored = []
            for time, content in thumbnails:
                stored.append([time, pictures.tell(), len(content)])
                pictures.write(content)
            rows.append({**row, "windows": windows, "thumbnails": stored})
            for part in vectors:
                localise.write(np.ascontiguousarray(part.localise).data)
                index.add(part.search.astype(np.float32))
    faiss.write_index(index, str(folder / CLIPS))
    write_jsonl(folder / VIDEOS, rows)
    return {"videos": len(rows), "windows": sum(len(row["windows"]) for row in rows), "rows": index.ntotal, "dim": dim}


class Windows:
    """The windows of an index, open for search; they are identified by their number, W in all."""

    def __init__(self, folder: Path, facts: dict):
        import faiss

        self.folder, self.dim = folder, facts["dim"]
        self._check(VIDEOS, CLIPS, LOCALISE)
        try:
            self._index: Any = faiss.read_index(str(folder / CLIPS), faiss.IO_FLAG_MMAP_IFC)
        except RuntimeError:
            raise _damaged(folder / CLIPS, "it is no index of faiss") from None
        rows = facts["rows"]
        if (self._index.ntotal, self._index.d) != (rows, self.dim):
            raise _damaged(folder / CLIPS, f"{rows} vectors of {self.dim} numbers were written")
        codes = faiss.rev_swig_ptr(self._index.codes.data(), rows * self.dim * 2)  # a view: the index must outlive it
        self.vectors = codes.view(np.float16).reshape(rows, self.dim)
        """[rows, D] float16, memory-mapped."""
        self.videos = read_jsonl(folder / VIDEOS, ("video", "windows", "thumbnails"))
        windows, counts = _windows(folder / VIDEOS, self.videos)
        self.offset, self.seconds = windows[:, 0], windows[:, 1]
        """[W] seconds at which a window begins in its video, and of its clips."""
        self.clips, self.localised = windows[:, 2].astype(np.int64), windows[:, 3].astype(np.int64)
        self.video = np.repeat(np.arange(len(self.videos)), counts)
        """[W] positions in `videos`."""
        self._first = np.r_[0, np.cumsum(counts)]
        self._rows, self._localised_rows = (np.r_[0, np.cumsum(counts)] for counts in (self.clips, self.localised))
        if (len(windows), len(self.videos), self._rows[-1]) != (facts["windows"], facts["videos"], rows):
            raise _damaged(folder / VIDEOS, "it lists other videos than were written")
        self.owner = np.repeat(np.arange(len(windows), dtype=np.int32), self.clips)
        """[rows] the window of each vector."""
        self._localise = _map(folder / LOCALISE, int(self._localised_rows[-1]), self.dim)

    def search(self, query: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        """The `count` best windows for a query [D], best first, and the product of their best clip.

        The number of retrieved clips grows until they belong to `count` windows.
        """
        number = 10 * count
        while True:
            scores, rows = (found[0] for found in self._index.search(query[None], min(number, len(self.owner))))
            windows, first = np.unique(self.owner[rows], return_index=True)
            if len(windows) >= count or number >= len(self.owner):
                order = np.argsort(first)[:count]
                return windows[order], scores[first[order]]
            number *= 4

    def search_vectors(self, window: int) -> np.ndarray:
        """[clips, D] float32 of length 1."""
        return self.vectors[self._rows[window] : self._rows[window + 1]].astype(np.float32)

    def localise_vectors(self, window: int) -> np.ndarray:
        """[clips + pads, D] float32 for the model's localiser."""
        return self._localise[self._localised_rows[window] : self._localised_rows[window + 1]].astype(np.float32)

    def of_video(self, position: int) -> range:
        """The windows of the video at `position` in `videos`."""
        return range(self._first[position], self._first[position + 1])

    def thumbnail(self, location: list) -> bytes:
        """Read a JPEG file by its `[time, at, length]`."""
        self._check(THUMBNAILS)
        with (self.folder / THUMBNAILS).open("rb") as file:
            file.seek(location[1])
            return file.read(location[2])

    def items(self, without: Container[str] = ()) -> Iterator[Item]:
        """The videos that remain without some, in the format of `write_windows`."""
        self._check(THUMBNAILS)
        for position, row in enumerate(self.videos):
            if row["video"] not in without:
                vectors = [
                    Vectors(self.search_vectors(at).astype(np.float16), self.localise_vectors(at).astype(np.float16))
                    for at in self.of_video(position)
                ]
                yield row, vectors, [(location[0], self.thumbnail(location)) for location in row["thumbnails"]]

    def _check(self, *names: str) -> None:
        sound(self.folder.parent, *(f"{self.folder.name}/{name}" for name in names))


def _windows(path: Path, videos: list[dict]) -> tuple[np.ndarray, list[int]]:
    """Windows [W, 4] of all rows (seconds of the begin and of a clip, rows for search and for the localiser), and the
    number of windows of each row."""
    try:
        counts = [len(row["windows"]) for row in videos]
        windows = np.array([window for row in videos for window in row["windows"]], np.float64).reshape(-1, 4)
    except (TypeError, ValueError):
        raise _damaged(path, "its windows are no lists of four numbers") from None
    if len(windows) != sum(counts) or not (np.abs(windows) < MOST).all() or (windows[:, 2:] < 0).any():
        raise _damaged(path, "its windows are no lists of four numbers")
    if not all(isinstance(row["video"], str) for row in videos):
        raise _damaged(path, "a video's id is no text")
    return windows, counts


def _damaged(path: Path, why: str) -> InputError:
    return InputError(
        f"damaged: {why}", file=path, remedy="remove the folder of the index and build it again: verified index"
    )


def _map(path: Path, rows: int, dim: int) -> np.ndarray:
    if not path.is_file() or path.stat().st_size != 2 * rows * dim:
        raise _damaged(path, f"{2 * rows * dim} bytes were written")
    return np.memmap(path, np.float16, "r", shape=(rows, dim)) if rows else np.zeros((0, dim), np.float16)
