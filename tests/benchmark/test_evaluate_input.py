"""Submissions and ground truths in real-world forms: which are scored, and the notes on their oddities."""

import json

import pytest
from refusals import refused
from whole_truths import published_files

from verified.__main__ import main
from verified.benchmark.submissions import match, rows_by_id
from verified.cli.forms import read_ground_truth
from verified.io.jsonl import read_jsonl, write_jsonl

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


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("a 1 2##a dog runs.\n", ["charades-sta", "VCMR"]),
        ('{"video2idx": {"a": 0}, "vcmr": []}', ["'vcmr'", "VCMR"]),
        ("{}", ["no other key"]),
    ],
)
def test_other_forms_are_named_with_those_that_are_read(tmp_path, capsys, content, named):
    (tmp_path / "s").write_text(content)
    assert main(["evaluate", str(written(tmp_path / "truth.jsonl", TVR)), str(tmp_path / "s")]) == 2
    shown = capsys.readouterr().err
    assert all(part in shown for part in named), shown


ODD = [
    ([[40.0, 30.0]], [[20.0, 10.0]], ["2 of 2 spans end before they start"]),
    ([[35.0, 35.0]], [[10.0, 20.0]], ["1 of 2 spans have no length"]),
    ([[30.0, 61.5]], [[-2.0, 20.0]], ["2 of 2 spans leave their video, by up to 2.00 s"]),
    ([[0.5, 0.66]], [[0.16, 0.33]], ["fractions"]),
    ([[750, 1000]], [[250, 500]], ["2 of 2 spans leave their video", "frames"]),
    ([[15, 20]], [[5, 10]], ["indices of segments"]),
    ([[30.0, 40.0]], [[10, 60]], []),
]


@pytest.mark.parametrize(("first", "second", "named"), ODD)
def test_odd_spans_are_noted(tmp_path, capsys, first, second, named):
    truth = written(tmp_path / "truth.jsonl", TVR)
    moments = lists(
        tmp_path / "s.json", *([[n, *span, 0.9] for span in each] for n, each in enumerate((first, second)))
    )
    notes = [note for note in evaluated(capsys, truth, moments)["notes"] if "span" in note]
    assert [name for name in named if not any(name in note for note in notes)] == []
    assert bool(notes) == bool(named)


@pytest.mark.parametrize(("span", "named"), [([35.0, 35.0], "have no length"), ([40.0, 30.0], "end before they start")])
def test_a_true_span_that_none_can_find_is_noted(tmp_path, capsys, span, named):
    truth = written(tmp_path / "truth.jsonl", [{**TVR[0], "ts": span}, TVR[1]])
    found = evaluated(capsys, truth, lists(tmp_path / "s.json", [[0, *sorted(span), 0.9]], [[1, 10.0, 20.0, 0.9]]))
    assert found["SVMR"]["0.5-r1"] == 50.0
    assert any(f"1 of 2 true spans {named}" in note for note in found["notes"])


@pytest.mark.parametrize("name", ["charades.txt", "activitynet.json", "didemo.json"])
def test_windows_of_moments_count_as_lists_of_their_videos(tmp_path, capsys, name):
    published_files(tmp_path)
    truth, windows = tmp_path / name, tmp_path / "windows.jsonl"
    videos = {query.id: int(query.video[1:]) for query in read_ground_truth(truth).queries()}
    entries = [
        {"desc_id": row["qid"], "predictions": [[videos[row["qid"]], *span] for span in row["pred_relevant_windows"]]}
        for row in read_jsonl(windows)
    ]
    (tmp_path / "lists.json").write_text(json.dumps({"video2idx": {"v0": 0, "v1": 1}, "SVMR": entries}))
    of_windows, of_lists = (evaluated(capsys, truth, each) for each in (windows, tmp_path / "lists.json"))
    assert of_windows == of_lists and 0 < of_windows["further"]["SVMR"]["mIoU"] < 100
    command = ["compare", truth, f"w={windows}", f"l={tmp_path / 'lists.json'}", "--output", tmp_path / "out"]
    assert main([str(word) for word in command]) == 0
    with refused("--partial", file=windows):
        write_jsonl(windows, read_jsonl(windows)[1:])
        read_ground_truth(truth).answers(windows, None)


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
