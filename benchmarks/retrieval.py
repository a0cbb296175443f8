"""Search, training step, suppression and metrics at the sizes of Charades-FIG and ActivityNet-FIG, on random features.

    python benchmarks/retrieval.py                  # Charades-FIG: 3,720 queries × 1,334 videos × 48 clips × 2,048
    python benchmarks/retrieval.py --activitynet    # ActivityNet-FIG: 17,000 × 4,885 × 240; the search alone

Each figure stands beside a plain implementation of the same formulas, run on a part of the queries where the whole
would take minutes (the share is printed, and its time scaled to all). Seconds are wall time; "cpu" is processor time.
Peak memory is that of the process, which for the plain search runs apart.
"""

import argparse
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

SIZES = {"charades": (3720, 1334, 48, 2, 12, 0.6), "activitynet": (17000, 4885, 240, 1, 180, 0.5)}
"""Queries, videos, clips, min_pred_l, max_pred_l, NMS threshold."""
BATCH, TOKENS, VIDEO_DIM, TEXT_DIM = 128, 12, 2048, 768


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--activitynet", action="store_true", help="the search at the size of ActivityNet-FIG")
    parser.add_argument("--queries", type=int, help="fewer queries")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    name = "activitynet" if options.activitynet else "charades"
    queries = options.queries or SIZES[name][0]
    _, videos, clips, *_ = SIZES[name]
    print(f"{name}: {queries} queries, {videos} videos of up to {clips} clips, {options.threads} threads")
    with tempfile.TemporaryDirectory() as folder:
        apart(write_features, folder, name, queries)
        apart(time_search, folder, name, queries, options.threads)
        plain = 20 if options.activitynet else 300
        apart(time_plain_search, folder, name, min(plain, queries), queries, options.threads)
    if not options.activitynet:
        apart(time_steps, name, options.threads)
        apart(time_lists, name, queries)


def apart(work: Callable, *arguments) -> None:
    """Run in a process of its own, so that peak memory is that of the work alone."""
    process = multiprocessing.get_context("spawn").Process(target=work, args=arguments)
    process.start()
    process.join()
    if process.exitcode:
        sys.exit(process.exitcode)


def peak_mb() -> float:
    """Largest resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Clock:
    """Wall and processor seconds since it was made."""

    def __init__(self):
        self.wall, self.cpu = time.perf_counter(), time.process_time()

    def __str__(self) -> str:
        return f"{self.seconds():7.2f} s (cpu {time.process_time() - self.cpu:7.2f} s)"

    def seconds(self) -> float:
        """Wall seconds."""
        return time.perf_counter() - self.wall


def write_features(folder: str, name: str, queries: int) -> None:
    """Random features: half of the videos as long as the context, the others from a quarter of it on."""
    import numpy as np

    from verified.common.hdf5 import write_features as write

    _, videos, clips, *_ = SIZES[name]
    draw = np.random.default_rng(0)
    noise = draw.standard_normal(clips * VIDEO_DIM + 4096, dtype=np.float32).astype(np.float16)
    lengths = np.where(draw.random(videos) < 0.5, clips, draw.integers(clips // 4, clips, videos))

    def random(rows: int, dim: int) -> np.ndarray:
        start = draw.integers(0, 4096)
        return noise[start : start + rows * dim].reshape(rows, dim)

    items = ((f"v{i:05d}", random(int(n), VIDEO_DIM), {}) for i, n in enumerate(lengths))
    write(Path(folder, "video.h5"), {"dim": VIDEO_DIM}, items)
    captions = ((str(i), random(TOKENS, TEXT_DIM), {}) for i in range(queries))
    write(Path(folder, "text.h5"), {"dim": TEXT_DIM}, captions)


def loaded(folder: str, name: str, queries: int):
    """An untrained XML at the paper's size, and the corpus."""
    import numpy as np
    import torch

    from verified.retrieval.data import Moments, Queries, Videos
    from verified.retrieval.registry import build_model
    from verified.retrieval.search import SearchSettings

    _, videos, clips, shortest, beyond, _ = SIZES[name]
    torch.manual_seed(0)
    model = build_model("xml", {"video_dim": VIDEO_DIM, "text_dim": TEXT_DIM, "context_clips": clips}).eval()
    names = [f"v{i:05d}" for i in range(videos)]
    true_videos = np.arange(queries) % videos
    moments = Moments(np.arange(queries), true_videos, np.zeros((queries, 2)), [""] * queries, names, Path(folder))
    corpus = Videos(Path(folder, "video.h5"), names, type(model), clips, 1.0)
    text = Queries(moments, type(model), 30, Path(folder, "text.h5"))
    return model, corpus, text, moments, SearchSettings(shortest, beyond, memory_mb=3000, quiet=True)


