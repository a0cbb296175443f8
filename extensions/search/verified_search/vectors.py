"""Clip vectors of an index in faiss: exact up to a number of clips, inverted lists beyond.

Up to that number, they are one flat faiss index of float16 codes, which are the vectors themselves. Beyond, the
float16 vectors in a file of their own (`vectors.f16`, row by row) and an inverted file of four bits a number for
proposals; these are rescored by the vectors. Both are memory-mapped, so opening reads almost no data.

The number of lists to probe (`probes`) is measured: queries are searched both ways, and the smallest number is used
that finds at least `AIM` of the exact search's videos. The measured share is in the facts.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from verified.errors import InputError
from verified.runtime.progress import Progress
from verified.runtime.seeds import derive_seed

CODES, VECTORS = "clips.faiss", "vectors.f16"
EXACT, LISTS = "exact", "inverted lists"
AIM = 0.995
"""Share of the exact search's videos that the chosen number of lists must find (0.99 is promised)."""
DEPTH = 100
"""Videos per query that the share is measured on."""
BLOCK = 65536
"""Rows at a time."""
TRAINING_ROWS = 64
"""Clips per list to train the lists' centres."""


def spool(folder: Path, blocks: Iterable[np.ndarray]) -> int:
    """Append blocks of vectors, float16 [n, D], to a file; returns the number of rows."""
    rows = 0
    with (folder / VECTORS).open("wb") as out:
        for block in blocks:
            out.write(np.ascontiguousarray(block, dtype=np.float16).data)
            rows += len(block)
    return rows


def build(folder: Path, dim: int, owner: np.ndarray, exact_clips: int, queries: np.ndarray | None, seed: int) -> dict:
    """Index the output of `spool`; returns the facts for `ClipVectors`.

    `owner` [rows] is the video of each row. `queries` [Q, D] float32 set the number of lists to probe; without queries,
    clips replace them.
    """
    import faiss

    rows = _map(folder, len(owner), dim)
    if len(rows) <= exact_clips:
        index = faiss.IndexScalarQuantizer(dim, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)
        index.is_trained = True  # float16 needs no training
        for block in _blocks(rows):
            index.add(block)
        faiss.write_index(index, str(folder / CODES))
        del rows
        (folder / VECTORS).unlink()
        return {"kind": EXACT, "rows": len(owner), "dim": dim}
    random = np.random.default_rng(derive_seed(seed, "search index"))
    lists = int(2 * np.sqrt(len(rows)))
    index = faiss.IndexIVFScalarQuantizer(
        faiss.IndexFlatIP(dim), dim, lists, faiss.ScalarQuantizer.QT_4bit, faiss.METRIC_INNER_PRODUCT
    )
    index.cp.seed, index.cp.niter, index.cp.min_points_per_centroid = derive_seed(seed, "lists") % 2**31, 10, 1
    sample = np.sort(random.choice(len(rows), min(len(rows), TRAINING_ROWS * lists), replace=False))
    index.train(rows[sample].astype(np.float32))
    progress = Progress("index", len(rows), "clips")
    for block in _blocks(rows):
        index.add(block)
        progress.step(len(block))
    progress.finish()
    faiss.write_index(index, str(folder / CODES))
    if queries is None or len(queries) < 20:
        queries = rows[np.sort(random.choice(len(rows), min(200, len(rows)), replace=False))].astype(np.float32)
    facts = {"kind": LISTS, "rows": len(owner), "dim": dim, "lists": lists}
    return {**facts, **_probes(ClipVectors(folder, {**facts, "probes": 1}), owner, queries[:400])}


