"""Measures of an answer to a query with any number of moments.

Count accuracy and EtF1 are those of OMTG Bench (arXiv 2606.06294), after its evaluator, VLMEvalKit's
`dataset/omtgbench.py` (commit 160057c). G-mAP is that of QV-M2 (arXiv 2510.17218), after its `standalone_eval`
(commit 3ee65c4); the AUROC of rejection that of Generalized Moment Retrieval (arXiv 2605.02623), where the score of a
query without one of its own is that of its best window.
"""

import numpy as np

from verified.benchmark.tiou import tiou

F1_THRESHOLDS = (0.3, 0.5, 0.7)
PRECISION_THRESHOLDS = np.round(np.arange(0.5, 1, 0.05), 2)
MOST_ROWS = 10
"""Rows of a list that count for average precision."""


def overlaps(rows: np.ndarray, spans: np.ndarray) -> np.ndarray:
    """tIoU [R, n] of rows [R, 2 or more] with true spans [n, 2]."""
    return tiou(rows[:, None, 0], rows[:, None, 1], spans[None, :, 0], spans[None, :, 1])


def count_accuracy(rows: np.ndarray, spans: np.ndarray) -> float:
    """1 if as many spans are answered as are true, else 0."""
    return float(len(rows) == len(spans))


def effective_f1(rows: np.ndarray, spans: np.ndarray) -> float:
    """EtF1: the mean over θ of 0.3, 0.5 and 0.7 of F1@θ, times the count accuracy.

    Rows are matched with true spans one to one so that the sum of their tIoUs is the largest; F1@θ is the harmonic mean
    of the shares of rows and of true spans whose match has a tIoU of at least θ. None of both is 1.
    """
    # Imported here: `verified --help` should not wait for it.
    from scipy.optimize import linear_sum_assignment  # pyright: ignore[reportMissingTypeStubs] (it has none)

    if len(rows) != len(spans):
        return 0.0
    if not len(spans):
        return 1.0
    table = overlaps(rows, spans)
    matched = table[linear_sum_assignment(table, maximize=True)]
    # Rows and true spans are equal in number, and so are their shares.
    return float(np.mean([(matched >= threshold).mean() for threshold in F1_THRESHOLDS]))


def average_precision(rows: np.ndarray, spans: np.ndarray) -> float:
    """The mean of interpolated average precision at tIoUs of 0.50, 0.55, ... 0.95, of the first ten rows, best first.

    A row is right if a true span that no row before has found reaches the tIoU; of several, the nearest is found. G-mAP
    is the mean over queries with a moment. An empty list counts 0; the official code leaves its query out.
    """
    table = overlaps(rows[:MOST_ROWS], spans)
    if not len(table):
        return 0.0
    averages = []
    for threshold in PRECISION_THRESHOLDS:
        free, right = table.copy(), np.zeros(len(table), bool)
        for row, own in enumerate(free):
            best = len(spans) - 1 - int(own[::-1].argmax())  # of equal ones the last, as the official code
            if own[best] >= threshold:
                right[row] = True
                free[:, best] = -1
        precision = np.cumsum(right) / np.arange(1, len(right) + 1)
        averages.append((np.maximum.accumulate(precision[::-1])[::-1] * right).sum() / len(spans))
    return float(np.mean(averages))


def rejection(scores: np.ndarray, has_moment: np.ndarray) -> np.ndarray:
    """Numbers [Q] whose mean is the AUROC of telling queries with a moment by their `scores` [Q]; NaN without both.

    The AUROC is the share of pairs of a query with and one without a moment in which the first has the higher score; a
    tie counts a half. A query's number is the AUROC plus Q/n times the difference of its own share of pairs to it, n
    being the queries of its kind (DeLong et al., 1988), so an interval of the mean over videos is one of the AUROC
    (Obuchowski, 1997).
    """
    with_moment, without = scores[has_moment], scores[~has_moment]
    if not len(with_moment) or not len(without):
        return np.full(len(scores), np.nan)
    wins = (with_moment[:, None] > without) + (with_moment[:, None] == without) / 2
    share, numbers = wins.mean(), np.empty(len(scores))
    numbers[has_moment] = wins.mean(axis=1) - share
    numbers[~has_moment] = wins.mean(axis=0) - share
    return share + numbers * len(scores) / np.where(has_moment, len(with_moment), len(without))


def best_threshold(answers: list[np.ndarray], truths: list[np.ndarray]) -> tuple[float, float]:
    """The score below which rows are not answers so that the mean EtF1 is the highest, the lowest of equal ones, and
    that mean.

    answers: [Q] rows [R, 3] of start, end and score, best first; truths: [Q] true spans.
    """
    # As another count of rows than of true spans is 0, a query adds its EtF1 between two scores, and else nothing.
    above, upto, gain = np.empty((3, len(answers)))
    for query, (rows, spans) in enumerate(zip(answers, truths)):
        scores = np.concatenate([[np.inf], rows[:, 2], [-np.inf]])
        count = len(spans)
        upto[query], above[query] = (scores[count], scores[count + 1]) if count <= len(rows) else (-np.inf, -np.inf)
        gain[query] = effective_f1(rows[:count, :2], spans)
    highest = max((rows[0, 2] for rows in answers if len(rows)), default=0.0)
    candidates = np.unique(np.minimum(upto[upto > above], np.nextafter(highest, np.inf)))
    if not len(candidates):
        return -np.inf, 0.0
    means = [float((gain * ((above < each) & (each <= upto))).mean()) for each in candidates]
    best = int(np.argmax(means))
    return float(candidates[best]), means[best]
