"""Score a submission file against the questions, and compare its scores with another's."""

import dataclasses
import os
from pathlib import Path
from typing import Literal

import numpy as np

from verified.benchmark.intervals import compare_paired, mean_of_training
from verified.benchmark.submissions import Answers, Query, list_some, match
from verified.errors import InputError
from verified_rextime.metrics import Scores, ceiling, measures, official_result, score
from verified_rextime.rows import LETTERS, Mode, Prediction, Question, read_questions, read_submission


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """A scored submission: the official output, numbers per question, and notes for the reader."""

    result: dict
    scores: Scores
    notes: tuple[str, ...]

    def intervals(self) -> dict[str, dict[str, float | None]]:
        """Mean of each measure, its 95 % interval over videos, drawn with all of their questions, and the
        intra-class correlation of the questions of a video. None if the available questions do not determine it.

        A submission has one training, or none: the noise of training is not included.
        """
        scored = measures(self.scores)
        return {name: mean_of_training(values, self.scores.videos, top=top_of(name)) for name, values in scored.items()}


def evaluate_files(
    truth: str | os.PathLike,
    submission: str | os.PathLike,
    mode: Mode | Literal["first-row"] = "both",
    partial: bool = False,
    last_of_equal_ids: bool = False,
) -> Evaluation:
    """Score one file. See `rows.read_submission` for `mode` and `last_of_equal_ids`, `evaluate` for `partial`."""
    used, predictions = read_submission(submission, mode, last_of_equal_ids)
    evaluation = evaluate(read_questions(truth), predictions, used, partial, str(submission))
    if mode == "first-row":
        note = f"the mode is {used}, guessed from the first row; --mode {used} states it"
        evaluation = dataclasses.replace(evaluation, notes=(note, *evaluation.notes))
    return evaluation


def evaluate(
    questions: list[Question],
    predictions: dict[str, Prediction],
    mode: Mode = "both",
    partial: bool = False,
    source: str = "submission",
) -> Evaluation:
    """Score predictions by id.

    Questions and predictions must have the same ids. With `partial` the ids that both have are scored, as the official
    evaluator does with match_number=False: missing ones are left out of the denominator instead of counting as wrong.
    """
    ids = [question.qid for question in questions]
    pairing = match(ids, predictions, partial, source, "questions", "row")
    if mode != "grounding" and (without := [q.qid for q in questions if q.answer is None]):
        raise InputError(
            f"the questions have no letter for {list_some(without)}", remedy="--mode grounding scores windows alone"
        )
    scores = score(questions, predictions, mode)
    return Evaluation(official_result(scores), scores, (*pairing.notes, *_notes(questions, predictions, scores)))


def _notes(questions, predictions, scores):
    used = [question for question in questions if question.qid in predictions]
    if scores.iou is not None:
        best, empty = ceiling(used)
        if empty:
            yield (
                f"no submission can reach more than {best:.2f} in mIoU and R@1: the true window of {list_some(empty)} "
                "has no length and so no overlap with anything"
            )
        backwards = [qid for qid in scores.qids if predictions[qid].window[1] < predictions[qid].window[0]]
        if backwards:
            yield f"{len(backwards)} windows end before they start and count as no overlap: {list_some(backwards)}"
    if scores.right is not None:
        odd = [qid for qid in scores.qids if predictions[qid].answer not in LETTERS]
        if odd:
            yield f"{len(odd)} answers are none of the letters A to D and count as wrong: {list_some(odd)}"


def compare(first: Scores, second: Scores) -> list[dict]:
    """Differences first − second of every measure that both have: value and 95 % interval over videos, paired.

    For measures that are right or wrong per question, also the number of questions that one submission alone has right.
    There is no p: a submission is one training, whose noise is unknown. Both were scored on the same questions.
    """
    ours, theirs = measures(first), measures(second)
    rows = []
    for name in (name for name in ours if name in theirs):
        test = compare_paired(ours[name][None], theirs[name][None], first.videos, top_of(name))
        low, high = (None if np.isnan(bound) else bound for bound in (test.low, test.high))
        row = {"measure": name, "difference": test.value, "low": low, "high": high}
        rows.append(row if name == "mIoU" else row | {"only_first": test.wins, "only_second": test.losses})
    return rows


def top_of(measure: str) -> float:
    """The most that a measure of the official output can be: accuracies are fractions, the others percentages."""
    return 1.0 if measure.startswith("VQA") else 100.0


class QuestionTruth:
    """Questions about videos; metrics are those of the official evaluator, and its first row decides the content of a
    submission: windows, letters or both.
    """

    compared: tuple[str, ...] = ("mIoU", "R1@0.5", "VQA", "VQA,mIoU@0.5")
    table_metrics: tuple[str, ...] = ("mIoU", "R1@0.3", "R1@0.5", "VQA", "VQA,mIoU@0.5")
    ending: str = ".jsonl"

    def __init__(self, path: Path):
        self.questions = read_questions(path)
        if any(question.answer is None for question in self.questions):
            self.table_metrics = tuple(metric for metric in self.table_metrics if "VQA" not in metric)

    def queries(self) -> list[Query]:
        """The questions, each with its first window."""
        return [
            Query(question.qid, question.video, *question.windows[0], question.query, None, question.duration)
            for question in self.questions
        ]

    def answers(self, file: Path, nms_threshold: float | None) -> Answers:
        """As of `GroundTruth`; right is a window of IoU 0.5, or the letter if there are letters only."""
        if nms_threshold is not None:
            raise InputError(
                "of a question's windows the first alone counts", file=file, remedy="leave out the tIoU (nms_threshold)"
            )
        mode, predictions = read_submission(file, "first-row")
        scores = evaluate(self.questions, predictions, mode, source=str(file)).scores
        values = {name: numbers / top_of(name) for name, numbers in measures(scores).items()}
        right = values["R1@0.5" if "R1@0.5" in values else "VQA"]
        windows = [(question.video, predictions[question.qid].window) for question in self.questions]
        first = [None if window is None else (video, *window) for video, window in windows]
        return Answers(values, np.where(right > 0, 1.0, np.inf), first)
