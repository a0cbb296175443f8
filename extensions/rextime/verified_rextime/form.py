"""The form of ReXTime's questions."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from verified.cli.command import option
from verified.cli.form import Form, brackets, note
from verified.io.jsonl import Row

if TYPE_CHECKING:
    from verified.benchmark.submissions import GroundTruth

QUESTION_KEYS = {"ans", "options", "question", "category", "kind"}
"""Keys that questions have and other rows with `qid` have not."""


def _read(path: Path) -> "GroundTruth":
    from verified_rextime.evaluate import QuestionTruth

    return QuestionTruth(path)


def _recognise(path: Path, first: Row, submission: Path | None) -> bool:
    return "qid" in first and bool(QUESTION_KEYS & set(first))


def _questions(arguments: argparse.Namespace) -> None:
    from verified_rextime.evaluate import evaluate_files

    evaluation = evaluate_files(
        arguments.ground_truth,
        arguments.submission,
        arguments.mode or "both",
        arguments.partial,
        arguments.last_of_equal_ids,
    )
    note(evaluation.notes)
    intervals = evaluation.intervals()
    if arguments.json:
        document = {"result": evaluation.result, "questions": len(evaluation.scores), "intervals": intervals}
        print(json.dumps(document | {"notes": evaluation.notes}, indent=1))
        return
    scores = evaluation.scores
    print(
        f"{len(scores)} questions about {len(set(scores.videos))} videos; in brackets: 95 % interval over videos, drawn"
        " with all of their questions, not over trainings"
    )
    for name, interval in intervals.items():
        digits = 4 if name.startswith("VQA") else 2
        line = f"{name:14} {interval['value']:8.{digits}f}  {brackets(interval, digits)}"
        if interval["intra_class"] is not None:
            line += f"  intra-class correlation of questions of one video {interval['intra_class']:.2f}"
        print(line)


QUESTIONS = Form(
    "questions",
    _recognise,
    _read,
    _questions,
    about="questions (ReXTime)",
    submissions="questions: JSONL (qid, pred_relevant_windows, ans)",
    options=("mode", "last_of_equal_ids"),
    declared=(
        option(
            "--mode",
            choices=("both", "grounding", "vqa", "first-row"),
            help="questions: content of the rows; first-row guesses as the official evaluator does (default: both)",
        ),
    ),
)
