"""What the environment of a job is worth: threads that sleep while they wait, and memory that is kept.

    python benchmarks/environment.py                  # 2 threads and 8, one busy neighbour; some minutes

Each side is an interpreter of its own: "bare" without the variables of `verified.common.job.ENVIRONMENT`, "job" with
them. Five turns alternately, processor seconds. The work is the search of XML (200 queries, 1,334 videos of 48 clips),
its training step (64 queries, 48 clips of 2,048 numbers, paper widths), and keyframe scores and 8 fps sampling of a
video of 30 s at 360p, which `benchmarks/video.py` makes. It stops where
the two sides' results differ in a byte.
"""

import argparse
import hashlib
import multiprocessing
import os
import sys
from functools import partial
from pathlib import Path

from sides import child, compare, here, processor_seconds

OWN = here(__file__)
VIDEO = Path(OWN).parent / "results" / "video" / "30s-360p.mp4"


def main() -> None:
    from verified.common.job import ENVIRONMENT

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", nargs="+", choices=sorted(WORK), default=sorted(WORK))
    parser.add_argument("--threads", nargs="+", type=int, default=[2, 8], help="of the search")
    parser.add_argument("--neighbours", type=int, default=1, help="busy processes beside the measured one")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return measure(options.work[0], options.threads[0])
    neighbours = [multiprocessing.Process(target=_spin, daemon=True) for _ in range(options.neighbours)]
    for neighbour in neighbours:
        neighbour.start()
    for work in options.work:
        for threads in options.threads if work == "search" else [1]:
            digests: set[str] = set()
            sides = {
                name: partial(side, work, threads, given, tuple(ENVIRONMENT), digests)
                for name, given in (("bare", {}), ("job", ENVIRONMENT))
            }
            compare(f"{work}, {threads} threads", sides)


def side(work: str, threads: int, given: dict[str, str], without: tuple[str, ...], digests: set[str]) -> float:
    """Seconds of the work in an interpreter of its own. Raises SystemExit if its result is not what it was before."""
    environment = {**given, "OMP_NUM_THREADS": str(threads)}
    arguments = ("--child", "--work", work, "--threads", str(threads))
    digest, seconds = child(OWN, *arguments, environment=environment, without=without)
    digests.add(digest)
    if len(digests) > 1:
        sys.exit(f"{work}: the bytes differ")
    return float(seconds)


def measure(work: str, threads: int) -> None:
    """Do the work once and print a digest of its result and its seconds."""
    import torch

    torch.set_num_threads(threads)
    run = WORK[work]()
    outputs: list[bytes] = []
    seconds = processor_seconds(lambda: outputs.append(run()))
    print(hashlib.sha256(outputs[0]).hexdigest()[:12], seconds)


def _spin() -> None:
    parent = os.getppid()
    while os.getppid() == parent:
        sum(range(10**6))


def search():
    """VR, SVMR and VCMR lists over encodings that are at hand."""
    import numpy as np
    import torch

    from verified.retrieval.data import Moments
    from verified.retrieval.registry import build_model
    from verified.retrieval.search import SearchSettings, search_encoded

    queries, videos, clips, hidden = 200, 1334, 48, 256
    torch.manual_seed(0)
    model = build_model("xml", {"video_dim": 64, "text_dim": 768, "context_clips": clips}).eval()
    names = [f"v{i:05d}" for i in range(videos)]
    true_videos = np.arange(queries) % videos
    moments = Moments(np.arange(queries), true_videos, np.zeros((queries, 2)), [""] * queries, names, Path("none"))
    vectors = torch.nn.functional.normalize(torch.randn(videos, clips, hidden), dim=2)
    mask = torch.arange(clips) < torch.linspace(12, clips, videos).round()[:, None]
    corpus = {"unit": vectors, "localised": vectors, "mask": mask}
    tokens = torch.randn(queries, 30, 768)
    settings = SearchSettings(2, 12, memory_mb=3000, quiet=True)

    class Corpus:
        context, clip_seconds = clips, np.ones(videos)
        __len__ = lambda self: videos  # noqa: E731

    class Texts:
        __len__ = lambda self: queries  # noqa: E731
        batch = lambda self, index: (tokens[index], torch.ones(len(index), 30, dtype=torch.bool))  # noqa: E731

    return lambda: search_encoded(model, corpus, Corpus(), Texts(), moments, settings).vcmr.start.tobytes()


def training():
    """Three steps of XML at the paper's widths."""
    import torch

    from verified.retrieval.contract import Batch
    from verified.retrieval.optimisers import BertAdam, parameter_groups
    from verified.retrieval.registry import build_model

    torch.manual_seed(0)
    model = build_model("xml", {"video_dim": 2048, "text_dim": 768, "context_clips": 48}).train()
    optimiser = BertAdam(parameter_groups(model.named_parameters(), 0.01), 1e-4)
    seen = torch.arange(48) < torch.linspace(16, 48, 64).round()[:, None]
    spans = torch.zeros(64, 2, dtype=torch.int64)
    batch = Batch(torch.randn(64, 30, 768), torch.ones(64, 30).bool(), torch.randn(64, 48, 2048), seen, spans)

    def steps() -> bytes:
        generator = torch.Generator().manual_seed(0)
        for step in range(3):
            optimiser.zero_grad()
            model.losses(batch, epoch=0, step=step, generator=generator)["total"].backward()
            optimiser.step()
        return model.video_query_linear.weight.detach().numpy().tobytes()

    return steps


def _video() -> Path:
    from video import make_video

    if not VIDEO.exists():
        VIDEO.parent.mkdir(parents=True, exist_ok=True)
        make_video(VIDEO, 30, 360)
    return VIDEO


def keyframes():
    """Content scores and keyframes of twelve moments, decoded once."""
    import numpy as np

    from verified.keyframes.extract import extract_keyframes

    path, starts = _video(), np.linspace(0, 24, 12).tolist()
    return lambda: repr(
        [(at, segmented.cuts) for at, segmented in extract_keyframes(path, [(t, t + 6) for t in starts], 5, 27.0, 0.6)]
    ).encode()


def sampling():
    """Frames at 8 fps of moments of three seconds."""
    from verified.common.video import frames_of_spans

    path, spans = _video(), [(start, start + 3.0) for start in range(0, 30, 3)]
    return lambda: b"".join(frames[:, ::8, ::8].tobytes() for _, frames, _ in frames_of_spans(path, spans, fps=8))


WORK = {"search": search, "training": training, "keyframes": keyframes, "sampling": sampling}

if __name__ == "__main__":
    sys.exit(main())
