"""Exact DBSCAN by tiles beside scikit-learn's.

    python benchmarks/clustering.py                                              # captions made up, a minute
    python benchmarks/clustering.py results/charades/statistics/embeddings.npz   # the captions of a data set

Made-up captions are 16,128 vectors of 384 numbers, half of them in groups of near copies. Labels must be identical. The
limit is the products of every vector with those behind it. Its memory is in `benchmarks/memory.py`.
"""

import sys
from pathlib import Path

import numpy as np
from sides import Row, arithmetic, asked, compare, described, side

EPS, MIN_SAMPLES = 0.01, 2


def main() -> None:
    parser = described(__doc__)
    parser.add_argument("embeddings", nargs="?", type=Path, help="embeddings.npz of a data set")
    options = asked(parser)
    vectors = read(options.embeddings) if options.embeddings else made_up(200 if options.tiny else 16128)
    if not (ours(vectors) == scikit_learn(vectors)).all():
        sys.exit("the labels differ")
    count, dim = vectors.shape
    limit = arithmetic(count * (count - 1) / 2 * dim, count)
    own, beside = (
        side("tiles", lambda: ours(vectors), count),
        side("scikit-learn", lambda: scikit_learn(vectors), count),
    )
    compare(options.turns, Row(f"DBSCAN of {count:,} captions", "captions", own, beside, limit))


def read(path: Path) -> np.ndarray:
    """Vectors float32 [captions, 384] of a file."""
    from verified.statistics.embeddings import Embeddings

    return Embeddings(path).vectors.astype(np.float32)


def made_up(count: int) -> np.ndarray:
    """Vectors float32 [count, 384], half of them near copies of some."""
    random = np.random.default_rng(0)
    half = count // 2
    centres = random.normal(size=(max(1, count // 11), 384))
    near = centres[random.integers(len(centres), size=half)] + 0.05 * random.normal(size=(half, 384))
    return random.permutation(np.concatenate([near, random.normal(size=(count - half, 384))])).astype(np.float32)


def ours(vectors: np.ndarray) -> np.ndarray:
    from verified.statistics.clustering import dbscan

    return dbscan(vectors, EPS, MIN_SAMPLES)


def scikit_learn(vectors: np.ndarray) -> np.ndarray:
    from sklearn.cluster import DBSCAN

    return DBSCAN(eps=EPS, min_samples=MIN_SAMPLES, metric="cosine").fit(vectors).labels_


if __name__ == "__main__":
    main()
