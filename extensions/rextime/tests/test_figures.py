"""Baselines and figures about a benchmark: published reference points, switches, costs."""

from pathlib import Path

import numpy as np
import pytest

from verified_rextime.config import Prices
from verified_rextime.evaluate import evaluate
from verified_rextime.results import whole_video
from verified_rextime.rows import read_questions
from verified_rextime.statistics import benchmark_statistics, certificate_lengths, cost_per_1000, count_across_time

DATA = Path("../shared/data/rextime/rextime_val.jsonl")
needs_data = pytest.mark.skipif(not DATA.is_file(), reason="the published annotation files are not at hand")


@needs_data
def test_the_whole_video_and_always_a_on_the_released_questions():
    questions = read_questions(DATA)
    brief = evaluate(questions, whole_video(questions)).result["brief"]
    assert brief == {
        "VQA": pytest.approx(0.2693, abs=5e-5),
        "MR-full-R1@0.3": 43.97,
        "MR-full-R1@0.5": 32.14,
        "MR-full-mIoU": 37.25,
        "VQA,mIoU@0.5": pytest.approx(0.0901, abs=5e-5),
    }


def row(split="test", kind="sequential", answer=(0.0, 4.0), asked=(6.0, 10.0), **more):
    made = {"split": split, "kind": kind, "direction": "backward", "vid": "v", "duration": 20.0, "ans": "A"}
    windows = {"relevant_windows": [list(answer)], "question_windows": [list(asked)] if asked else []}
    return made | windows | more


def test_certificate_length_and_question_answer_iou():
    questions, answers = np.array([[6.0, 10], [2, 6], [0, 10]]), np.array([[0.0, 4], [4, 8], [2, 4]])
    assert certificate_lengths(questions, answers).tolist() == [8, 6, 10]
    assert certificate_lengths(questions, answers, "hull").tolist() == [10, 6, 10]
    statistics = benchmark_statistics([row(), row(answer=(4.0, 8.0), asked=(2.0, 6.0)), row(asked=None), row("train")])
    assert list(statistics) == ["test", "train"]
    test = statistics["test"]
    assert (test["questions"], test["with_question_span"]) == (3, 2)
    assert test["certificate_length"] == 7 and test["certificate_hull"] == 8
    assert test["question_answer_iou"] == pytest.approx(1 / 6)
    assert benchmark_statistics([row(asked=None)])["test"]["certificate_length"] is None


def test_items_across_time_in_the_manner_of_other_data_sets():
    ego = [
        {"text": "What did I pick up before the cup?"},
        {"text": "Where is the aftershave?"},
        {"text": "What did I do AFTER that?", "question_span": [0, 9], "answer_span": [2, 3]},
    ]
    found = count_across_time(ego, "before_after")
    assert found == {"items": 3, "asks_across": 2, "left_out_as_contained": 1, "across_time": 1}
    nextgqa = [{"text": "x", "type": "TN"}, {"text": "before", "type": "CW"}, {"text": "y", "type": "temporal"}]
    assert count_across_time(nextgqa, "temporal_type")["across_time"] == 2


def test_the_published_costs_follow_from_the_published_prices():
    tested, trained = cost_per_1000(Prices(), True), cost_per_1000(Prices(), False)
    assert (round(tested["total"]), tested["by_hand"], round(tested["percent_of_by_hand"])) == (135, 300, 45)
    assert (trained["total"], round(trained["percent_of_by_hand"], 1)) == (35, 11.7)
