"""Reading, keyframes and features against what the libraries do bare, as ratios in one run.

    python benchmarks/video.py              # some minutes on 2 cores, half of it making the two videos
    python benchmarks/video.py --resnet     # only ResNet-152 at its real size, with random weights, over three files

Three H.264 videos are made once under benchmarks/results/video: 180 s and 30 s of 360p, 30 s of 720p, moving texture
and noise, key frames 10 s apart. Ratios are of processor time, the best of three turns taken alternately; features,
where decoding and network run side by side, are of wall time. Peak memory (Linux) is that of a process that does only
this.
"""

import argparse
import importlib.util
import math
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT / "scripts"))
VIDEOS = PROJECT / "benchmarks" / "results" / "video"
LONG, SHORT, WIDE = (VIDEOS / f"{name}.mp4" for name in ("180s-360p", "30s-360p", "30s-720p"))
SAMPLING_FPS, UNIFORM, TURNS, BATCH = 8, 64, 3, 32


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--resnet", action="store_true", help="time ResNet-152 alone (minutes on a CPU)")
    options = parser.parse_args()
    if options.resnet:
        return time_paper_resnet()
    VIDEOS.mkdir(parents=True, exist_ok=True)
    for path, seconds, height in ((LONG, 180, 360), (SHORT, 30, 360), (WIDE, 30, 720)):
        if not path.exists():
            print(f"making {path.name}", flush=True)
            make_video(path, seconds, height)
    for path, seconds in ((LONG, 180), (WIDE, 30)):
        print(f"\n{path.stem}")
        time_reading(path, seconds)
        time_keyframes(path, seconds)
    print("\nfeatures")
    time_resnet("ResNet-50", [3, 4, 6, 3], [WIDE])
    print("\npeak memory")
    for work in (sample, keyframes, features):
        show(f"{work.__name__}: 180 s over 30 s", peak_of(work, LONG, 180), peak_of(work, SHORT, 30), "MB")


