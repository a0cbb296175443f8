"""A folder grows by one video: its shard runs again in each stage, with its dependents, and no other shard.

The runs are planned, not made: every output is laid out empty and recorded as finished, as `--touch` does.
"""

import os
import re
import shutil
import time
from collections import defaultdict
from pathlib import Path

import pytest
import yaml
from running import NANO, ended_well

from verified.runtime.wildcards import shard_name, shard_of

pytestmark = pytest.mark.slow

SHARDS = 3
PER_SHARD = {
    "probe_videos",
    "extract_keyframes",
    "caption_statics",
    "caption_dynamics",
    "write_perturbations",
    "gather_clips",
    "extract_video_features",
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """A working directory in which the whole chain of a folder with six videos counts as built."""
    folder = tmp_path_factory.mktemp("grown")
    (folder / "videos").mkdir()
    for number in range(6):
        (folder / "videos" / f"v{number}.mp4").write_bytes(b"not read " * (number + 1))
    write_moments(folder, [f"v{number}" for number in range(6)])
    values = yaml.safe_load(NANO.read_text(encoding="utf-8"))
    source = {"kind": "folder", "videos": "videos", "moments": "moments.csv"}
    values["datasets"] = {"mine": {**values["datasets"]["nano"], "source": source}}
    values |= {"name": "mine", "shards": SHARDS}
    values["evaluator"] |= {"batch": 4}  # there are six moments
    (folder / "mine.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
    summary = ended_well(folder, "--summary", "results/tables", config=folder / "mine.yaml")
    for path in re.findall(r"^(results/\S+)\t", summary, re.MULTILINE):
        if path == "results/mine/tables":
            (folder / path).mkdir(parents=True)
        else:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).touch()
    ended_well(folder, "--cores", "1", "--touch", "--forceall", "results/tables", config=folder / "mine.yaml")
    return folder


def write_moments(folder: Path, videos: list[str]) -> None:
    lines = [f"{video},0,1,{split},a ball moves" for video, split in zip(videos, ["train", "val", "test"] * 9)]
    (folder / "moments.csv").write_text("\n".join(["video,start,end,split,caption", *lines]) + "\n")


def planned(folder: Path) -> dict[str, set[str]]:
    """{rule: shards that would run, empty for rules without shards}."""
    run = ended_well(folder, "--dry-run", "results/tables", config=folder / "mine.yaml")
    jobs = defaultdict(set)
    for rule, text in re.findall(r"^rule (\w+):\n((?: .*\n)+)", run, re.MULTILINE):
        jobs[rule].update(re.findall(r"^ +wildcards: .*shard=(shard-\d+)", text, re.MULTILINE))
    return dict(jobs)


def test_touching_files_reruns_nothing(finished):
    assert planned(finished) == {}
    later = time.time() + 60
    touched = [finished / "moments.csv", *(finished / "videos").iterdir(), finished / "videos"]
    for path in [*touched, *(finished / "results").rglob("*.jsonl")]:
        os.utime(path, (later, later))
    assert planned(finished) == {}


def test_one_more_video_reruns_its_shard(finished):
    videos = [f"v{number}" for number in range(7)]
    before = (finished / "moments.csv").read_text()
    (finished / "videos" / "v6.mp4").write_bytes(b"new")
    write_moments(finished, videos)
    try:
        jobs = planned(finished)
    finally:
        (finished / "videos" / "v6.mp4").unlink()
        (finished / "moments.csv").write_text(before)
    its_shard = {shard_name(shard_of("v6", SHARDS))}
    assert {rule: shards for rule, shards in jobs.items() if rule in PER_SHARD} == dict.fromkeys(PER_SHARD, its_shard)
    # One evaluator serves all captions: trained anew, it grades all of them.
    assert {"build_corpus", "finetune_evaluator", "score_captions", "train_model", "build_tables"} <= set(jobs)


def test_a_moved_project_has_nothing_to_do(finished, tmp_path):
    moved = tmp_path / "elsewhere"
    shutil.copytree(finished, moved, copy_function=shutil.copy2, symlinks=True)
    assert planned(moved) == {}
