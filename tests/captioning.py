"""A few moments with their keyframes and videos, as the stages above leave them, for tests of captions."""

import io
import json
import tarfile
from pathlib import Path

import numpy as np
from candidate_rows import moment_row
from media import counted, write_video
from PIL import Image

from verified.config.generation import Generation
from verified.io.video import probe


def settings(folder: Path, **changes) -> Generation:
    return Generation(ledger=str(folder / "ledger"), **changes)


def make_moments(captions: list[str], seconds: float = 2.0, videos: int = 1) -> list[dict]:
    """Moments of `seconds` one after the other, dealt to the videos in turn."""
    moments = []
    for number, caption in enumerate(captions):
        times = {"start": seconds * (number // videos), "end": seconds * (number // videos + 1)}
        times["duration"] = seconds * len(captions)
        moments.append(moment_row(100 + number, video=f"v{number % videos}", **times, split="train", caption=caption))
    return moments


def make_videos(folder: Path, moments: list[dict], fps: int = 8) -> dict[str, dict]:
    """A rendered file per video, long enough for its moments."""
    videos = {}
    for name in {moment["video"] for moment in moments}:
        end = max(moment["end"] for moment in moments if moment["video"] == name)
        path = write_video(folder / f"{name}.mp4", counted(int(end * fps)), fps)
        videos[name] = {"video": name, "path": str(path), **probe(path)}
    return videos


def jpeg(shade: int) -> bytes:
    out = io.BytesIO()
    Image.fromarray(np.full((32, 48, 3), shade, np.uint8)).save(out, "JPEG")
    return out.getvalue()


def tar_of(path: Path, files: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def make_tar(path: Path, moments: list[dict], images: dict[int, list[bytes]] | None = None) -> Path:
    """keyframes/SHARD.tar with two keyframes per moment unless `images` (by desc_id) says otherwise."""
    rows, files = [], {}
    for number, moment in enumerate(moments):
        ident, keyframes = moment["desc_id"], []
        for k, picture in enumerate((images or {}).get(ident, [jpeg(10 + number), jpeg(150 + number)])):
            name, start = f"{ident}/{k}.jpg", moment["start"] + k
            files[name] = picture
            keyframes.append({"file": name, "time": start + 0.5, "segment": [start, start + 1]})
        rows.append({"desc_id": ident, "video": moment["video"], "keyframes": keyframes, "threshold": 27.0, "cuts": []})
    index = "".join(json.dumps(row) + "\n" for row in rows).encode()
    return tar_of(path, {"index.jsonl": index, **files})
