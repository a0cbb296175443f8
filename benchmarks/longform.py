"""Zero-shot grounding in one film: clip sums and prefix sums against pooling each proposal, processor time and memory.

    python benchmarks/longform.py                            # 110.77 minutes, 600 queries, 512 numbers a frame
    python benchmarks/longform.py --minutes 20 --queries 100

Features are made up. Pooling each proposal means the frames of one proposal after the other, all cosines in one matrix
product, and NMS for each query, with the same NMS for both. The best moment of every query must be the same.
"""

import argparse
import multiprocessing
import resource
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
DIM = 512


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=110.77)
    parser.add_argument("--queries", type=int, default=600)
    arguments = parser.parse_args()
    results = {work.__name__: measured(work, arguments) for work in (prefix_sums, each_proposal)}
    (first, seconds, _), (second, slow, _) = results["prefix_sums"], results["each_proposal"]
    if np.abs(first - second).max() > 1e-6:
        sys.exit("the best moments differ")
    for name, (_, spent, megabytes) in results.items():
        print(f"{name:13} {spent:7.1f} CPU-s {megabytes:7.0f} MB at most")
    print(f"ratio         {slow / seconds:7.1f} x, the best moments of {arguments.queries} queries are the same")


def measured(work, arguments) -> tuple[np.ndarray, float, float]:
    """Best moment of each query, CPU seconds and peak memory in MB of `work` in a process of its own."""
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=run, args=(work, arguments, sending))
    process.start()
    result = receiving.recv()
    process.join()
    return result


def run(work, arguments, sending) -> None:
    """Child process: make the film up, do `work`, send what came of it."""
    random = np.random.default_rng(0)
    frames = random.normal(size=(round(arguments.minutes * 300), DIM)).astype(np.float32)
    queries = random.normal(size=(arguments.queries, DIM)).astype(np.float32)
    before = time.process_time()
    best = work(frames, queries)
    spent = time.process_time() - before
    sending.send((best, spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def prefix_sums(frames: np.ndarray, queries: np.ndarray) -> np.ndarray:
    from verified.longform.grid import Grid
    from verified.longform.zero_shot import rank_proposals

    return np.array([spans[0, :2] for spans in rank_proposals(frames, queries, Grid())])


def each_proposal(frames: np.ndarray, queries: np.ndarray) -> np.ndarray:
    from verified.longform.grid import Grid
    from verified.longform.overlap import suppress

    grid = Grid()
    spans = grid.proposals(len(frames))
    seconds = grid.seconds(spans)
    pooled = np.stack([frames[2 * first : 2 * last].mean(axis=0) for first, last in spans])
    pooled /= np.linalg.norm(pooled, axis=1, keepdims=True)
    best = []
    for query in queries:
        scores = pooled @ (query / np.linalg.norm(query))
        order = np.argsort(-scores, kind="stable")
        kept = suppress(seconds[order], 0.3, 100)
        best.append(seconds[order[kept[0]]])
    return np.array(best)


if __name__ == "__main__":
    main()
