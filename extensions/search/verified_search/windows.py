"""The windows of all videos of an index: a folder that is written once and never changed.

- `videos.jsonl`: a row per video: id, path, duration, digest, thumbnails, and its windows, each
  `[offset, seconds per clip, clips, rows for the localiser]`;
- `clips.faiss`, `vectors.f16`: the clip vectors (see `vectors`);
- `localise.f16`, or `localise.i8` with `localise.scale`: what the model's localiser multiplies with a query, float16,
  or a byte a number with one scale a row where the search is not exact either;
- `thumbnails.bin`: JPEG files one behind the other.

A window's rows are adjacent and in time; windows are in the order of their videos.
"""

from collections.abc import Container, Iterable, Iterator
from pathlib import Path

import numpy as np

from verified.errors import InputError
from verified.io.jsonl import read_jsonl, write_jsonl
from verified_search.encoders import Vectors
from verified_search.sound import sound
from verified_search.vectors import CODES, EXACT, VECTORS, ClipVectors, build, spool

VIDEOS, THUMBNAILS = "videos.jsonl", "thumbnails.bin"
MOST = 2**40
"""Above all seconds and rows of a window: what is larger was not written by us."""
Item = tuple[dict, list[Vectors], list[tuple[float, bytes]]]
"""Of a video its row with `windows` as lists that begin with offset and seconds, the windows' vectors, and thumbnails
(time, JPEG)."""
HALVES, BYTES, SCALES = "localise.f16", "localise.i8", "localise.scale"


def write_windows(
    folder: Path,
    videos: Iterable[Item],
    dim: int,
    exact_clips: int,
    queries: np.ndarray | None,
    seed: int,
) -> dict:
    """Write the windows of videos into an empty folder; returns their facts for the manifest.

    `videos` are read once, one at a time; `queries` and `seed` as for `vectors.build`.
    """
    folder.mkdir(parents=True)
    rows: list[dict] = []
    owner: list[np.ndarray] = []
    with (folder / HALVES).open("wb") as localise, (folder / THUMBNAILS).open("wb") as pictures:

        def blocks() -> Iterator[np.ndarray]:
            for row, vectors, thumbnails in videos:
                windows = [
                    [*window[:2], len(encoded.search), len(encoded.localise)]
                    for window, encoded in zip(row["windows"], vectors)
                ]
                stored = []
                for time, content in thumbnails:
                    stored.append([time, pictures.tell(), len(content)])
                    pictures.write(content)
                owner.append(np.full(sum(window[2] for window in windows), len(rows), np.int32))
                rows.append({**row, "windows": windows, "thumbnails": stored})
                for part in vectors:
                    localise.write(np.ascontiguousarray(part.localise).data)
                    yield part.search

        spool(folder, blocks())
    facts = build(folder, dim, np.concatenate(owner), exact_clips, queries, seed)
    if facts["kind"] != EXACT:
        _shorten(folder, dim)
    write_jsonl(folder / VIDEOS, rows)
    return {**facts, "videos": len(rows), "windows": sum(len(row["windows"]) for row in rows)}


def _shorten(folder: Path, dim: int) -> None:
    """Quantise the localiser's numbers to bytes: each row divided by its largest absolute value."""
    size = (folder / HALVES).stat().st_size // (2 * dim)
    with (folder / BYTES).open("wb") as numbers, (folder / SCALES).open("wb") as scales:
        if size:
            rows = np.memmap(folder / HALVES, np.float16, "r", shape=(size, dim))
            for at in range(0, size, 65536):
                block = rows[at : at + 65536].astype(np.float32)
                scale = np.maximum(np.abs(block).max(axis=1, keepdims=True), 1e-6) / 127
                numbers.write(np.rint(block / scale).astype(np.int8).tobytes())
                scales.write(scale.astype(np.float32).tobytes())
    (folder / HALVES).unlink()


class Windows:
    """The windows of an index, open for search; they are identified by their number, W in all."""

    def __init__(self, folder: Path, facts: dict):
        self.folder, self.facts, self.dim = folder, facts, facts["dim"]
        exact = facts["kind"] == EXACT
        searched = (CODES, HALVES) if exact else (CODES, VECTORS, BYTES, SCALES)
        self._check(VIDEOS, *searched)
        self.vectors = ClipVectors(folder, facts)
        self.videos = read_jsonl(folder / VIDEOS, ("video", "windows", "thumbnails"))
        windows, counts = _windows(folder / VIDEOS, self.videos)
        self.offset, self.seconds = windows[:, 0], windows[:, 1]
        """[W] seconds at which a window begins in its video, and of its clips."""
        self.clips, self.localised = windows[:, 2].astype(np.int64), windows[:, 3].astype(np.int64)
        self.video = np.repeat(np.arange(len(self.videos)), counts)
        """[W] positions in `videos`."""
        self._first = np.r_[0, np.cumsum(counts)]
        self._rows, self._localised_rows = (np.r_[0, np.cumsum(counts)] for counts in (self.clips, self.localised))
        if (len(windows), len(self.videos), self._rows[-1]) != (facts["windows"], facts["videos"], facts["rows"]):
            raise _damaged(folder / VIDEOS, "it lists other videos than were written")
        self.owner = np.repeat(np.arange(len(windows), dtype=np.int32), self.clips)
        """[rows] the window of each vector."""
        count = int(self._localised_rows[-1])
        self._localise = _map(folder / (HALVES if exact else BYTES), np.float16 if exact else np.int8, count, self.dim)
        self._scale = None if exact else _map(folder / SCALES, np.float32, count, 1)

    def search(self, query: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        """The `count` best windows for a query [D], and the product of their best clip.

        Inverted lists propose by rounded vectors: twice as many proposals are rescored with the exact vectors.
        """
        exact = self.facts["kind"] == EXACT
        windows, scores = self.vectors.owners(query, self.owner, count if exact else 2 * count)
        if not exact:
            scores = np.array([(self.search_vectors(window) @ query).max() for window in windows], np.float32)
            order = np.argsort(-scores, kind="stable")[:count]
            windows, scores = windows[order], scores[order]
        return windows, scores

    def search_vectors(self, window: int) -> np.ndarray:
        """[clips, D] float32 of length 1."""
        return self.vectors.vectors[self._rows[window] : self._rows[window + 1]].astype(np.float32)

    def localise_vectors(self, window: int) -> np.ndarray:
        """[clips + pads, D] float32 for the model's localiser."""
        rows = slice(self._localised_rows[window], self._localised_rows[window + 1])
        numbers = self._localise[rows].astype(np.float32)
        return numbers if self._scale is None else numbers * self._scale[rows]

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
        sound(self.folder.parents[1], *(f"{self.folder.parent.name}/{self.folder.name}/{name}" for name in names))


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


def _map(path: Path, kind: type, rows: int, dim: int) -> np.ndarray:
    size = rows * dim * np.dtype(kind).itemsize
    if not path.is_file() or path.stat().st_size != size:
        raise _damaged(path, f"{size} bytes were written")
    return np.memmap(path, kind, "r", shape=(rows, dim)) if rows else np.zeros((0, dim), kind)
