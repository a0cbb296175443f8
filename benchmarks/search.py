"""The search index by size: build time and memory, bytes, recall against exact search, time of a query.

    python benchmarks/search.py [--clips 10000 100000 1000000] [--markdown]

Vectors are made up, 256 numbers a clip, fifty clips a video: topics, videos around topics, and clips that wander within
their video, in 48 dimensions that are turned into 256 with a little noise. A query is a clip with noise on top. Spans
come from XML at its published width (context 64) with random weights, whose time does not depend on what it has learnt.
Every size is built and asked in a process of its own with one thread; memory is the process' peak, mapped files
included. A query is timed from its vectors to ten moments, 200 times, after 20 that are not counted; encoding a
sentence, by the packaged text encoder and the model, is timed apart from that. Times are of the processor, which other
work on the machine hardly changes; the wall's stands beside the query's.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

import numpy as np  # noqa: E402

TEXT_ENCODER = "all-MiniLM-L6-v2"
PER_VIDEO, DIM, LATENT, TOPICS, CONTEXT = 50, 256, 48, 300, 64
QUERIES, WARM_UP = 200, 20


class Corpus:
    """Vectors that are made up, the same for the same number of videos, a video at a time."""

    def __init__(self, videos: int):
        draw = np.random.default_rng(7)
        self.videos, self._turn = videos, draw.normal(size=(LATENT, DIM)).astype(np.float32) / LATENT**0.5
        self._topics = draw.normal(size=(TOPICS, LATENT)).astype(np.float32)

    def clips(self, video: int) -> np.ndarray:
        """[50, 256] float32 of length 1."""
        draw = np.random.default_rng([11, video])
        middle = self._topics[draw.integers(TOPICS)] + 0.8 * draw.standard_normal(LATENT, np.float32)
        walk = 0.15 * np.cumsum(draw.standard_normal((PER_VIDEO, LATENT), np.float32), axis=0)
        return self._unit((middle + walk) @ self._turn + 0.05 * draw.standard_normal((PER_VIDEO, DIM), np.float32))

    def queries(self, count: int, seed: int) -> np.ndarray:
        """[count, 256] float32 of length 1."""
        draw = np.random.default_rng([13, seed])
        clips = np.stack([self.clips(int(draw.integers(self.videos)))[draw.integers(PER_VIDEO)] for _ in range(count)])
        noise = (draw.standard_normal((count, LATENT), np.float32) @ self._turn) / DIM**0.5
        return self._unit(clips + 0.5 * noise)

    @staticmethod
    def _unit(vectors: np.ndarray) -> np.ndarray:
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def build(folder: Path, videos: int, exact_clips: int) -> dict:
    """An index of made-up videos in `folder`; its manifest."""
    from verified.search.captions import write_captions
    from verified.search.encoders import Vectors
    from verified.search.store import FORMAT, add_segment, read_manifest, write_manifest

    corpus = Corpus(videos)

    def items():
        for number in range(videos):
            clips = corpus.clips(number).astype(np.float16)
            row = {
                "video": f"video-{number:06d}",
                "windows": [[0.0, 1.0]],
                "origin": "corpus",
                "digest": "",
                "duration": float(PER_VIDEO),
            }
            yield row, [Vectors(clips, np.concatenate([clips, clips[:2]]))], []

    manifest = {
        "format": FORMAT,
        "identity": "",
        "model": "xml",
        "checkpoint": None,
        "title": "made-up videos",
        "clip_seconds": 1.0,
        "next": 0,
        "exact_clips": exact_clips,
        "segments": [],
        "dropped": [],
        "here": None,
        "searched_videos": 100,
        "spans": {"min_pred_clips": 2, "max_pred_clips": 16, "nms_threshold": 0.5},
    }
    write_captions(folder, [])
    write_manifest(folder, add_segment(folder, manifest, items(), DIM, corpus.queries(200, 1), 1))
    return read_manifest(folder)


def write_model(path: Path) -> None:
    """XML at its published width with random weights."""
    import torch

    from verified.benchmark.vcmr.checkpoint import save_model
    from verified.benchmark.vcmr.registry import build_model

    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = build_model("xml", {"video_dim": 8, "text_dim": 384, "context_clips": CONTEXT})
    save_model(path, "xml", model, model.state_dict(), {})


def encoder():
    """The encoder of that model."""
    from verified.search.encoders import ModelEncoder

    with tempfile.TemporaryDirectory() as folder:
        write_model(Path(folder, "m.safetensors"))
        return ModelEncoder(Path(folder, "m.safetensors"), TEXT_ENCODER)


def make_servable(folder: Path) -> None:
    """Give a built index what a server needs besides: the model, and what answers say of its ranking."""
    from verified.runtime.seals import seal
    from verified.search.fusion import weights_of
    from verified.search.origin import ranking_of
    from verified.search.store import read_manifest, write_manifest

    write_model(folder / "model.safetensors")
    seal(folder / "model.safetensors")
    ranking = ranking_of("xml", None, [])
    named = {"checkpoint": "model.safetensors", "text_encoder": TEXT_ENCODER, "ranking": ranking}
    write_manifest(folder, {**read_manifest(folder), **named, "weights": weights_of("xml", 0.5, joint=False)})


def recall(index, queries: np.ndarray) -> float:
    """Share of the exact search's first hundred videos that the index finds, over queries it was not tuned on."""
    from verified.search.vectors import exact_videos

    segment = index.segments[0]
    exact = exact_videos(segment.vectors.vectors, segment.owner, queries)
    windows = [[one.window for one in index.candidates(query, 100)] for query in queries]
    return float(np.mean([len(np.intersect1d(a, b)) / len(b) for a, b in zip(windows, exact)]))


