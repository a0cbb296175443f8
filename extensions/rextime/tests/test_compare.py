"""Comparisons of submissions to questions, as `verified compare` serves them."""

import pytest
from compared import COUNT, lines, table
from refusals import refused

from verified.__main__ import main
from verified.cli.forms import read_ground_truth
from verified_rextime.evaluate import QuestionTruth, evaluate_files


def questions(folder):
    """Twelve questions about four videos, right windows of 10 s and the letter A."""
    return lines(
        folder / "truth.jsonl",
        (
            {
                "qid": f"q{n}",
                "query": f"what happens {'before' if n % 2 else 'after'}?",
                "duration": 100,
                "vid": f"v{n % 4}",
                "relevant_windows": [[5.0 * n, 5.0 * n + 10]],
                "ans": "A",
            }
            for n in range(COUNT)
        ),
    )


def letters(path, right):
    """A submission to `questions`, right in windows and letters where right(n)."""
    return lines(
        path,
        (
            {"qid": f"q{n}", "pred_relevant_windows": [[5.0 * n, 5.0 * n + 10] if right(n) else [90, 99]]}
            | {"ans": "A" if right(n) else "B"}
            for n in range(COUNT)
        ),
    )


def test_questions_are_known_by_their_form(tmp_path):
    assert isinstance(read_ground_truth(questions(tmp_path)), QuestionTruth)


def test_questions_have_the_measures_that_evaluate_gives_them(tmp_path):
    path = questions(tmp_path)
    file = letters(tmp_path / "s.jsonl", lambda n: n % 3)
    given, result = read_ground_truth(path).answers(file, None), evaluate_files(path, file).result
    assert 100 * given.values["mIoU"].mean() == pytest.approx(result["full"]["MR-mIoU"], abs=0.01)
    assert given.values["VQA"].mean() == result["VQA"] == pytest.approx(8 / 12)
    assert given.values["VQA,mIoU@0.5"].mean() == pytest.approx(result["full"]["VQA,mIoU"]["VQA,mIoU@0.5"])
    with refused(file=file, remedy=True):
        read_ground_truth(path).answers(file, 0.5)


def test_questions_are_compared_in_what_both_submissions_hold(tmp_path, capsys):
    ours = letters(tmp_path / "ours.jsonl", lambda n: True)
    alone = lines(tmp_path / "letters.jsonl", ({"qid": f"q{n}", "ans": "A" if n < 6 else "C"} for n in range(COUNT)))
    out = tmp_path / "out"
    assert main(["compare", str(questions(tmp_path)), str(ours), str(alone), "--output", str(out)]) == 0
    (row,) = table(out / "comparison.csv")
    assert (row["Metric"], float(row["First minus second"]), row["p"]) == ("VQA", 50.0, "one training")
    assert (row["Wins"], row["Losses"], row["Equal"]) == ("6", "0", "6")
