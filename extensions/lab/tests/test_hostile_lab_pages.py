"""Pages of a review in a real browser, with names and captions that try to be code."""

import pytest
from candidate_rows import moment_row, score_row
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
    span, named = {"start": 0.5, "end": 1.5, "duration": 4.0}, list(enumerate(NAMES, start=1))
    moments = [moment_row(number, video=name, caption=name, **span) for number, name in named]
    scores = [score_row(number, kind, caption=name) for number, name in named for kind in ("statics", "dynamics")]
    videos = [{"video": name, "path": str(video)} for name in NAMES]
    shown = queue(moments, candidates_by_moment(moments, scores), "corpus")
    write_pages(folder, REVIEW, review_pages("kitchen", NAMES[1], shown, videos, 5, 64, NOT_TRUSTED))


def test_a_page_runs_no_code_of_what_it_shows(tmp_path, video):
    assert_no_code_runs(review_page, tmp_path, video)
