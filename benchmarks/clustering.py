"""Exact DBSCAN by tiles against scikit-learn's, as ratios in one run: processor time (best of three) and peak memory.

    python benchmarks/clustering.py                                              # captions made up, about a minute
    python benchmarks/clustering.py results/charades/statistics/embeddings.npz   # the captions of a data set

Made-up captions are 16,128 vectors of 384 numbers, half of them in groups of near copies. Labels must be identical.
"""

import argparse
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
EPS, MIN_SAMPLES, TURNS = 0.01, 2, 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("embeddings", nargs="?", type=Path, help="embeddings.npz of a data set")
    vectors = read(parser.parse_args().embeddings)
    results = {work.__name__: measured(work, vectors) for work in (ours, scikit_learn)}
    if not (results["ours"][0] == results["scikit_learn"][0]).all():
        sys.exit("the labels differ")
    labels = results["ours"][0]
    print(f"{len(vectors)} captions: {labels.max() + 1} classes, {(labels >= 0).sum()} instances, labels identical")
    for name, (_, seconds, megabytes) in results.items():
        print(f"{name:13} {seconds:7.2f} CPU-s {megabytes:7.0f} MB above the start")
    print(f"ratio         {results['scikit_learn'][1] / results['ours'][1]:7.1f} x")


def read(path: Path | None) -> np.ndarray:
    """Vectors float32 [captions, 384]: of a file, or made up."""
    if path:
        from verified.statistics.embeddings import Embeddings

        return Embeddings(path).vectors.astype(np.float32)
    random = np.random.default_rng(0)
    centres = random.normal(size=(1500, 384))
    near = centres[random.integers(1500, size=8064)] + 0.05 * random.normal(size=(8064, 384))
    return random.permutation(np.concatenate([near, random.normal(size=(8064, 384))])).astype(np.float32)


def ours(vectors: np.ndarray) -> np.ndarray:
    from verified.statistics.clustering import dbscan

    return dbscan(vectors, EPS, MIN_SAMPLES)


def scikit_learn(vectors: np.ndarray) -> np.ndarray:
    from sklearn.cluster import DBSCAN

    return DBSCAN(eps=EPS, min_samples=MIN_SAMPLES, metric="cosine").fit(vectors).labels_


def measured(work: Callable, vectors: np.ndarray) -> tuple[np.ndarray, float, float]:
    """(labels, processor seconds, megabytes of peak memory above the start), in a process that does only this."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measure, (work, vectors))


def _measure(work: Callable, vectors: np.ndarray) -> tuple[np.ndarray, float, float]:
    work(vectors[:64])  # imports
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = []
    for _ in range(TURNS):
        start = time.process_time()
        labels = work(vectors)
        seconds.append(time.process_time() - start)
    return labels, min(seconds), (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


if __name__ == "__main__":
    main()