def make_video(path: Path, seconds: int, height: int, fps: int = 25) -> None:
    """Encode texture in two moving layers, new every 12 s, with noise, so that decoding costs what it does in life."""
    import av

    from verified.common.files import atomic_path

    random = np.random.default_rng(0)
    width = height * 16 // 18 * 2  # even, as the codec wants
    noise = random.normal(0, 3, (height + 64, width + 64, 1))
    with atomic_path(path) as temporary, av.open(str(temporary), "w") as container:
        stream = container.add_stream("libx264", rate=fps, options={"crf": "23", "preset": "veryfast"})
        stream.height, stream.width, stream.pix_fmt = height, width, "yuv420p"
        stream.codec_context.gop_size, stream.codec_context.time_base = 10 * fps, Fraction(1, fps)
        for number in range(seconds * fps):
            if number % (12 * fps) == 0:
                back, front = texture(random, height, width), texture(random, height, width)
                mask = texture(random, height, width)[..., :1] > 128
            image = np.where(np.roll(mask, 3 * number, 1), np.roll(front, 3 * number, 1), np.roll(back, -number, 1))
            top, left = random.integers(0, 64, 2)
            image = image + noise[top : top + height, left : left + width]
            frame = av.VideoFrame.from_ndarray(np.clip(image, 0, 255).astype(np.uint8), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


def texture(random: np.random.Generator, height: int, width: int) -> np.ndarray:
    """Coloured texture with detail on all scales, float [height, width, 3] in 0 … 255."""
    total = np.zeros((height, width, 3))
    for step in (4, 12, 40, 120):
        coarse = random.uniform(0, 64, (height // step + 1, width // step + 1, 3))
        total += coarse.repeat(step, 0).repeat(step, 1)[:height, :width]
    return total


def time_reading(path: Path, seconds: int) -> None:
    from verified.common.video import frames_of_spans, read_frames

    spans = [(0.0, float(seconds))]
    work = {
        "bare": lambda: decode_bare(path),
        "sampling": lambda: sample(path, seconds),
        "uniform": lambda: list(frames_of_spans(path, spans, count=UNIFORM)),
        "few": lambda: read_frames(path, [0.2 * seconds, 0.5 * seconds, 0.9 * seconds]),
    }
    if importlib.util.find_spec("decord"):
        work |= {f"{name} by decord": by_decord(work[name]) for name in ("sampling", "uniform", "few")}
    spent = best_cpu(work)
    show(f"sampling at {SAMPLING_FPS} fps over a bare decode", spent["sampling"], spent["bare"], "s")
    show(f"{UNIFORM} uniform frames over a bare decode", spent["uniform"], spent["bare"], "s")
    for name in ("sampling", "uniform", "few"):
        if f"{name} by decord" in spent:
            show(f"{name} by decord over by PyAV", spent[f"{name} by decord"], spent[name], "s")


def time_keyframes(path: Path, seconds: int) -> None:
    from scenedetect import ContentDetector, detect

    work = {
        "ours": lambda: keyframes(path, seconds),
        "PySceneDetect": lambda: detect(str(path), ContentDetector(), backend="pyav"),
    }
    spent = best_cpu(work)
    show("keyframes of 12 moments over one PySceneDetect pass", spent["ours"], spent["PySceneDetect"], "s")


def time_resnet(name: str, depths: list[int], paths: list[Path]) -> None:
    """Frames per second from files against the network's own rate on batches of the same size; weights are random."""
    from transformers import ResNetConfig, ResNetModel

    from verified.common.video import probe
    from verified.features.image_model import ImageModel
    from verified.features.video import encode_videos

    with tempfile.TemporaryDirectory() as folder:
        config = ResNetConfig(depths=depths, hidden_sizes=[256, 512, 1024, 2048], layer_type="bottleneck")
        ResNetModel(config).save_pretrained(folder)
        backbone = ImageModel(folder)
    videos = [{"video": path.stem, "path": str(path), **probe(path)} for path in paths]
    started = time.perf_counter()
    shapes = [features.shape for _, features in encode_videos(videos, backbone, 4.0, 1.0, BATCH, {})]
    spent = time.perf_counter() - started
    frames = sum(math.ceil(row["duration"] * 4) for row in videos)
    sizes = [BATCH] * (frames // BATCH) + [frames % BATCH] * (frames % BATCH > 0)
    batch = np.random.default_rng(0).integers(0, 256, (BATCH, backbone.size, backbone.size, 3), dtype=np.uint8)
    started = time.perf_counter()
    for size in sizes:
        backbone(batch[:size])
    network_seconds = time.perf_counter() - started
    show(f"{name}: rate from files over the network's own", frames / spent, frames / network_seconds, "frames/s")
    print(f"  features {shapes}")


def time_paper_resnet() -> None:
    """ResNet-152 over three files of three seconds: [3, 2048] each."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, f"{height}p.mp4") for height in (240, 360, 480)]
        for path, height in zip(paths, (240, 360, 480)):
            make_video(path, 3, height)
        time_resnet("ResNet-152", [3, 8, 36, 3], paths)


def sample(path: Path, seconds: int) -> None:
    from verified.common.video import frames_of_spans

    for _ in frames_of_spans(path, windows(seconds), fps=SAMPLING_FPS):
        pass


def keyframes(path: Path, seconds: int) -> None:
    from verified.keyframes.extract import extract_keyframes

    moments = [(start, start + 6.0) for start in np.linspace(0, seconds - 6.0, 12).tolist()]
    for _ in extract_keyframes(path, moments, 5, 27.0, 0.6):
        pass


def features(path: Path, seconds: int) -> None:
    from verified.common.video import probe
    from verified.features.backbones import load_backbone
    from verified.features.video import encode_videos

    row = {"video": path.stem, "path": str(path), **probe(path)}
    for _ in encode_videos([row], load_backbone("grid-conv"), 4.0, 1.0, BATCH, {}):
        pass


def windows(seconds: int, length: float = 3.0) -> list[tuple[float, float]]:
    """The video in spans of a few seconds, as its moments would be."""
    return [(start, start + length) for start in np.arange(0, seconds, length).tolist()]


def decode_bare(path: Path) -> int:
    import av

    with av.open(str(path)) as container:
        container.streams.video[0].codec_context.thread_count = 1
        return sum(1 for _ in container.decode(video=0))


def by_decord(work: Callable) -> Callable:
    """The same work with decord as the reader."""
    from verified.common.job import READER

    def run() -> None:
        os.environ[READER] = "decord"
        try:
            work()
        finally:
            del os.environ[READER]

    return run


def best_cpu(work: dict[str, Callable]) -> dict[str, float]:
    """Least processor seconds of each piece of work, taken in turns so that a slow spell hits all alike."""
    spent: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(TURNS):
        for name, run in work.items():
            started = time.process_time()
            run()
            spent[name].append(time.process_time() - started)
    return {name: min(values) for name, values in spent.items()}


def peak_of(work: Callable, path: Path, seconds: int) -> float:
    """Peak resident memory, in MB, of a process that does `work` alone."""
    context = multiprocessing.get_context("spawn")
    answer = context.SimpleQueue()
    process = context.Process(target=run_and_tell, args=(work, path, seconds, answer))
    process.start()
    process.join()
    if process.exitcode:
        sys.exit(process.exitcode)
    return answer.get()


def run_and_tell(work: Callable, path: Path, seconds: int, answer) -> None:
    work(path, seconds)
    # Not ru_maxrss, which starts at the parent's.
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    answer.put(int(peak.split()[1]) / 1024)


def show(label: str, value: float, base: float, unit: str) -> None:
    print(f"  {label:58s} {value / base:6.2f}   ({value:.1f} / {base:.1f} {unit})", flush=True)


if __name__ == "__main__":
    main()
