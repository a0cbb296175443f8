"""Scores of everybody who took the test, by split, with intervals and comparisons to the whole-video baseline."""

from collections.abc import Mapping

from verified.rextime.baselines import expected_random, uniform_random, whole_video
from verified.rextime.evaluate import RESAMPLES, Evaluation, compare, evaluate
from verified.rextime.rows import Mode, Prediction, Question, read_submission

WHOLE_VIDEO = "whole video, A"
RANDOM = "random span and letter"


def score_all(
    questions: list[Question], submissions: Mapping[str, tuple[Mode, dict[str, Prediction]]], seed: int
) -> dict:
    """`questions`, `takers` by name, and `expected_random` over all draws, for one split.

    A taker has `mode`, `result` (the official output), `intervals` and `against_whole_video`. A grounder that knows the
    videos of one data set only is scored on their questions, and `questions` says on how many.
    """
    baselines = {
        WHOLE_VIDEO: ("both", whole_video(questions)),
        RANDOM: ("both", uniform_random(questions, seed)),
    }
    evaluations = {
        name: _scored(questions, mode, predictions, name)
        for name, (mode, predictions) in (baselines | dict(submissions)).items()
    }
    takers = {}
    for name, evaluation in evaluations.items():
        takers[name] = {
            "mode": evaluation.scores.mode,
            "questions": len(evaluation.scores),
            "result": evaluation.result,
            "intervals": evaluation.intervals(RESAMPLES, seed),
            "notes": list(evaluation.notes),
        }
        if name != WHOLE_VIDEO and len(evaluation.scores) == len(questions):
            takers[name]["against_whole_video"] = compare(
                evaluation.scores, evaluations[WHOLE_VIDEO].scores, RESAMPLES, seed
            )
    return {"questions": len(questions), "expected_random": expected_random(questions), "takers": takers}


def _scored(questions: list[Question], mode: Mode, predictions: dict[str, Prediction], name: str) -> Evaluation:
    return evaluate(questions, predictions, mode, partial=len(predictions) < len(questions), source=name)


def submissions_of(
    questions: list[Question], takers: Mapping[str, Mapping]
) -> dict[str, tuple[Mode, dict[str, Prediction]]]:
    """Submissions by name, of takers that each have a ``mode`` and ``files``, cut to the questions of one split.

    A taker without any of these questions is left out.
    """
    asked = {question.qid for question in questions}
    found = {}
    for name, taker in takers.items():
        predictions: dict[str, Prediction] = {}
        for file in taker["files"]:
            predictions |= read_submission(file, taker["mode"], may_be_empty=True)[1]
        predictions = {qid: prediction for qid, prediction in predictions.items() if qid in asked}
        if predictions:
            found[name] = (taker["mode"], predictions)
    return found
