"""Submissions that look at no video: the whole video with the letter A, and a random span with a random letter.

A random span is two uniform draws from the video, in order. Its scores are also computed exactly: the two draws are a
point of a triangle, and the points whose IoU with the truth is at least t form a region with straight edges.
"""

import random
from collections.abc import Iterable
from functools import reduce
from operator import add

import numpy as np

from verified.benchmark.rextime.metrics import JOINT_THRESHOLDS, THRESHOLDS
from verified.benchmark.rextime.rows import LETTERS, Prediction, Question
from verified.runtime.seeds import derive_seed

NODES = 200
"""Nodes of the Gauss-Legendre rule that integrates the mean IoU over thresholds."""


def whole_video(questions: Iterable[Question]) -> dict[str, Prediction]:
    """Baseline with the whole video as window and letter A."""
    return {question.qid: Prediction((0.0, question.duration), "A") for question in questions}


def uniform_random(questions: Iterable[Question], seed: int) -> dict[str, Prediction]:
    """A random span and a random letter for each question; a function of seed and id."""
    predictions = {}
    for question in questions:
        draw = random.Random(derive_seed(seed, "rextime random", question.qid))
        start, end = sorted(draw.uniform(0, question.duration) for _ in range(2))
        predictions[question.qid] = Prediction((start, end), draw.choice(LETTERS))
    return predictions


def expected_random(questions: Iterable[Question]) -> dict[str, float]:
    """Expected measures of `uniform_random` over all draws, in the unit of the official output.

    The first true window counts; a window is cut to the video, in which the random span is.
    """
    spans = np.array([(*question.windows[0], question.duration) for question in questions], dtype=np.float64)
    start, end = (np.clip(spans[:, side] / spans[:, 2], 0, 1) for side in (0, 1))
    reach = {threshold: reach_probability(start, end, threshold) for threshold in THRESHOLDS}
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    mean = reduce(add, (w / 2 * reach_probability(start, end, (x + 1) / 2) for x, w in zip(nodes, weights)))
    measures = {"mIoU": 100 * float(mean.mean())}
    measures |= {f"R1@{t:g}": 100 * float(share.mean()) for t, share in reach.items()}
    measures |= {"VQA": 1 / len(LETTERS)}
    return measures | {f"VQA,mIoU@{t:g}": float(reach[t].mean()) / len(LETTERS) for t in JOINT_THRESHOLDS}


def reach_probability(start: np.ndarray, end: np.ndarray, threshold: float) -> np.ndarray:
    """Probability [n] that a random span has IoU ≥ `threshold` > 0 with [start, end] [n], all in a video of length 1.

    For a random start u, the ends v that reach it form an interval whose length is linear in u between kinks: up to the
    true start, v is between start + t (end − u) and u + length / t; within the truth, between u + t · length and start
    + (end − u) / t; never beyond 1. The areas of the pieces are added up.
    """
    length = end - start
    with np.errstate(divide="ignore", invalid="ignore"):
        before = _area(
            np.maximum(0, end - length / threshold),
            start,
            1 - length / threshold,
            lambda u: np.minimum(1, u + length / threshold) - (start + threshold * (end - u)),
        )
        within = _area(
            start,
            end - threshold * length,
            end - threshold * (1 - start),
            lambda u: np.minimum(1, start + (end - u) / threshold) - (u + threshold * length),
        )
    return np.where(length > 0, 2 * (before + within), 0.0)


def _area(low: np.ndarray, high: np.ndarray, kink: np.ndarray, height) -> np.ndarray:
    """Integral from `low` to `high` of a function that is linear on both sides of `kink` and not below 0."""
    high = np.maximum(low, high)
    kink = np.clip(kink, low, high)
    left = (kink - low) * (height(low) + height(kink)) / 2
    return np.maximum(0, left + (high - kink) * (height(kink) + height(high)) / 2)


def submission_rows(predictions: dict[str, Prediction]) -> list[dict]:
    """Rows in the form of a submission."""
    rows = []
    for qid, prediction in predictions.items():
        row: dict = {"qid": qid}
        if prediction.window is not None:
            row["pred_relevant_windows"] = [[round(value, 3) for value in prediction.window]]
        if prediction.answer is not None:
            row["ans"] = prediction.answer
        rows.append(row)
    return rows