def time_search(folder: str, name: str, queries: int, threads: int) -> None:
    """VR, SVMR and VCMR lists of all queries."""
    import torch

    from verified.retrieval.search import encode_corpus, search_encoded

    torch.set_num_threads(threads)
    model, videos, text, moments, settings = loaded(folder, name, queries)
    clock = Clock()
    with torch.no_grad():
        corpus = encode_corpus(model, videos, settings)
    print(f"  search: encode the corpus {clock}")
    search_encoded(model, corpus, videos, text, moments, settings)
    print(f"  search: ours, whole       {clock}, peak {peak_mb():.0f} MB")


def time_plain_search(folder: str, name: str, some: int, queries: int, threads: int) -> None:
    """The same lists from whole tensors: logits of all videos, every span, full sorts; for `some` of the queries."""
    import torch

    from verified.retrieval.search import encode_corpus, encode_queries

    torch.set_num_threads(threads)
    model, videos, text, moments, settings = loaded(folder, name, queries)
    with torch.no_grad():
        corpus = encode_corpus(model, videos, settings)
        clock = Clock()
        at_once = 50 if name == "charades" else 4
        for at in range(0, some, at_once):
            index = list(range(at, min(at + at_once, some)))
            encoded = encode_queries(model, text, index, "cpu")
            plain_lists(model, corpus, encoded, moments.video[index], settings)
    scaled = clock.seconds() * queries / some
    print(f"  search: plain, {some} queries {clock}, all would take {scaled:.0f} s, peak {peak_mb():.0f} MB")


def plain_lists(model, corpus, queries, truth, settings) -> None:
    """Literal decoding of one chunk of queries."""
    import torch
    import torch.nn.functional as F

    mask = corpus["mask"]
    scores = torch.einsum("qd,vld->qvl", queries["unit"], corpus["unit"]).masked_fill(~mask, -1e10).amax(dim=2)
    weights, ranking = torch.exp(20 * scores).sort(dim=1, descending=True)
    weights, ranking = weights[:, :100], ranking[:, :100]
    products = torch.einsum("qd,vld->qvl", queries["localiser"], corpus["localised"])
    count, videos, clips = products.shape
    probabilities = []
    for kernel in (model.video_st_predictor, model.video_ed_predictor):
        logits = F.conv1d(products.view(-1, 1, clips), kernel.weight, padding=2).view(count, videos, clips)
        probabilities.append(logits.masked_fill(~mask, -1e10).softmax(dim=2))
    distance = torch.arange(clips)[None] - torch.arange(clips)[:, None]
    allowed = ((distance >= settings.min_clips) & (distance < settings.max_clips)).float()
    rows = torch.arange(count)
    start, end = (probability[rows[:, None], ranking] for probability in probabilities)
    for row in range(count):
        spans = torch.einsum("v,vm,vn->vmn", weights[row], start[row], end[row]) * allowed
        spans.flatten().sort(descending=True)
        alone = probabilities[0][row, truth[row]][:, None] * probabilities[1][row, truth[row]][None] * allowed
        alone.flatten().sort(descending=True)


