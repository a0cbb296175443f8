"""Submissions: written, read, scored; what is wrong with one is said."""

import json

import numpy as np
import pytest
from refusals import refused

from verified_longform.submission import evaluate, read_submission, write_submission

ROWS = [
    {"id": str(number), "movie": f"f{number % 2}", "start": float(number), "end": number + 4.0} for number in range(6)
]


def test_a_written_submission_scores_as_it_stands(tmp_path):
    spans = [np.array([[100.0, 101.0, 0.9], [row["start"], row["end"], 0.5]]) for row in ROWS]
    write_submission(tmp_path / "s.jsonl", [row["id"] for row in ROWS], spans)
    score = evaluate(ROWS, read_submission(tmp_path / "s.jsonl"))
    assert score["recall"][0] == [0, 0, 0] and score["recall"][1] == [100, 100, 100]
    assert score["queries"] == 6 and score["movies"] == 2
    assert all(0 < low < 100 for low in score["low"][1]) and score["high"][1] == [100, 100, 100]


def test_missing_and_unknown_queries_are_named_unless_partial():
    spans = {row["id"]: np.array([[row["start"], row["end"]]]) for row in ROWS[:4]}
    with refused("4", "5", remedy=True):
        evaluate(ROWS, spans)
    with refused("unknown", "x", remedy=True):
        evaluate(ROWS[:4], {**spans, "x": np.zeros((0, 2))})
    score = evaluate(ROWS, {**spans, "x": np.zeros((0, 2))}, partial=True)
    assert (score["queries"], score["missing"], score["unknown"]) == (4, 2, 1)


def test_an_empty_list_is_a_miss():
    score = evaluate(ROWS, {row["id"]: np.zeros((0, 2)) for row in ROWS})
    assert score["recall"][-1] == [0, 0, 0]


@pytest.mark.parametrize(
    "line, said",
    [
        ({"id": "1"}, "'spans'"),
        ({"id": "1", "spans": 3}, "list"),
        ({"id": "1", "spans": [[1]]}, "[start, end]"),
        ({"id": "1", "spans": [[2, 1]]}, "[2, 1]"),
        ({"id": "1", "spans": [[0, float("nan")]]}, "[start, end]"),
    ],
)
def test_broken_lines_are_named(tmp_path, line, said):
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps({"id": "0", "spans": []}) + "\n" + json.dumps(line) + "\n")
    with refused(said, file=path, row=2):
        read_submission(path)


def test_a_query_twice_is_named(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_text('{"id": "0", "spans": []}\n' * 2)
    with refused("0", file=path, row=2):
        read_submission(path)
