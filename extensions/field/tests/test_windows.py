"""Windows and highlights, as QVHighlights' evaluator scores them; and moments in other published forms."""

import json
from pathlib import Path

import numpy as np
import pytest
from benchmark.test_compare import ODD, evaluated, written
from refusals import refused

from verified.__main__ import main
from verified.cli.forms import form_of, read_ground_truth
from verified.errors import InputError
from verified.io.jsonl import read_jsonl, write_jsonl
from verified_field.window_metrics import average_precision
from verified_field.windows import evaluate_files

FIXTURE = Path(__file__).parent / "fixtures" / "qvhighlights"
TRUTH, SUBMISSION = FIXTURE / "truth.jsonl", FIXTURE / "submission.jsonl"


def test_figures_are_those_of_the_official_evaluator(capsys):
    assert main(["evaluate", str(TRUTH), str(SUBMISSION), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    expected = json.loads((FIXTURE / "expected.json").read_text())
    assert {name: found["result"][name] for name in expected} == expected
    assert found["result"]["brief"]["MR-full-mAP"] == pytest.approx(found["intervals"]["mAP"]["value"], abs=0.005)
    assert found["intervals"]["mAP"]["low"] < found["intervals"]["mAP"]["value"] < found["intervals"]["mAP"]["high"]


def test_parts_that_are_not_there_are_named_and_the_others_scored(tmp_path):
    rows = read_jsonl(SUBMISSION)
    write_jsonl(tmp_path / "windows.jsonl", [{k: v for k, v in r.items() if k != "pred_saliency_scores"} for r in rows])
    windows = evaluate_files(TRUTH, tmp_path / "windows.jsonl")
    assert "full" in windows.result and "HL-min-Good" not in windows.result
    assert any("pred_saliency_scores" in note for note in windows.notes)
    write_jsonl(tmp_path / "clips.jsonl", [{k: v for k, v in r.items() if k != "pred_relevant_windows"} for r in rows])
    assert "full" not in evaluate_files(TRUTH, tmp_path / "clips.jsonl").result


def test_lists_within_the_right_video_count_as_windows(tmp_path):
    videos, rows = {row["qid"]: row["vid"] for row in read_jsonl(TRUTH)}, read_jsonl(SUBMISSION)
    index = {video: number for number, video in enumerate(sorted({*videos.values(), "another"}))}
    lists = []
    for row in rows:
        found = [[index[videos[row["qid"]]], *window] for window in row["pred_relevant_windows"]]
        lists.append({"desc_id": row["qid"], "predictions": [[index["another"], 0, 1, 1], *found]})
    (tmp_path / "s.json").write_text(json.dumps({"video2idx": index, "SVMR": lists}))
    of_lists, of_windows = (evaluate_files(TRUTH, file).result["brief"] for file in (tmp_path / "s.json", SUBMISSION))
    assert {name: value for name, value in of_windows.items() if name.startswith("MR")} == of_lists


def test_a_comparison_reads_the_form():
    truth = read_ground_truth(TRUTH)
    answers = truth.answers(SUBMISSION, None)
    first = answers.values["R1@0.5"] == 1
    assert (answers.ranks[first] == 1).all() and (answers.ranks[~first] > 1).all()
    assert len(truth.queries()) == len(answers.first) == 40
    listed = {str(row["qid"]): tuple(row["pred_relevant_windows"][0][:2]) for row in read_jsonl(SUBMISSION)}
    assert form_of(TRUTH, SUBMISSION).first_spans(SUBMISSION, listed) == listed
    with pytest.raises(InputError):
        truth.answers(SUBMISSION, 0.5)


WINDOWS = [
    {"qid": 1, "query": "a", "duration": 31.0, "vid": "v1", "relevant_windows": [[24.3, 30.4]]},
    {"qid": 2, "query": "b", "duration": 33.7, "vid": "v2", "relevant_windows": [[0.0, 6.9]]},
]


def windows(path, *rows):
    return written(path, [{"qid": n, "pred_relevant_windows": each} for n, each in enumerate(rows, start=1)])


@pytest.mark.parametrize(("first", "second", "named"), ODD)
def test_odd_windows_are_noted(tmp_path, capsys, first, second, named):
    submission = windows(tmp_path / "s.jsonl", *([[*span, 0.9] for span in each] for each in (first, second)))
    truth = [{**row, "duration": 60.0, "relevant_windows": [span]} for row, span in zip(WINDOWS, ([30, 40], [10, 20]))]
    found = evaluated(capsys, written(tmp_path / "truth.jsonl", truth), submission)
    notes = [note for note in found["notes"] if "span" in note]
    assert [name for name in named if not any(name in note for note in notes)] == []
    assert bool(notes) == bool(named)


def test_windows_that_the_official_evaluator_counts_as_hits_are_noted(tmp_path):
    truth = written(tmp_path / "truth.jsonl", WINDOWS)
    notes = evaluate_files(truth, windows(tmp_path / "s.jsonl", [[30.4, 24.3, 1]], [[0.0, 6.9, 1]])).notes
    assert any("divides 0 by 0" in note and note.endswith("qid 1") for note in notes)
    for count in (10, 11):
        lists = windows(tmp_path / "s.jsonl", [[n, n + 1, 1] for n in range(count)], [[0.0, 6.9, 1]])
        assert any("more than 10 windows" in note for note in evaluate_files(truth, lists).notes) == (count > 10)


def test_lengths_belong_to_the_range_that_they_end_and_of_equal_windows_the_last_is_found(tmp_path):
    rows = [{**row, "duration": 60.0, "relevant_windows": [[0, end]]} for row, end in zip(WINDOWS, (10, 30))]
    lists = windows(tmp_path / "s.jsonl", [[0, 10, 1]], [[0, 30, 1]])
    result = evaluate_files(written(tmp_path / "truth.jsonl", rows), lists).result
    assert [result[name]["MR-mAP"]["average"] for name in ("short", "middle", "long")] == [100, 100, None]
    assert average_precision(np.array([[0.6, 0.6], [0.9, 0.0]]), np.array([0.5])) == [1]


@pytest.mark.parametrize("clips", [{}, {"relevant_clip_ids": [24, 25]}, {"relevant_clip_ids": []}])
def test_windows_are_scored_where_clips_have_no_saliency(tmp_path, capsys, clips):
    rows = [{**row, **clips} for row in WINDOWS]
    submission = windows(tmp_path / "s.jsonl", [[24.0, 30.0, 0.9]], [[10.0, 20.0, 0.9]])
    found = evaluated(capsys, written(tmp_path / "truth.jsonl", rows), submission)["intervals"]
    assert (found["R1@0.3"]["value"], round(found["mIoU"]["value"], 2)) == (50.0, 44.53)


@pytest.mark.parametrize("clips", [[24, 25], [0, 1, 2, 17], [-1]])
def test_clips_on_another_grid_are_refused_as_clips_have_two_seconds(tmp_path, clips):
    rows = [{**row, "relevant_clip_ids": clips, "saliency_scores": [[4, 4, 4]] * len(clips)} for row in WINDOWS]
    submission = windows(tmp_path / "s.jsonl", [[24.0, 30.0, 0.9]], [[10.0, 20.0, 0.9]])
    with refused("clips of 2 s", file="truth.jsonl", row=1):
        evaluate_files(written(tmp_path / "truth.jsonl", rows), submission)


RELEASED = Path(__file__).resolve().parents[4] / "shared" / "data" / "qvhighlights"
ITS_OWN = RELEASED / "sample_val_preds.jsonl"


@pytest.mark.skipif(
    not ITS_OWN.is_file(), reason=f"moment_detr's own answers to the validation split are not {ITS_OWN}"
)
def test_moment_detr_s_own_answers_have_its_figures():
    """Of standalone_eval/sample_val_preds.jsonl, beside the released validation split (both CC BY-NC-SA: not kept)."""
    brief = evaluate_files(RELEASED / "highlight_val_release.jsonl", ITS_OWN).result["brief"]
    assert (brief["MR-full-R1@0.5"], brief["MR-full-mAP"]) == pytest.approx((53.94, 32.2), abs=0.05)
