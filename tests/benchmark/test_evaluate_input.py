"""Submissions and ground truths as people have them: which are scored, and which notes say what is odd about them."""

import json

import pytest
from refusals import refused

from verified.__main__ import main
from verified.benchmark.submissions import match, rows_by_id

TVR = [
    {"desc_id": 1, "desc": "a", "vid_name": "v1", "ts": [30.0, 40.0], "duration": 60.0},
    {"desc_id": 2, "desc": "b", "vid_name": "v2", "ts": [10.0, 20.0], "duration": 60.0},
]


def written(path, rows, as_list=False):
    path.write_text(json.dumps(rows) if as_list else "".join(json.dumps(row) + "\n" for row in rows))
    return path


def lists(path, *rows, tasks=("VCMR", "SVMR")):
    entries = [{"desc_id": n, "predictions": each} for n, each in enumerate(rows, start=1)]
    path.write_text(json.dumps({"video2idx": {"v1": 0, "v2": 1}, **dict.fromkeys(tasks, entries)}))
    return path


def evaluated(capsys, *arguments):
    assert main(["evaluate", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("rest", [[], [0.9], [0.9, "x"], ["x"] * 2, [0.9, 0.8, 0.7]])
def test_rows_of_moments_count_by_their_first_three_elements(tmp_path, capsys, rest):
    submission = lists(tmp_path / "s.json", [[0, 30.0, 40.0, *rest]], [[1, 12.0, 20.0, *rest], [1, 0.0, 5.0, *rest]])
    truth = written(tmp_path / "truth.json", TVR, as_list=True)
    found = evaluated(capsys, truth, submission, "--threshold", "0.3", "0.9")
    for task in ("VCMR", "SVMR"):
        assert found["further"][task] == {"mIoU": 90.0, "0.3-r1": 100.0, "0.9-r1": 50.0}
        assert found[task]["0.7-r1"] == 100.0
    assert found["notes"] == ["VR: not in the submission"]


def test_rows_have_numbers_and_ids_and_whole_numbers_are_texts(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": "a", "x": 1}\n{"id": 7, "x": 2}\n{"id": "a", "x": 3}\n')
    rows = [(number, name, row["x"]) for number, name, row in rows_by_id(path, "id", ("x",), last_of_equal_ids=True)]
    assert rows == [(1, "a", 1), (2, "7", 2), (3, "a", 3)]
    with refused("a", file=path, row=3, remedy=True):
        list(rows_by_id(path, "id"))


def test_ids_must_be_the_same_unless_those_in_both_are_asked_for():
    given = {"b": 0, "x": 0, "a": 0}
    with refused("c", "x", "--partial", file="s.json", remedy=True):
        match(["c", "b", "a"], given, False, "s.json")
    found = match(["c", "b", "a"], given, True, "s.json", "questions", "row")
    assert (found.both, found.missing, found.unknown) == (["b", "a"], ["c"], ["x"])
    assert [note.partition(" ")[0] for note in found.notes()] == ["1", "1"]
    assert list(match([1, 2], {1: 0, 2: 0}, False, "s.json").notes()) == []
