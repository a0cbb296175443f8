"""The writer of pages of a study, killed before each change of a file, and repeated."""

import numpy as np
import pytest
from kill_points import finished_by_repeating
from people.answered import annotations
from script_run import script_run

from verified.demo.source import write_video
from verified.io.fig import write_fig
from verified.io.jsonl import write_jsonl

pytestmark = pytest.mark.night


@pytest.fixture
def start(tmp_path):
    folder = tmp_path / "start"
    (folder / "videos").mkdir(parents=True)
    frames = np.repeat(np.random.default_rng(0).integers(0, 255, (4, 48, 64, 3), dtype=np.uint8), 8, axis=0)
    write_video(folder / "videos" / "one.mp4", frames, 8)
    write_jsonl(
        folder / "videos.jsonl", [{"video": name, "path": "videos/one.mp4"} for name in ("<v>", "v0", "v1", "v2")]
    )
    return folder


def study_pages(folder):
    rows = [{**row, "duration": 4.0, "fig_desc_score": 0.5} for row in annotations(2, 2)]
    write_fig(folder / "test.jsonl", rows)
    return script_run(
        "study/prepare.py",
        "prepare_study",
        input={"annotations": ["test.jsonl"], "videos": "videos.jsonl"},
        output={"pages": "results/kitchen/study/pages", "key": "results/kitchen/study/key.json"},
        params={
            "study": {"captions": 2, "questions": 2, "raters": 1, "clip_side": 64},
            "title": "Kitchen",
            "seed": 1,
        },
        wildcards={"dataset": "kitchen"},
    )


@pytest.mark.parametrize("prepare", [study_pages])
def test_pages(prepare, start, tmp_path):
    place = tmp_path / "place"
    kills = finished_by_repeating(start, place, prepare(start))
    assert kills > 3 and len(list(place.rglob("*.html"))) == 2