def measured(clips: int) -> dict:
    """One size: everything that the table shows."""
    import faiss
    import torch

    from verified.search.ask import Index
    from verified.search.vectors import EXACT

    faiss.omp_set_num_threads(1)
    corpus = Corpus(clips // PER_VIDEO)
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        manifest = build(Path(folder), corpus.videos, 200_000)
        built = time.process_time() - start
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
        model = encoder()
        start = time.process_time()
        index = Index(folder, manifest, model)
        opened = time.process_time() - start
        queries = corpus.queries(QUERIES + WARM_UP, 2)
        share = recall(index, queries)
        times, walls, sentences = [], [], []
        for query in queries:
            vector = torch.from_numpy(query[None])
            wall, start = time.perf_counter(), time.process_time()
            index.moments({"unit": vector, "localiser": vector}, index.candidates(query, 100), 10)
            times.append(1000 * (time.process_time() - start))
            walls.append(1000 * (time.perf_counter() - wall))
        times, walls = times[WARM_UP:], walls[WARM_UP:]
        model.query("to load the text encoder")
        for number in range(50):
            start = time.process_time()
            model.query(f"a person opens the fridge, takes {number} eggs out of it and then closes it")
            sentences.append(1000 * (time.process_time() - start))
    facts = manifest["segments"][0]
    return {
        "clips": clips,
        "videos": corpus.videos,
        "build_s": built,
        "peak_mb": memory,
        "size_mb": size / 1e6,
        "kind": "exact" if facts["kind"] == EXACT else f"{facts['probes']} of {facts['lists']} lists",
        "recall": share,
        "open_s": opened,
        "query_ms": float(np.median(times)),
        "query_p95_ms": float(np.quantile(times, 0.95)),
        "query_wall_ms": float(np.median(walls)),
        "sentence_ms": float(np.median(sentences)),
    }


def table(rows: list[dict]) -> str:
    """The rows as a Markdown table."""
    heads = ["clips", "videos", "kind", "build, CPU-s", "peak memory, MB", "index, MB", "open, s", "recall@100"]
    heads += ["query, CPU-ms (95 %)", "query, wall ms", "sentence, CPU-ms"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for row in rows:
        cells = [
            f"{row['clips']:,}",
            f"{row['videos']:,}",
            row["kind"],
            f"{row['build_s']:.0f}",
            f"{row['peak_mb']:,.0f}",
            f"{row['size_mb']:,.0f}",
            f"{row['open_s']:.2f}",
            f"{row['recall']:.4f}",
            f"{row['query_ms']:.1f} ({row['query_p95_ms']:.1f})",
            f"{row['query_wall_ms']:.1f}",
            f"{row['sentence_ms']:.1f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", nargs="+", type=int, default=[10_000, 100_000, 300_000, 1_000_000])
    parser.add_argument("--markdown", action="store_true", help="print the table of docs/search.md")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measured(arguments.one)))
        return
    rows = []
    for clips in arguments.clips:
        run = subprocess.run([sys.executable, __file__, "--one", str(clips)], stdout=subprocess.PIPE, text=True)
        if run.returncode:
            sys.exit(run.returncode)
        rows.append(json.loads(run.stdout))
        print(json.dumps(rows[-1]), file=sys.stderr)
    print(table(rows) if arguments.markdown else json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
