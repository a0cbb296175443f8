"""One row of finished annotations without a fault, and a small set of them with a configuration that reads it."""

import json
from pathlib import Path

from verified.io.jsonl import write_jsonl

ROW = {
    "video": "v",
    "time": [2.0, 6.0],
    "desc_id": 0,
    "duration": 10.0,
    "cog_desc": "a ball moves",
    "fig_desc": "A large red ball moves to the left.",
    "fig_desc_score": 1.5,
}

BALLS = {
    "red": "rolls down a stairway",
    "blue": "floats in a dark pool",
    "green": "is kicked by a child",
    "white": "hits the window",
    "small": "bounces on sand",
    "striped": "spins on a table",
}

CONFIG = """
name: mine
datasets:
  mine:
    title: Mine-FIG
    source: {kind: released, collection: mine, splits: [train, val, test], released_dir: given}
retrieval:
  models: []
"""


def coarse_only(folder: Path, **retrieval: object) -> dict:
    """The configuration of features and annotations with coarse captions alone, which are written into `folder`."""
    row = {"qid": 4, "query": "a ball moves", "duration": 10.0, "vid": "v", "relevant_windows": [[2.0, 6.0]]}
    for split in ("train", "val"):
        write_jsonl(folder / f"{split}.jsonl", [row])
    source = {"kind": "released", "collection": "mine", "splits": ["train", "val"]}
    source |= {"released_dir": str(folder), "features_dir": str(folder)}
    spans = {"selection_split": "val", "test_split": "val"}
    datasets = {"mine": {"title": "Mine", "source": source, "spans": spans}}
    return {"name": "given", "datasets": datasets, "retrieval": retrieval}


def asked_corpus(name: str, url: str, **role: object) -> dict:
    """The configuration of a folder of videos whose captions an endpoint writes; `role`: more of each role."""
    asked = {"engine": "openai", "model": "loop-1", "base_url": url, **role}
    source = {"kind": "folder", "videos": "videos", "moments": "moments.jsonl"}
    datasets = {name: {"title": name.title(), "source": source}}
    roles = {each: dict(asked) for each in ("llm", "image_lmm", "video_lmm")}
    return {"name": name, "datasets": datasets, "generation": roles}


def fig(desc_id: int, video: str = "v", start: float = 0.0, end: float = 5.0, **changes: object) -> dict:
    """The row of another moment, with other values by their keys."""
    return {**ROW, "video": video, "time": [start, end], "desc_id": desc_id, **changes}


def annotations(first: int) -> bytes:
    """Six of them, of three videos; number 3 ends after its video."""
    rows = []
    for i, (colour, action) in enumerate(BALLS.items(), start=first):
        said = {"fig_desc": f"A {colour} ball \u2192 {action}.", "fig_desc_score": i / 8}
        rows.append(fig(i, f"v{i // 2}", end=5.5, duration=5.0 if i == 3 else 20.0, **said))
    return "".join(json.dumps(row) + "\n" for row in rows).encode()
