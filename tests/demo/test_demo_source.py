"""The rendered demo: the same seed gives the same bytes, and its files are consistent."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from verified.corpus.assemble import read_source, write_corpus
from verified.demo.source import render_demo
from verified.io.jsonl import read_jsonl
from verified.io.video import iterate_frames

SOURCE = {"kind": "demo", "videos": 6, "seconds": 6, "fps": 8, "size": 64, "train_share": 0.5, "val_share": 0.3}
SPLITS = {"train_split": "train", "selection_split": "val", "test_split": "test", "held_out_share": 0.0}


def render(folder: Path, seed: int = 5, processes: int = 1, **changes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    files = folder / "rendered.jsonl", folder / "truth.jsonl"
    render_demo(SOURCE | changes, seed, folder / "videos", *files, processes)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Path:
    return render(tmp_path_factory.mktemp("demo"))


def test_the_same_seed_gives_the_same_bytes_in_any_number_of_processes(demo, tmp_path):
    assert contents(render(tmp_path, processes=3)) == contents(demo)


def test_cuts_of_the_truth_are_the_jumps_in_the_frames(demo):
    for row in read_jsonl(demo / "truth.jsonl"):
        frames = np.stack([frame for _, frame in iterate_frames(demo / "videos" / f"{row['video']}.mp4")])
        border = frames[:, :, [0, -1]].mean(axis=(1, 2))  # nothing but background is ever at the border
        jumps = np.flatnonzero(np.abs(np.diff(border, axis=0)).max(axis=1) > 25) + 1
        assert [jump / 8 for jump in jumps] == row["cuts"]


def test_the_corpus_of_the_demo_leaves_nothing_out(demo, tmp_path):
    files = {"videos": str(demo / "videos"), "moments": str(demo / "rendered.jsonl")}
    write_corpus(read_source({"default_split": "test", "published": False}, files, threads=2), SPLITS, tmp_path)
    moments = read_jsonl(tmp_path / "moments.jsonl")
    assert len(moments) == len(read_jsonl(demo / "rendered.jsonl"))
    assert list(moments[0]) == ["desc_id", "video", "start", "end", "duration", "split", "caption"]
    videos = read_jsonl(tmp_path / "videos.jsonl")
    assert [row["video"] for row in videos] == [f"demo-{number:04d}" for number in range(1, 7)]
    expected = ["video", "path", "duration", "fps", "width", "height", "frames", "sha256", "rotation", "codec", "state"]
    assert list(videos[0]) == expected
    assert read_jsonl(tmp_path / "exclusions.jsonl") == []
    splits = Counter({row["video"]: row["split"] for row in moments}.values())
    assert splits == {"train": 3, "val": 2, "test": 1}
