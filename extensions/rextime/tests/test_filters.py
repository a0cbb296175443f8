"""Filters of both kinds of sources: counts that reconcile, the real files where they are at hand."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verified_rextime.config import CaptionFilters
from verified_rextime.filters import (
    CaptionedVideo,
    Event,
    Query,
    clusters,
    count,
    filter_captions,
    filter_events,
    filter_queries,
)
from verified_rextime.sources import read_queries

DATA = Path("../shared/data")


def video(*spans: tuple[float, float], duration: float = 100) -> CaptionedVideo:
    return CaptionedVideo("v", duration, tuple(Event(*span, f"event {number}") for number, span in enumerate(spans)))


def fates(given: CaptionedVideo) -> tuple[list[str], dict[str, str]]:
    kept, rejected = filter_events(given, CaptionFilters())
    reasons = {one.text or "the video": one.reason for one in rejected}
    assert len(kept) + sum(one.what == "event" for one in rejected) == len(given.events)
    return [event.caption for event in kept], reasons


def test_near_events_stay_and_long_ones_go():
    plain = video((0, 40), (45, 80))
    assert fates(plain) == (["event 0", "event 1"], {})
    for exact in (video((0, 80), (10, 20)), video((0, 40), (45, 65))):
        assert fates(exact) == (["event 0", "event 1"], {}), "80 % is not too long, and 60 % is enough"
    long = video((0, 90), (0, 20), (25, 60))
    assert fates(long) == (["event 1", "event 2"], {"event 0": "long-event"})
    assert fates(video((0, 40), (0, 40), (41, 50)))[0], "overlapping segments count twice"


def test_a_gap_of_exactly_ten_seconds_does_not_split_and_ties_go_to_the_earliest():
    assert len(clusters(video((0, 10), (20, 30)).events, 10)) == 1
    assert len(clusters(video((0, 10), (20.01, 30)).events, 10)) == 2
    assert len(clusters(video((0, 50), (10, 12), (55, 60)).events, 10)) == 1  # the first one still goes on
    tied = video((0, 10), (10, 20), (40, 60), (60, 95))
    assert fates(tied)[0] == ["event 0", "event 1"]
    assert fates(tied)[1] == {"event 2": "distant", "event 3": "distant"}


def test_a_video_without_two_near_events_or_with_empty_segments_says_so():
    assert fates(video((0, 30), (60, 95)))[1]["the video"] == "too-few-events"
    assert fates(video((5, 5), (0, 30), (31, 95)))[1] == {"event 0": "no-span"}
    assert fates(video((7, 3)))[1]["the video"] == "sparse"


TIMES = st.floats(0, 100).map(lambda value: round(value, 1))


@given(st.lists(st.tuples(TIMES, TIMES), max_size=8))
def test_every_event_is_accepted_or_rejected_for_one_reason(spans):
    given_video = video(*spans)
    items, rejected = filter_captions([given_video], CaptionFilters())
    events = count("event", len(spans), rejected)
    assert events["kept"] == sum(len(item["events"]) for item in items) >= 0
    assert count("video", 1, rejected)["kept"] == len(items)


def test_queries_with_several_windows_or_the_whole_clip_are_dropped():
    def query(*windows, duration=150.0):
        return Query("1", "v", duration, "a cat jumps", windows)

    reasons = []
    for one in (query((0, 150)), query((0, 2), (4, 6)), query(), query((3, 3)), query((2, 150)), query((0, 152))):
        items, rejected = filter_queries([one])
        reasons += [one.reason for one in rejected] or [items[0]["window"]]
    assert reasons == ["whole-clip", "several-windows", "no-window", "no-window", [2, 150], "whole-clip"]


needs_data = pytest.mark.skipif(
    not (DATA / "qvhighlights").is_dir(), reason="the published annotation files are not available"
)


@needs_data
def test_the_filters_on_the_real_queries():
    queries = list(read_queries(DATA / "qvhighlights/highlight_val_release.jsonl"))
    items, rejected = filter_queries(queries)
    left_out = {"several-windows": 530, "whole-clip": 52}
    assert count("query", len(queries), rejected) == {"given": 1550, "kept": 968, "rejected": left_out}
    assert (len({query.video for query in queries}), len({item["video"] for item in items})) == (1519, 952)
