"""Peak memory of what must not grow, each piece of work in a process that does nothing else. Linux.

    python benchmarks/memory.py          # some minutes; no part of the tables

Reading and keyframes of 180 s beside 30 s of video, DBSCAN of 16,128 captions beside scikit-learn's, one movie of
110.77 minutes with 40 queries, and re-ranking of one query's 100 videos of up to 240 clips.
"""

import multiprocessing
import sys
from collections.abc import Callable
from pathlib import Path

import clustering
import reranking
import video
from made_video import described_video, made_video
from sides import described

import longform
from features import BATCH

MOVIE = 110.77, 40
RERANKED = "conquer", 1, 100, 240, 768


def main() -> None:
    described(__doc__).parse_args()
    for work in (video.sample, video.keyframes, grid_features):
        show(f"{work.__name__} of 180 s beside 30 s", *(of_video(work, seconds) for seconds in (180, 30)))
    show("DBSCAN beside scikit-learn's", *(peak(cluster, work) for work in ("ours", "scikit_learn")))
    show(
        "a movie by prefix sums beside each proposal", *(peak(movie, work) for work in ("prefix_sums", "each_proposal"))
    )
    show("re-ranking beside the model and features at rest", *(peak(rerank, run) for run in (True, False)))


def show(work: str, first: float, second: float) -> None:
    print(f"{work:<52}{first:8.0f} MB {second:8.0f} MB", flush=True)


def of_video(work: Callable, seconds: int) -> float:
    return peak(work, made_video(seconds, 360), seconds)


def grid_features(path: Path, seconds: int) -> None:
    """Features by the demo's small backbone."""
    from verified.features.backbones import load_backbone
    from verified.features.video import encode_videos

    for _ in encode_videos([described_video(path)], load_backbone("grid-conv"), 4.0, 1.0, BATCH, {}):
        pass


def cluster(work: str) -> None:
    getattr(clustering, work)(clustering.made_up(16128))


def movie(work: str) -> None:
    getattr(longform, work)(*longform.made_up(*MOVIE))


def rerank(run: bool) -> None:
    import torch

    inputs = reranking.prepare(*RERANKED)
    if run:
        with torch.no_grad():
            reranking.ours(*inputs)


def peak(work: Callable, *arguments) -> float:
    """Largest resident memory of a process that does this, in MB."""
    context = multiprocessing.get_context("spawn")
    answers = context.SimpleQueue()
    process = context.Process(target=_tell, args=(work, arguments, answers))
    process.start()
    process.join()
    if process.exitcode:
        sys.exit(process.exitcode)
    return answers.get()


def _tell(work: Callable, arguments: tuple, answers) -> None:
    work(*arguments)
    # Not ru_maxrss, which starts at the parent's.
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    answers.put(int(line.split()[1]) / 1024)


if __name__ == "__main__":
    main()
