"""The audit and the writer of review pages, killed before each change of a file, and repeated."""

import pytest
from faults import test_kill_points as shared
from faults import test_kill_points_of_pages as of_pages
from kill_points import finished_by_repeating
from script_run import script_run
from test_review_pages import MOMENTS, SCORES
from whole_people import audit_files

from verified.config.annotations import Annotations
from verified.config.trust import NOT_TRUSTED
from verified.io.jsonl import write_jsonl


@pytest.mark.night
def test_audit(tmp_path, record_property):
    start = tmp_path / "start"
    start.mkdir()
    audit_files(start)
    audit = shared.given("audit", "train.jsonl", "test.jsonl", "--output", "out")
    kills = finished_by_repeating(start, tmp_path / "place", audit)
    record_property("faults", kills)
    assert kills > 2


start = of_pages.start


def review_pages(folder):
    write_jsonl(folder / "moments.jsonl", MOMENTS)
    write_jsonl(folder / "scores.jsonl", SCORES)
    return script_run(
        "../extensions/lab/scripts/prepare_pages.py",
        "prepare_review",
        input={"moments": "moments.jsonl", "scores": ["scores.jsonl"], "agreement": [], "videos": "videos.jsonl"},
        output={"pages": "results/kitchen/review/pages"},
        params={
            "review": {"order": "doubt", "moments": 3, "clip_side": 64, "context": 1.0},
            "lint": Annotations().lint.model_dump(),
            "title": "Kitchen",
            "warning": NOT_TRUSTED,
            "choose_by": "confidence",
            "seed": 1,
        },
        wildcards={"dataset": "kitchen"},
    )


@pytest.mark.night
def test_review_pages(start, tmp_path, record_property):
    place = tmp_path / "place"
    kills = finished_by_repeating(start, place, review_pages(start))
    record_property("faults", kills)
    assert kills > 3 and len(list(place.rglob("*.html"))) == 2
