"""What the environment of a job is worth: threads that sleep while they wait, and memory that is kept.

    python benchmarks/environment.py                  # one busy neighbour; two minutes

Each side is an interpreter of its own, that of jobs with the variables of `verified.runtime.job.ENVIRONMENT`, the other
without them. The work is the search of XML (200 queries, 1,334 videos of 48 clips) with 2 threads and with 8, three
steps of its training (64 pairs of 48 clips of 2,048 numbers, paper widths), and frames at 8 fps of 30 s of 360p. It
stops where the two sides' results differ in a byte.
"""

import hashlib
import multiprocessing
import os
import sys
from functools import partial

from sides import Row, Side, asked, compare, described, interpreter_seconds, processor_seconds


def main() -> None:
    from verified.runtime.job import ENVIRONMENT

    parser = described(__doc__)
    parser.add_argument("--neighbours", type=int, default=1, help="busy processes beside the measured one")
    if len(sys.argv) == 3 and sys.argv[1] == "--child":
        return measure(sys.argv[2])
    options = asked(parser)
    neighbours = [multiprocessing.Process(target=_spin, daemon=True) for _ in range(options.neighbours)]
    for neighbour in neighbours:
        neighbour.start()
    for work, (_, threads, what, unit, amount) in list(WORK.items())[-1 if options.tiny else 0 :]:
        digests: set[str] = set()
        own, bare = (
            Side(name, partial(taken, work, threads, given, tuple(ENVIRONMENT), digests), amount)
            for name, given in (("as jobs", ENVIRONMENT), ("without", {}))
        )
        compare(options.turns, Row(what, unit, own, bare))


def taken(work: str, threads: int, given: dict[str, str], without: tuple[str, ...], digests: set[str]) -> float:
    """Seconds of the work in an interpreter of its own. Raises SystemExit if its result is not what it was before."""
    environment = {**given, "OMP_NUM_THREADS": str(threads)}
    _, printed = interpreter_seconds(__file__, "--child", work, environment=environment, without=without)
    digest, seconds = printed.split()
    digests.add(digest)
    if len(digests) > 1:
        sys.exit(f"{work}: the bytes differ")
    return float(seconds)


def measure(work: str) -> None:
    """Do the work once and print a digest of its result and its seconds."""
    run = WORK[work][0]()
    outputs: list[bytes] = []
    seconds = processor_seconds(lambda: outputs.append(run()))
    print(hashlib.sha256(outputs[0]).hexdigest()[:12], seconds)


def _spin() -> None:
    parent = os.getppid()
    while os.getppid() == parent:
        sum(range(10**6))


def search():
    """VR, SVMR and VCMR lists over encodings that are at hand."""
    from retrieval import Size, made_up

    made = made_up(Size("", 200, 1334, 48, 2, 12))
    return lambda: made.search().vcmr.start.tobytes()


def training():
    """Three steps of XML at the paper's widths."""
    import torch

    from verified.benchmark.vcmr.contract import Batch
    from verified.benchmark.vcmr.registry import build_model
    from verified.nn.optimisers import BertAdam, parameter_groups

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


def sampling():
    """Frames at 8 fps of moments of three seconds."""
    from made_video import made_video

    from verified.io.video import frames_of_spans

    path, spans = made_video(30, 360), [(start, start + 3.0) for start in range(0, 30, 3)]
    return lambda: b"".join(frames[:, ::8, ::8].tobytes() for _, frames, _ in frames_of_spans(path, spans, fps=8))


WORK = {
    "search": (search, 2, "search by XML, 2 threads", "queries", 200),
    "search-8": (search, 8, "search by XML, 8 threads", "queries", 200),
    "training": (training, 1, "training of XML, 1 thread", "pairs", 192),
    "sampling": (sampling, 1, "8 frames a second of moments of 3 s", "frames", 750),
}
"""Work → how it is made, threads, what it is, what is counted and how many of that."""

if __name__ == "__main__":
    sys.exit(main())
