"""`verified evaluate` and the metrics behind it, against results of the TVR evaluator."""

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest
from refusals import refused
from running import PROJECT
from vcmr_golden import FOLDER

from verified.__main__ import main
from verified.benchmark.lists import Lists, suppress
from verified.benchmark.vcmr.evaluate import evaluate_files
from verified.benchmark.vcmr.submission import read_submission, read_truth, write_submission
from verified.cli.forms import SUBMISSION

METRICS = sorted(FOLDER.glob("eval_0*.json")) + sorted(FOLDER.glob("eval_1*.json"))
SUPPRESSED = sorted(FOLDER.glob("eval_2*.json"))


def written(folder: Path, ground_truth: list[dict], submission: dict) -> tuple[Path, Path]:
    truth, lists = folder / "truth.jsonl", folder / "submission.json"
    truth.write_text("".join(json.dumps(row) + "\n" for row in ground_truth), encoding="utf-8")
    lists.write_text(json.dumps(submission), encoding="utf-8")
    return truth, lists


def of_fixture(folder: Path, file: Path) -> tuple[dict, Path, Path]:
    case = json.loads(file.read_text(encoding="utf-8"))
    return case, *written(folder, case["ground_truth"], case["submission"])


def printed(capsys, *arguments) -> dict:
    assert main(["evaluate", *map(str, arguments), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    return {name: found[name] for name in found if name in ("VCMR", "SVMR", "VR") or name.endswith("_by_type")}


@pytest.mark.parametrize("file", METRICS, ids=lambda file: file.stem)
def test_metrics_are_those_of_the_tvr_evaluator(file, tmp_path, capsys):
    case, truth, submission = of_fixture(tmp_path, file)
    partial = ["--partial"] if case["options"].get("match_number") is False else []
    if "error" in case["expected"]:
        pytest.skip("the TVR evaluator crashes here; what is done instead has tests of its own")
    assert printed(capsys, truth, submission, *partial) == case["expected"]["metrics"]


@pytest.mark.parametrize("threshold", [0.5, 0.6])
@pytest.mark.parametrize("file", SUPPRESSED, ids=lambda file: file.stem)
def test_suppression_is_the_official_one(file, threshold, tmp_path, capsys):
    case, truth, submission = of_fixture(tmp_path, file)
    read = read_submission(submission)
    for variant, before in (("direct", None), ("after_top100_truncation", 100)):
        expected = case["expected"][f"nms{threshold}_{variant}"]
        for task, entries in expected["after_nms"].items():
            lists = suppress(Lists.pad([read.tasks[task][desc_id] for desc_id, _ in entries]), threshold, before)
            for query, (_, rows) in enumerate(entries):
                parts = (lists.video[query], lists.start[query], lists.end[query], lists.score[query])
                assert [list(row) for row in zip(*parts) if row[0] >= 0] == rows
    assert printed(capsys, truth, submission, "--nms-threshold", threshold) == expected["metrics"]
    assert printed(capsys, truth, submission) == case["expected"]["no_nms"]["metrics"]


CAPTIONS = {"duration": 30.0, "cog_desc": "x", "fig_desc": "y", "fig_desc_score": 1}
TRUTH = [
    {"video": "a", "time": [0, 10], "desc_id": 1, "type": "v", **CAPTIONS},
    {"video": "b", "time": [5, 9], "desc_id": 2, **CAPTIONS},
]


def entry(desc_id: object, *rows) -> dict:
    return {"desc_id": desc_id, "predictions": [list(row) for row in rows]}


def submission(**tasks) -> dict:
    right = [entry(1, [0, 0, 10, 0.9]), entry(2, [1, 5, 9, 0.9])]
    return {"video2idx": {"a": 0, "b": 1, "c": 2}, **dict.fromkeys(("VCMR", "SVMR", "VR"), right), **tasks}


def test_fig_ground_truth_and_a_perfect_submission(tmp_path, capsys):
    metrics = printed(capsys, *written(tmp_path, TRUTH, submission()))
    assert list(metrics) == ["VCMR", "SVMR", "VR"]
    assert {value for task in metrics.values() for value in task.values()} == {100.0}
    assert list(metrics["VR"]) == ["r1", "r5", "r10", "r100"]
    assert list(metrics["VCMR"]) == [f"{m}-r{k}" for m in (0.5, 0.7) for k in (1, 5, 10, 100)]


def test_an_empty_list_is_a_miss_and_is_noted(tmp_path, capsys):
    truth, lists = written(tmp_path, TRUTH, submission(VCMR=[entry(1), entry(2, [1, 5, 9, 0.9])]))
    assert main(["evaluate", str(truth), str(lists), "--json"]) == 0
    output = capsys.readouterr()
    assert json.loads(output.out)["VCMR"]["0.5-r1"] == 50.0
    assert "VCMR: 1 queries with an empty list count as missed: desc_id 1" in output.err
    alone = {name: value for name, value in submission().items() if name not in ("VCMR", "VR")}
    notes = {
        name: evaluate_files(*written(tmp_path, TRUTH, of)).notes
        for name, of in (("all", submission()), ("SVMR", alone))
    }
    assert notes["all"] == [] and notes["SVMR"][0].startswith("SVMR alone: VR and VCMR of a model that sees one video")


@pytest.mark.parametrize(
    ("entries", "named"),
    [([entry(1, [0, 0, 10, 1])], "no list for desc_id 2"), ([entry(1), entry(2), entry(77)], "unknown desc_id 77")],
)
def test_missing_and_extra_queries_are_errors_unless_partial(entries, named, tmp_path, capsys):
    truth, lists = written(tmp_path, TRUTH, submission(SVMR=entries))
    assert main(["evaluate", str(truth), str(lists)]) == 2
    message = capsys.readouterr().err
    assert named in message and "submission.json" in message and "--partial" in message
    evaluation = evaluate_files(truth, lists, partial=True)
    assert evaluation.metrics["SVMR"]["0.5-r1"] == (100.0 if len(entries) == 1 else 0.0)
    assert any(named.split()[-1] in note for note in evaluation.notes)


def test_mean_overlap_is_that_of_the_first_row_that_counts(tmp_path, capsys):
    lists = [entry(1, [1, 0, 10, 0.9], [0, 5, 15, 0.8], [0, 0, 10, 0.7]), entry(2, [1, 5, 9, 0.9])]
    files = written(tmp_path, TRUTH, submission(VCMR=lists, SVMR=lists))
    evaluation = evaluate_files(*files)
    overlap = {task: further["mIoU"] for task, further in evaluation.extra.items() if "mIoU" in further}
    assert overlap == {"VCMR": 50.0, "SVMR": 66.67}  # 0 and 1; a third and 1
    assert "mIoU" not in evaluation.metrics["SVMR"]
    assert evaluate_files(*files, thresholds=(1 / 3,)).extra["SVMR"]["0.333333-r1"] == 100
    assert main(["evaluate", *map(str, files)]) == 0
    shown = capsys.readouterr().out
    assert "2 queries in 2 videos; percent" in shown
    assert re.search(r"^SVMR mIoU +66\.67  \[", shown, re.MULTILINE)
    bounds = evaluation.intervals["SVMR"]["mIoU"]
    assert bounds["low"] < bounds["value"] < bounds["high"]


def test_a_written_submission_is_read_back_and_has_the_same_bytes(tmp_path):
    lists = Lists.pad([np.array([[1, 0.75, 3.25, 0.25], [0, 2.0, 4.0, 0.125]]), np.zeros((0, 4))])
    for name in ("one.json.gz", "two.json.gz"):
        write_submission(tmp_path / name, ["a", "b"], np.array([4, 5]), ["x", "y"], {"VCMR": lists})
    assert (tmp_path / "one.json.gz").read_bytes() == (tmp_path / "two.json.gz").read_bytes()
    read = read_submission(tmp_path / "one.json.gz")
    assert read.tasks["VCMR"][4].tolist() == [[1, 0.75, 3.25, 0.25], [0, 2.0, 4.0, 0.125]]
    assert read.tasks["VCMR"][5].shape == (0, 4)
    assert json.loads(gzip.decompress((tmp_path / "one.json.gz").read_bytes()))["VCMR"][0]["desc"] == "x"


def test_a_gzip_bomb_is_refused_before_it_unpacks(tmp_path):
    (tmp_path / "submission.json").write_bytes(gzip.compress(b" " * 2**28))
    with refused("submission.json", "100 times"):
        read_submission(tmp_path / "submission.json")


def test_the_submission_of_the_help_is_that_of_the_page_and_scores(tmp_path, capsys):
    assert f"```json\n{SUBMISSION}\n```" in (PROJECT / "docs" / "benchmark.md").read_text(encoding="utf-8")
    truth = [{"desc_id": 7, "video": "street", "time": [2.0, 8.0]}]
    metrics = printed(capsys, *written(tmp_path, truth, json.loads(SUBMISSION)))
    assert metrics["VCMR"]["0.7-r1"] == metrics["VR"]["r1"] == 100
    with pytest.raises(SystemExit):
        main(["evaluate", "--help"])
    assert SUBMISSION in capsys.readouterr().out


def test_each_window_of_a_row_is_true(tmp_path):
    (tmp_path / "truth.jsonl").write_text(json.dumps(TRUTH[0] | {"windows": [[0, 10], [12, 20]]}))
    moment = read_truth(tmp_path / "truth.jsonl")[1]
    assert moment.windows and moment.spans == ((0, 10), (12, 20))


def test_a_repeated_id_of_the_truth_is_an_error_of_its_row(tmp_path):
    rows = [{"desc_id": 7, "vid_name": "a", "ts": [0, each]} for each in (4, 5)]
    (tmp_path / "truth.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with refused("desc_id 7", file="truth.jsonl", row=2, remedy=True):
        read_truth(tmp_path / "truth.jsonl")
