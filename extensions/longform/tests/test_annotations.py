"""MAD's JSON: read as documented, hostile files named, bad rows excluded with a reason."""

import json
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from verified_longform.annotations import check_rows, from_moments, read_mad
from verified_longform.ranking import cut_movies

GOOD = {
    "movie": "0001",
    "sentence": "She waits.",
    "movie_duration": 6000.5,
    "timestamps": [1.5, 4.0],
    "ext_timestamps": [1.0, 4.5],
}


def test_the_documented_form_is_read_with_either_kind_of_times(tmp_path):
    path = str(tmp_path / "MAD_test.json")
    Path(path).write_text(json.dumps({"17": GOOD}))
    row = {"id": "17", "movie": "0001", "sentence": "She waits.", "duration": 6000.5, "split": "test"}
    assert read_mad(path, "test") == [{**row, "start": 1.0, "end": 4.5}]
    assert read_mad(path, "test", "timestamps") == [{**row, "start": 1.5, "end": 4.0}]


def test_moments_of_validation_and_held_out_ones_are_no_test_queries():
    moment = {"desc_id": 4, "video": "v", "caption": "x", "start": 1.0, "end": 2.5, "duration": 9.0}
    splits = {"train": "train", "val": "val", "val_1": "val", "held-out": "val", "val_2": "test", "test": "test"}
    assert [row["split"] for row in from_moments(moment | {"split": name} for name in splits)] == [*splits.values()]


def test_bad_rows_are_named_and_counted():
    row = {"id": "1", "movie": "f", "sentence": "x", "duration": 100.0, "start": 1.0, "end": 2.0}
    rows = [
        row,
        row | {"id": "2", "start": 5.0, "end": 5.0},
        row | {"id": "3", "start": 7.0, "end": 6.0},
        row | {"id": "4", "start": 100.0, "end": 103.0},
        row | {"id": "5", "movie": "g"},
        row | {"id": "6"},
        row | {"id": "7", "sentence": " "},
        row | {"id": "8", "duration": 0.0},
        row | {"id": "9", "start": -1.0, "end": 200.0},
        row | {"id": "10", "movie": "empty"},
    ]
    texts = [other["id"] for other in rows if other["id"] != "6"]
    kept, excluded, counts = check_rows(rows, {"f": 500, "empty": 0}, texts)
    assert [(row["id"], row["start"], row["end"]) for row in kept] == [("1", 1.0, 2.0), ("9", 0.0, 100.0)]
    assert {row["id"]: row["reason"] for row in excluded} == {
        "2": "end-before-start",
        "3": "end-before-start",
        "4": "beyond-the-movie",
        "5": "no-movie-features",
        "6": "no-text-features",
        "7": "no-sentence",
        "8": "no-duration",
        "10": "no-movie-features",
    }
    reasons = {row["reason"] for row in excluded}
    assert counts["rows"] == 10 == counts["usable"] + sum(map(counts.get, reasons)) and counts["clipped"] == 1


MOMENT = st.tuples(st.floats(0, 590), st.floats(0.1, 10)).map(lambda pair: (pair[0], min(600.0, sum(pair))))


@given(MOMENT, st.sampled_from([30.0, 180.0, 250.0, 1000.0]))
@example((178.0, 182.0), 180.0)
def test_each_query_goes_to_the_segment_that_it_overlaps_most(moment, seconds):
    start, end = moment
    row = {"movie": "f", "duration": 600.0, "start": start, "end": end}
    (cut,) = cut_movies([row], seconds)
    movie, first = cut["origin"]
    assert movie == "f" and cut["start"] == start - first and cut["end"] == end - first
    assert cut["duration"] == min(seconds, 600 - first) > 0
    overlaps = [min(end, low + seconds) - max(start, low) for low in [first - seconds, first, first + seconds]]
    assert overlaps[1] >= max(overlaps) - 1e-6 and (first == 0 or round(overlaps[0], 9) < round(overlaps[1], 9))