def time_steps(name: str, threads: int) -> None:
    """One step of training: forward, backward, BertAdam."""
    import torch

    from verified.retrieval.contract import Batch
    from verified.retrieval.optimisers import BertAdam, parameter_groups
    from verified.retrieval.registry import build_model

    torch.set_num_threads(threads)
    clips = SIZES[name][2]
    model = build_model("xml", {"video_dim": VIDEO_DIM, "text_dim": TEXT_DIM, "context_clips": clips}).train()
    optimiser = BertAdam(parameter_groups(model.named_parameters(), 0.01), 1e-4)
    batch = Batch(
        torch.randn(BATCH, 30, TEXT_DIM),
        torch.arange(30)[None].expand(BATCH, 30) < TOKENS,
        torch.randn(BATCH, clips, VIDEO_DIM),
        torch.ones(BATCH, clips, dtype=torch.bool),
        torch.zeros(BATCH, 2, dtype=torch.int64),
    )
    generator = torch.Generator()
    for turn in range(4):
        if turn == 1:
            clock = Clock()
        optimiser.zero_grad()
        model.losses(batch, epoch=0, step=turn, generator=generator)["total"].backward()
        optimiser.step()
    print(f"  training: 3 steps of {BATCH} × {clips} clips {clock}")


def time_lists(name: str, queries: int) -> None:
    """Suppression and metrics of random lists, beside loops over rows."""
    from verified.retrieval.metrics import per_query
    from verified.retrieval.nms import suppress

    threshold = SIZES[name][5]
    lists, truth = random_lists(queries)
    clock = Clock()
    kept = suppress(lists, threshold)
    print(f"  NMS of {queries} lists of 100: ours  {clock}")
    some = min(200, queries)
    clock = Clock()
    for query in range(some):
        rows = list(zip(lists.video[query], lists.start[query], lists.end[query], lists.score[query]))
        same = plain_nms(rows, threshold)
        if [row[0] for row in same] != [video for video in kept.video[query] if video >= 0]:
            sys.exit("the two ways of suppression disagree")
    print(f"  NMS: plain, {some} lists {clock}, all would take {clock.seconds() * queries / some:.1f} s")
    for count in (queries, 17000):
        lists, truth = random_lists(count)
        clock = Clock()
        values = [per_query(task, truth, lists) for task in ("VCMR", "SVMR", "VR")]
        print(f"  metrics of {count} × 3 lists of 100: ours  {clock}")
    some = 200
    clock = Clock()
    for query in range(some):
        plain = plain_hit(lists, truth, query)
        if plain != values[0]["0.5/r100"][query]:
            sys.exit("the two ways of counting disagree")
    print(
        f"  metrics: plain, {some} VCMR lists {clock}, 3 × 17000 would take {clock.seconds() * 3 * 17000 / some:.1f} s"
    )


def random_lists(queries: int):
    """Lists of 100 rows over 8 videos each, on a grid of seconds."""
    import numpy as np

    from verified.retrieval.metrics import Lists, Truth

    draw = np.random.default_rng(1)
    start = draw.integers(0, 30, (queries, 100)).astype(float)
    score = -np.sort(-draw.random((queries, 100)), axis=1)
    lists = Lists(draw.integers(0, 8, (queries, 100)), start, start + draw.integers(3, 13, (queries, 100)), score)
    begin = draw.uniform(0, 30, (queries, 1, 1))
    truth = Truth(np.arange(queries), draw.integers(0, 8, queries), np.concatenate([begin, begin + 8], axis=2))
    return lists, truth


def plain_nms(rows: list[tuple], threshold: float) -> list[tuple]:
    """Greedy suppression, row by row."""
    kept: list[tuple] = []
    for row in sorted(rows, key=lambda row: -row[3]):
        if all(row[0] != other[0] or plain_iou(row[1:3], other[1:3]) <= threshold for other in kept):
            kept.append(row)
    return kept


def plain_iou(first, second) -> float:
    """Overlap over hull."""
    hull = max(first[1], second[1]) - min(first[0], second[0])
    return max(0.0, min(first[1], second[1]) - max(first[0], second[0])) / hull if hull else 0.0


def plain_hit(lists, truth, query: int) -> bool:
    """Whether a list of one query holds a right span at 0.5 among its 100 rows."""
    import numpy as np

    span = truth.spans[query, 0].astype(np.float32)
    rows = zip(lists.video[query], lists.start[query].astype(np.float32), lists.end[query].astype(np.float32))
    return any(video == truth.video[query] and plain_iou((a, b), span) >= np.float32(0.5) for video, a, b in rows)


if __name__ == "__main__":
    main()
