"""The official evaluator's numbers and exceptions, case by case; our errors where the official one is silent."""

import csv
import gzip
import json
import random
from pathlib import Path

import pytest
from refusals import refused, said

from verified.__main__ import main
from verified.io.jsonl import write_jsonl
from verified_rextime.config import ReleasedQuestions
from verified_rextime.evaluate import evaluate_files
from verified_rextime.metrics import THRESHOLDS, measures, score
from verified_rextime.rows import Prediction, Question, choose, read_questions

FIXTURE = Path(__file__).parent / "fixtures"
CASES = json.loads((FIXTURE / "expected.json").read_text())["cases"]
SAME_FILE = {"missing_ids_shared": "missing_ids_strict", "reversed_spans": "perfect", "shuffled_noisy_all": "noisy_all"}
NO_FILE = {"many_windows_with_scores"}
ERRORS = {
    "missing_ids_strict": (None, "anet_val1031"),
    "extra_ids_strict": (None, "anet_val999999"),
    "row5_lacks_ans": (6, "ans"),
    "row7_empty_window_list": (8, "empty"),
}


def rows_of(case: str) -> list[dict]:
    name = SAME_FILE.get(case, case)
    packed = (FIXTURE / f"sub_{name}.jsonl.gz").read_bytes()
    rows = [json.loads(line) for line in gzip.decompress(packed).decode().splitlines()]
    if case == "reversed_spans":
        rows = [{**row, "pred_relevant_windows": [row["pred_relevant_windows"][0][::-1]]} for row in rows]
    if case == "shuffled_noisy_all":
        random.Random(1).shuffle(rows)
    return rows


