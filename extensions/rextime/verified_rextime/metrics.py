"""ReXTime's measures of one submission, as numbers per question (the official evaluator, commit cb9f484).

A predicted window with score IoU_q against the truth; mIoU and R@1 are percentages, accuracies are fractions. The
official output rounds percentages to two decimals and does not round fractions; `official_result` does the same.
"""

import dataclasses
from collections.abc import Iterable

import numpy as np

from verified.benchmark.tiou import tiou
from verified_rextime.rows import Mode, Prediction, Question

THRESHOLDS = tuple(round(0.3 + 0.05 * step, 2) for step in range(14))
"""tIoU thresholds of R@1: .30, .35, ... .95."""
JOINT_THRESHOLDS = (0.3, 0.5, 0.7)
"""tIoU thresholds of the accuracy that also requires a window."""


@dataclasses.dataclass(frozen=True)
class Scores:
    """Per question: its video, `iou` [n] and `right` [n] (bool), each None if the mode omits it."""

    mode: Mode
    qids: tuple[str, ...]
    videos: tuple[str, ...]
    iou: np.ndarray | None
    right: np.ndarray | None

    def __len__(self) -> int:
        return len(self.qids)


def best_iou(window: tuple[float, float], truth: Iterable[tuple[float, float]]) -> float:
    """IoU of a window with the true window that it meets best (the released files have one each)."""
    return max(float(tiou(*window, *other)) for other in truth)


def _window(prediction: Prediction) -> tuple[float, float]:
    if prediction.window is None:
        raise ValueError("a prediction without a window has no tIoU")
    return prediction.window


def score(questions: list[Question], predictions: dict[str, Prediction], mode: Mode) -> Scores:
    """Numbers per question for the questions that have a prediction, in their order."""
    answered = [question for question in questions if question.qid in predictions]
    iou = right = None
    if mode != "vqa":
        iou = np.array([best_iou(_window(predictions[question.qid]), question.windows) for question in answered])
    if mode != "grounding":
        right = np.array([predictions[question.qid].answer == question.answer for question in answered], dtype=bool)
    qids, videos = (tuple(getattr(question, name) for question in answered) for name in ("qid", "video"))
    return Scores(mode, qids, videos, iou, right)


def ceiling(questions: list[Question]) -> tuple[float, list[str]]:
    """The best mIoU that any submission can reach (%), and the ids that keep it below 100.

    A true window without length has IoU 0 with every prediction. Two of the released 921 are such: 99.78 is perfect.
    """
    empty = [question.qid for question in questions if all(end <= start for start, end in question.windows)]
    return 100 * (1 - len(empty) / len(questions)), empty


def measures(scores: Scores) -> dict[str, np.ndarray]:
    """Every measure as numbers per question [n], in the unit of the official output (% for mIoU and R@1)."""
    values: dict[str, np.ndarray] = {}
    if scores.iou is not None:
        values["mIoU"] = 100 * scores.iou
        values |= {f"R1@{threshold:g}": 100.0 * (scores.iou >= threshold) for threshold in THRESHOLDS}
    if scores.right is not None:
        values["VQA"] = scores.right.astype(np.float64)
    if scores.iou is not None and scores.right is not None:
        for threshold in JOINT_THRESHOLDS:
            values[f"VQA,mIoU@{threshold:g}"] = (scores.right & (scores.iou >= threshold)).astype(np.float64)
    return values


def official_result(scores: Scores) -> dict:
    """The output of the official evaluator, key by key."""
    brief, full = {}, {}
    if scores.iou is not None:
        recalls = {f"{threshold:g}": _percent(scores.iou >= threshold) for threshold in THRESHOLDS}
        full = {"MR-mIoU": _percent(scores.iou), "MR-R1": recalls}
        brief = {"MR-full-R1@0.3": recalls["0.3"], "MR-full-R1@0.5": recalls["0.5"], "MR-full-mIoU": full["MR-mIoU"]}
    if scores.right is None:
        return {"brief": brief, "full": full}
    accuracy = float(scores.right.mean())
    if scores.iou is None:
        return {"brief": {"VQA": accuracy}, "VQA": accuracy}
    joint = {f"VQA,mIoU@{t:g}": float((scores.right & (scores.iou >= t)).mean()) for t in JOINT_THRESHOLDS}
    full["VQA,mIoU"] = joint
    brief = {"VQA": accuracy, **brief, "VQA,mIoU@0.5": joint["VQA,mIoU@0.5"]}
    return {"brief": brief, "VQA": accuracy, "full": full}


def _percent(values: np.ndarray) -> float:
    return float(f"{np.mean(values) * 100:.2f}")
