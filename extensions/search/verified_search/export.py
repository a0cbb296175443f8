"""Export an index as plain files for another engine: vectors in row order and a table that describes each row."""

import shutil
from pathlib import Path

import numpy as np

from verified.errors import InputError
from verified.io.files import atomic_path
from verified_search.store import open_windows, read_manifest

ROWS_PER_FILE = 1_000_000


def export(folder: Path, output: Path, rows_per_file: int = ROWS_PER_FILE) -> int:
    """Write `vectors-00000.npy` (float16 [rows, D], length 1) and `rows-00000.parquet` (video, start, end in seconds; a
    row per vector, in the same order), and further pairs of at most `rows_per_file` rows; returns how many rows.

    Vectors are to be compared by their inner product; a video's score is the largest of
    its rows'. The folder appears when all files are complete. Raises InputError for an output folder that is not empty.
    """
    windows = open_windows(folder, read_manifest(folder))
    if output.exists() and any(output.iterdir()):
        raise InputError("is not empty", file=output, remedy="name a folder that is not there")
    temporary = output.with_name(f".{output.name}.partial")
    if temporary.exists():
        shutil.rmtree(temporary)  # of a killed export
    temporary.mkdir(parents=True)
    vectors, names, spans = [], [], []
    count = files = buffered = 0

    def write() -> None:
        nonlocal files, buffered
        _write(temporary, files, np.concatenate(vectors), np.concatenate(names), np.concatenate(spans))
        files, buffered = files + 1, 0
        for column in (vectors, names, spans):
            column.clear()

    for window, position in enumerate(windows.video):
        clip_vectors = windows.search_vectors(window).astype(np.float16)
        if buffered and buffered + len(clip_vectors) > rows_per_file:
            write()
        starts = windows.offset[window] + np.arange(len(clip_vectors)) * windows.seconds[window]
        vectors.append(clip_vectors)
        names.append(np.full(len(clip_vectors), windows.videos[position]["video"], object))
        spans.append(np.stack([starts, starts + windows.seconds[window]], axis=1))
        buffered, count = buffered + len(clip_vectors), count + len(clip_vectors)
    if buffered:
        write()
    temporary.replace(output)
    return count


def _write(output: Path, number: int, vectors: np.ndarray, names: np.ndarray, spans: np.ndarray) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    with atomic_path(output / f"vectors-{number:05d}.npy") as temporary, temporary.open("wb") as out:
        np.save(out, vectors)
    table = pa.table({"video": pa.array(names.tolist(), pa.string()), "start": spans[:, 0], "end": spans[:, 1]})
    with atomic_path(output / f"rows-{number:05d}.parquet") as temporary:
        parquet.write_table(table, temporary)