@pytest.fixture(scope="module")
def truth(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("truth") / "truth.jsonl"
    rows = [
        {"qid": row["qid"], "vid": f"v{n // 2}", "ans": row["ans"], "relevant_windows": row["pred_relevant_windows"]}
        for n, row in enumerate(rows_of("perfect"))
    ]
    write_jsonl(path, ({"query": "?", "duration": 150, **row} for row in rows))
    return path


def evaluated(case: str, truth: Path, folder: Path, **options):
    write_jsonl(folder / f"{case}.jsonl", rows_of(case))
    return evaluate_files(truth, folder / f"{case}.jsonl", **options)


@pytest.mark.parametrize("case", sorted(CASES.keys() - NO_FILE))
def test_equals_the_official_evaluator(case, truth, tmp_path):
    expected = CASES[case]
    options = {"mode": "first-row", "partial": not expected["match_number"], "last_of_equal_ids": True}
    if expected["ok"]:
        assert evaluated(case, truth, tmp_path, **options).result == expected["result"]
    else:
        row, named = ERRORS[case]
        with refused(named, file=f"{case}.jsonl", row=row):
            evaluated(case, truth, tmp_path, **options)


def test_the_ceiling_below_100_is_explained_and_missing_ids_are_named(truth, tmp_path):
    notes = " ".join(evaluated("perfect", truth, tmp_path).notes)
    assert "no submission can reach more than 99.78" in notes
    assert "anet_val867" in notes and "anet_val889" in notes
    notes = " ".join(evaluated("missing_ids_strict", truth, tmp_path, partial=True).notes)
    assert "184 questions without a row are left out, not counted as wrong" in notes
    notes = " ".join(evaluated("lowercase_answers", truth, tmp_path).notes)
    assert "921 answers are none of the letters" in notes
    notes = " ".join(evaluated("reversed_spans", truth, tmp_path).notes)
    assert "919 windows end before they start" in notes


def test_the_command_prints_the_measures(truth, tmp_path, capsys):
    write_jsonl(tmp_path / "ours.jsonl", rows_of("noisy_all"))
    ours = str(tmp_path / "ours.jsonl")
    assert main(["evaluate", str(truth), ours, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["result"] == CASES["noisy_all"]["result"]
    assert printed["intervals"]["mIoU"]["low"] < 70.29 < printed["intervals"]["mIoU"]["high"]
    assert main(["evaluate", str(truth), ours]) == 0
    out = capsys.readouterr()
    assert "70.29" in out.out and "99.78" in out.err
    assert main(["evaluate", str(truth), str(tmp_path / "none.jsonl")]) == 2
    said(capsys.readouterr().err, tmp_path / "none.jsonl")


def test_submissions_are_compared_in_what_both_hold(truth, tmp_path):
    files = [tmp_path / f"{case}.jsonl" for case in ("perfect", "noisy_vqa_only")]
    for file in files:
        write_jsonl(file, rows_of(file.stem))
    assert main(["compare", *map(str, (truth, *files)), "--output", str(tmp_path / "out")]) == 0
    with (tmp_path / "out" / "comparison.csv").open() as file:
        (row,) = csv.DictReader(file)
    right, noisy = (CASES[file.stem]["result"]["brief"]["VQA"] for file in files)
    assert (row["Metric"], row["p"], row["Losses"]) == ("VQA", "one training", "0")
    assert float(row["First minus second"]) == pytest.approx(100 * (right - noisy), abs=0.1)


def test_a_window_that_just_reaches_a_threshold_counts():
    truth = [Question(f"q{n}", "?", "v", 20.0, ((19.5, 20.0), (0.0, 20.0)), answer="A") for n in range(6, 20)]
    given = {row.qid: Prediction((0.0, float(row.qid[1:])), "A") for row in truth}
    found = measures(score(truth, given, "both"))
    for place, threshold in enumerate(THRESHOLDS):
        assert (found[f"R1@{threshold:g}"] > 0).tolist() == [False] * place + [True] * (14 - place)
    assert [found[f"VQA,mIoU@{threshold:g}"].sum() for threshold in (0.3, 0.5, 0.7)] == [14, 10, 6]


CATEGORIES = ("sequential", "cause_effect", "means_end")


@pytest.fixture
def published(tmp_path):
    """One JSON array with the keys of the data set that has the options."""
    rows = [
        {
            "qid": f"anet_test{number}",
            "vid": f"v_{number // 2}",
            "duration": 20,
            "question": f"What is {number}?",
            "answer": "From <s0> to <e0>, <option>.",
            "category": CATEGORIES[number % 3],
            "options": [f"{letter}{number}" for letter in "wxyz"],
            "span": [2, 8],
            "ans": "B",
        }
        for number in range(18)
    ]
    file = tmp_path / "rextime_val.json"
    file.write_text(json.dumps(rows))
    return file


def test_the_published_array_is_read_with_its_kinds(published, tmp_path):
    first, second, third, *_ = questions = read_questions(published)
    assert len(questions) == 18 and first.query == "What is 0?" and first.windows == ((2.0, 8.0),)
    assert [one.kind for one in (first, second, third)] == ["sequential", "cause_effect", "means_to_an_end"]
    broken = json.loads(published.read_text())
    del broken[3]["vid"]
    published.write_text(json.dumps(broken))
    with refused("vid", file="rextime_val.json", row=4):
        read_questions(published)


def test_a_sample_has_so_many_of_each_kind_and_hangs_on_seed_and_ids_alone(published):
    questions = read_questions(published)
    given = ReleasedQuestions(questions=str(published), per_kind=2)
    drawn = choose(questions, given, 1)
    assert [sum(one.kind == kind for one in drawn) for kind in sorted({one.kind for one in questions})] == [2, 2, 2]
    assert {one.qid for one in choose(questions[::-1], given, 1)} == {one.qid for one in drawn}
    assert any({one.qid for one in choose(questions, given, seed)} != {one.qid for one in drawn} for seed in (2, 3, 4))
    with refused("7", "6", remedy=True):
        choose(questions, given.model_copy(update={"per_kind": 7}), 1)
    with refused("kind", "only", remedy=True):
        choose([Question("q", "?", "v", 9.0, ((0.0, 1.0),))], given, 1)
