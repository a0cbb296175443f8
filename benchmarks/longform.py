"""Zero-shot grounding in one movie: clip sums and prefix sums beside pooling each proposal.

    python benchmarks/longform.py                         # 20 minutes, 60 queries, 512 numbers a frame; half a minute
    python benchmarks/longform.py --minutes 110.77 --queries 600

Features are made up. Pooling each proposal means the frames of one proposal after the other, all cosines in one matrix
product, and NMS for each query, with the same NMS for both. The best moment of every query must be the same. The limit
is NMS alone, of cosines that are at hand: the products of queries with clips are less than a hundredth of it. Its
memory is in `benchmarks/memory.py`.
"""

import sys
from collections.abc import Callable

import numpy as np
from sides import Row, asked, compare, described, side

DIM, FPS, CLIP_FRAMES = 512, 5, 2


def main() -> None:
    parser = described(__doc__)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--queries", type=int, default=60)
    options = asked(parser)
    frames, queries = made_up(1.0, 4) if options.tiny else made_up(options.minutes, options.queries)
    if np.abs(prefix_sums(frames, queries) - each_proposal(frames, queries)).max() > 1e-6:
        sys.exit("the best moments differ")
    count = len(queries)
    own = side("prefix sums", lambda: prefix_sums(frames, queries), count)
    beside = side("each proposal pooled", lambda: each_proposal(frames, queries), count)
    limit = side("NMS alone", suppression(frames, queries), count)
    minutes = len(frames) / FPS / 60
    compare(options.turns, Row(f"{count} queries in a movie of {minutes:.0f} minutes", "queries", own, beside, limit))


def made_up(minutes: float, queries: int) -> tuple[np.ndarray, np.ndarray]:
    """Frames at 5 a second and queries, float32 [n, 512] each."""
    random = np.random.default_rng(0)
    frames = random.normal(size=(round(minutes * 60 * FPS), DIM)).astype(np.float32)
    return frames, random.normal(size=(queries, DIM)).astype(np.float32)


def prefix_sums(frames: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Best moment of each query [queries, 2], as the workflow finds it."""
    from verified.benchmark.mad.grid import Grid
    from verified.benchmark.mad.zero_shot import rank_proposals

    return np.array([spans[0, :2] for spans in rank_proposals(frames, queries, Grid())])


def each_proposal(frames: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """The same by pooling the frames of one proposal after the other."""
    from verified.benchmark.mad.grid import Grid
    from verified.benchmark.nms import suppress_spans

    grid = Grid()
    spans = grid.proposals(len(frames))
    seconds, pooled = grid.seconds(spans), pool(frames, spans)
    best = []
    for query in queries:
        scores = pooled @ (query / np.linalg.norm(query))
        order = np.argsort(-scores, kind="stable")
        kept = suppress_spans(seconds[order], 0.3, 100)
        best.append(seconds[order[kept[0]]])
    return np.array(best)


def pool(frames: np.ndarray, spans: np.ndarray) -> np.ndarray:
    """Means of length 1 of the frames of spans of clips."""
    pooled = np.stack([frames[CLIP_FRAMES * first : CLIP_FRAMES * last].mean(axis=0) for first, last in spans])
    return pooled / np.linalg.norm(pooled, axis=1, keepdims=True)


def suppression(frames: np.ndarray, queries: np.ndarray) -> Callable[[], None]:
    """What finds the best spans of each query where all cosines are known."""
    from verified.benchmark.mad.grid import Grid, distinct
    from verified.benchmark.nms import best_spans

    grid = Grid()
    spans = distinct(grid.proposals(len(frames)))
    seconds, pooled = grid.seconds(spans), pool(frames, spans)
    cosines = [(pooled @ query).astype(np.float64) for query in queries]

    def run() -> None:
        for scores in cosines:
            best_spans(scores, seconds, 0.3, 100)

    return run


if __name__ == "__main__":
    sys.exit(main())
