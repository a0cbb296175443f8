"""Figures of docs/paper-run.md and of the paper's configuration, computed from the published annotations and the model
at full size."""

import json
import math
import re
from pathlib import Path

import pytest
from running import PROJECT

from verified.config import read
from verified.corpus.splits import hold_out
from verified.io.jsonl import read_jsonl

PAPER = read(PROJECT / "config" / "paper.yaml")
PAGE = " ".join((PROJECT / "docs" / "paper-run.md").read_text(encoding="utf-8").split())
DATA = PROJECT.parent / "shared" / "data"
annotated = pytest.mark.skipif(not DATA.is_dir(), reason="the published annotation files are not beside the project")


@annotated
def test_videos_that_are_held_out():
    spans = PAPER.datasets["charades-fig"].spans
    rows = read_jsonl(DATA / "charades-fig" / "charades_fig_train.jsonl")
    train = [{"video": row["video"], "split": "train"} for row in rows]
    out = [row for row in hold_out(train, "train", spans.held_out_share) if row["split"] == spans.selection_split]
    counted = (len({row["video"] for row in out}), len({row["video"] for row in train}), len(out), len(train))
    said = re.search(r"([\d,]+) of ([\d,]+) with ([\d,]+) of ([\d,]+) moments", PAGE).groups()
    assert tuple(int(number.replace(",", "")) for number in said) == counted


@annotated
def test_a_training_on_activitynet_keeps_its_features_in_memory():
    """In float32: a feature of 2048 for each clip of a video, of 768 for each token of a caption."""
    spans = PAPER.datasets["activitynet-fig"].spans
    size = 0
    for split in (spans.train_split, spans.selection_split):
        videos = json.loads(Path(DATA, "activitynet-captions", f"{split}.json").read_text(encoding="utf-8"))
        for video in videos.values():
            size += 4 * 2048 * min(spans.max_context_clips, math.ceil(video["duration"] / spans.clip_seconds))
            size += 4 * 768 * sum(len(sentence.split()) + 2 for sentence in video["sentences"])
    assert 14e9 < size < PAPER.retrieval.memory_mb * 2**20
