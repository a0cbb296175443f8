"""NDCG of moments with graded relevance, as the authors of TVR-Ranking compute it."""

import json
from pathlib import Path

import pytest
from refusals import refused
from whole_forms import pairs

from verified.__main__ import main
from verified.io.jsonl import write_jsonl
from verified_field.graded import GradedMoment, GradedQuery, evaluate_files, relevance_found

FIXTURE = Path(__file__).parent / "fixtures" / "tvr-ranking"
TRUTH, SUBMISSION = FIXTURE / "truth.json", FIXTURE / "submission.json"
EXPECTED = json.loads((FIXTURE / "expected.json").read_text())


def test_figures_are_those_of_the_authors_code_in_both_forms(tmp_path, capsys):
    write_jsonl(tmp_path / "val.jsonl", pairs())
    for truth in (TRUTH, tmp_path / "val.jsonl"):
        assert main(["evaluate", str(truth), str(SUBMISSION), "--json"]) == 0
        found = json.loads(capsys.readouterr().out)["intervals"]
        assert {name: row["value"] / 100 for name, row in found.items()} == pytest.approx(EXPECTED, abs=1e-12)
        assert all(row["low"] < row["value"] < row["high"] for row in found.values())


def test_a_moment_is_found_once_and_a_hit_exceeds_the_threshold():
    query = GradedQuery(1, "", (GradedMoment("a", 0, 10, 2, None), GradedMoment("a", 0, 5, 4, None)))
    assert relevance_found(query, [("a", 0, 10)] * 3, 0.3) == [2, 4, 0]
    assert relevance_found(query, [("a", 0, 10)] * 3, 0.5) == [2, 0, 0]
    assert relevance_found(query, [("b", 0, 10)], 0.3) == [0]


@pytest.mark.parametrize(
    "keys", [{"relevance": 5}, {"relevance": None}, {"timestamp": [1]}, {"video_name": 3}, {"query_id": "a"}]
)
def test_rubbish_is_named_with_its_row(tmp_path, keys):
    rows = pairs()
    rows[3] = {**rows[3], **keys}
    write_jsonl(tmp_path / "val.jsonl", rows)
    with refused(file="val.jsonl", row=4):
        evaluate_files(tmp_path / "val.jsonl", SUBMISSION)


def test_a_query_that_no_list_could_score_on_is_refused(tmp_path):
    write_jsonl(tmp_path / "val.jsonl", [*pairs(), {**pairs()[0], "query_id": 9, "relevance": 0}])
    with refused("9", file="val.jsonl", remedy=True):
        evaluate_files(tmp_path / "val.jsonl", SUBMISSION)
