"""Small demo videos under the names, and with the annotation files, of the paper's three data sets.

Annotations name a few videos that are not there, as published ones do by now.
"""

import csv
import hashlib
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from verified.demo.scenes import facts, make_scenes
from verified.demo.source import coarse_caption, render_scenes, write_video
from verified.released.files import SOURCES
from verified.runtime.seeds import derive_seed

SEED, FPS, PIXELS = 7, 8, 112


@dataclass(frozen=True)
class Annotated:
    """A video with its moments: (start, end, caption), seconds."""

    video: str
    split: str
    seconds: float
    moments: list[tuple[float, float, str]]


def write_corpora(folder: Path, videos: int) -> dict[str, int]:
    """Write `videos` videos a data set and their annotations; returns how many of each are missing on purpose."""
    missing = {
        "charades": _charades(folder, videos),
        "didemo": _didemo(folder, videos),
        "activitynet": _activitynet(folder, videos),
    }
    _list_of_files(folder / "annotations")
    return missing


def _list_of_files(folder: Path) -> None:
    """A list in the form of config/sources.csv, with the checksums of these files, beside them."""
    with SOURCES.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with (folder / "sources.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        for row in rows:
            path = folder / row["place"]
            if path.is_file():
                content = path.read_bytes()
                facts = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content), "rows": "", "url": ""}
                table.writerow(row | facts | {"version": "rehearsal", "access": "own"})


def _charades(folder: Path, videos: int) -> int:
    """`AAAAA.mp4`; lines `VIDEO START END##caption` beside a csv with lengths."""
    items = list(_annotated("charades", [f"R{number:04d}" for number in range(videos)], ("train", "train", "test"), 12))
    missing = _videos(folder / "videos" / "charades", [(item, f"{item.video}.mp4") for item in items])
    target = folder / "annotations" / "charades-sta"
    for split in ("train", "test"):
        of_split = [item for item in items if item.split == split]
        lines = [f"{item.video} {a} {b}##{text}." for item in of_split for a, b, text in item.moments]
        _write(target / f"charades_sta_{split}.txt", "\n".join(lines) + "\n")
        rows = [f"{item.video},{item.seconds:.2f}" for item in of_split]
        _write(target / f"Charades_v1_{split}.csv", "\n".join(["id,length", *rows]) + "\n")
    return missing


def _didemo(folder: Path, videos: int) -> int:
    """Flickr's names (`USER@N00_PHOTO_HASH.mp4`); segments of five seconds, four annotators each."""
    names = [f"{10000000 + number}@N00_{4000000000 + number}_{number:010x}" for number in range(videos)]
    items = list(_annotated("didemo", names, ("train", "train", "val", "test"), 30))
    files = [(item, f"{item.video}.{('mp4', 'mov', 'avi')[index % 3]}") for index, item in enumerate(items)]
    missing = _videos(folder / "videos" / "didemo", files)
    for split in ("train", "val", "test"):
        rows = []
        for number, (item, file) in enumerate(files):
            for index, (start, _, text) in enumerate(item.moments) if item.split == split else ():
                segment = int(start // 5)
                times = [[segment, segment]] * 3 + [[segment, min(5, segment + 1)]]
                row = {"annotation_id": 100 * number + index, "description": text, "video": file, "times": times}
                unused = {"dl_link": "", "reference_description": "", "context": "", "train_times": []}
                rows.append({**row, "num_segments": 6, **unused})
        _write(folder / "annotations" / "didemo-cog" / f"{split}_data.json", json.dumps(rows))
    return missing


def _activitynet(folder: Path, videos: int) -> int:
    """`v_XXXXXXXXXXX.*`; val_1 and val_2 describe the same videos in other words."""
    names = [f"v_rehearsal{number:02d}" for number in range(videos)]
    items = list(_annotated("activitynet", names, ("train", "train", "val"), 15))
    files = [(item, f"{item.video}.{('mp4', 'mkv')[index % 2]}") for index, item in enumerate(items)]
    missing = _videos(folder / "videos" / "activitynet", files)
    for split, source in (("train", "train"), ("val_1", "val"), ("val_2", "val")):
        content = {}
        for item in (item for item in items if item.split == source):
            times = [[start, end] for start, end, _ in item.moments]
            sentences = [f" {text}{' again' if split == 'val_2' else ''}." for *_, text in item.moments]
            content[item.video] = {"duration": item.seconds, "timestamps": times, "sentences": sentences}
        _write(folder / "annotations" / "activitynet-captions" / f"{split}.json", json.dumps(content))
    return missing


def _annotated(data_set: str, names: list[str], splits: tuple[str, ...], seconds: int) -> Iterator[Annotated]:
    for number, name in enumerate(names):
        plan = make_scenes(SEED, f"{data_set}-{number}", seconds, FPS)
        rng = random.Random(derive_seed(SEED, data_set, number))
        moments = [(e.first / FPS, e.last / FPS, coarse_caption(facts(e, FPS), rng)) for e in plan.events]
        yield Annotated(name, splits[number % len(splits)], float(seconds), moments)


def _videos(folder: Path, files: list[tuple[Annotated, str]]) -> int:
    """Render the files, but for one of each split where it has others; returns how many were left out."""
    folder.mkdir(parents=True, exist_ok=True)
    last = {item.split: item.video for item, _ in files}
    for number, (item, file) in enumerate(files):
        if item.video == last[item.split] and sum(other.split == item.split for other, _ in files) > 2:
            continue
        plan = make_scenes(SEED, f"{folder.name}-{number}", int(item.seconds), FPS)
        write_video(folder / file, render_scenes(plan, PIXELS, derive_seed(SEED, "noise", item.video)), FPS)
    return len(files) - len(list(folder.iterdir()))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