def _probes(vectors: "ClipVectors", owner: np.ndarray, queries: np.ndarray) -> dict:
    """The smallest number of lists (a power of two) that reaches `AIM` for the first half of the queries; the second
    half measures the recall."""
    exact = exact_videos(vectors.vectors, owner, queries)
    tuned = slice(0, len(queries) // 2)
    probes = 4
    while True:
        vectors.probes = min(probes, vectors.facts["lists"])
        shares = np.array(
            [
                len(np.intersect1d(vectors.owners(query, owner, 2 * len(wanted))[0], wanted)) / len(wanted)
                for query, wanted in zip(queries, exact)
            ]
        )
        if shares[tuned].mean() >= AIM or probes >= vectors.facts["lists"]:
            break
        probes *= 2
    return {
        "probes": vectors.probes,
        "recall": round(float(shares[tuned.stop :].mean()), 4),
        "recall_at": DEPTH,
        "recall_queries": len(queries) - tuned.stop,
    }


def exact_videos(rows: np.ndarray, owner: np.ndarray, queries: np.ndarray) -> list[np.ndarray]:
    """The `DEPTH` videos with the best of all clips, `rows` [clips, dim], for each query [Q, dim]."""
    best = np.full((len(queries), int(owner.max()) + 1), -np.inf, np.float32)
    for at in range(0, len(rows), BLOCK):
        scores = queries @ rows[at : at + BLOCK].astype(np.float32).T
        owners_here = owner[at : at + BLOCK]
        starts = np.flatnonzero(np.r_[True, owners_here[1:] != owners_here[:-1]])
        here = owners_here[starts]
        best[:, here] = np.maximum(best[:, here], np.maximum.reduceat(scores, starts, axis=1))
    depth = min(DEPTH, best.shape[1])
    return list(np.argpartition(-best, depth - 1, axis=1)[:, :depth])


def _blocks(rows: np.ndarray) -> Iterator[np.ndarray]:
    for at in range(0, len(rows), BLOCK):
        yield rows[at : at + BLOCK].astype(np.float32)


def _map(folder: Path, rows: int, dim: int) -> np.ndarray:
    path = folder / VECTORS
    if not path.is_file() or path.stat().st_size != rows * dim * 2:
        raise InputError(f"damaged: {rows} vectors of {dim} numbers were written", file=path)
    return np.memmap(path, np.float16, "r", shape=(rows, dim))


class ClipVectors:
    """Clip vectors, open for search."""

    def __init__(self, folder: Path, facts: dict):
        import faiss

        self.facts, self.probes = facts, facts.get("probes", 0)
        try:
            self._index: Any = faiss.read_index(str(folder / CODES), faiss.IO_FLAG_MMAP_IFC)
        except RuntimeError:
            raise InputError("damaged, or no index of faiss", file=folder / CODES) from None
        rows, dim = facts["rows"], facts["dim"]
        if (self._index.ntotal, self._index.d) != (rows, dim):
            raise InputError(f"damaged: {rows} vectors of {dim} numbers were written", file=folder / CODES)
        if facts["kind"] == EXACT:
            codes = faiss.rev_swig_ptr(self._index.codes.data(), rows * dim * 2)  # a view: the index must outlive it
            self.vectors = codes.view(np.float16).reshape(rows, dim)
        else:
            self.vectors = _map(folder, rows, dim)
        """[rows, D] float16, memory-mapped."""

    def clips(self, query: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        """The `count` best rows for a query [D], best first, and their products; fewer if fewer were probed."""
        import faiss

        count = min(count, self.facts["rows"])
        if self.facts["kind"] == LISTS:
            parameters = faiss.SearchParametersIVF(nprobe=self.probes)  # pyright: ignore[reportCallIssue] (faiss wraps it)
            scores, rows = self._index.search(query[None].astype(np.float32), count, params=parameters)
        else:
            scores, rows = self._index.search(query[None].astype(np.float32), count)
        valid = rows[0] >= 0
        return rows[0][valid], scores[0][valid]

    def owners(self, query: np.ndarray, owner: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        """The owners (videos, windows) of the best clips, each once, best first, and the product of their best clip.

        `owner` [rows] names each row's. The number of clips grows until `count` owners are found, or all probed clips
        are used.
        """
        asked = 10 * count
        while True:
            rows, scores = self.clips(query, asked)
            owned_by = owner[rows]
            names, first = np.unique(owned_by, return_index=True)
            if len(names) >= count or len(rows) < asked:
                order = np.argsort(first)[:count]
                return names[order], scores[first[order]]
            asked *= 4
