"""Pages of a review in a real browser, with names and captions that try to be code."""

import pytest
from faults import test_hostile_pages as shared
from faults.test_hostile_pages import assert_no_code_runs
from hostile import NAMES

from verified.annotations.selection import candidates_by_moment
from verified.config.trust import NOT_TRUSTED
from verified.people.pages import write_pages
from verified_lab.pages import REVIEW
from verified_lab.review.pages import pages as review_pages
from verified_lab.review.pages import queue

pytestmark = pytest.mark.slow
video = shared.video


def review_page(folder, video):
    moments = [
        {"desc_id": number, "video": name, "start": 0.5, "end": 1.5, "duration": 4.0, "split": "test", "caption": name}
        for number, name in enumerate(NAMES, start=1)
    ]
    scores = [
        {"desc_id": row["desc_id"], "type": kind, "candidate": 0, "caption": row["caption"], "lineage": kind,
         "score": 0.5}
        for row in moments for kind in ("statics", "dynamics")
    ]  # fmt: skip
    videos = [{"video": name, "path": str(video)} for name in NAMES]
    shown = queue(moments, candidates_by_moment(moments, scores), "corpus")
    write_pages(folder, REVIEW, review_pages("kitchen", NAMES[1], shown, videos, 5, 64, NOT_TRUSTED))


def test_a_page_runs_no_code_of_what_it_shows(tmp_path, video):
    assert_no_code_runs(review_page, tmp_path, video)
