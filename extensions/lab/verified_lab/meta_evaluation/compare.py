"""Compare caption metrics on the captions that all of them score."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from verified.benchmark.correlation import Rated, compare_metrics
from verified.errors import InputError
from verified.people.agreement import grade_matrix
from verified_lab.meta_evaluation.judgements import Judged

ALL = "all"


def rated(judged: Sequence[Judged]) -> Rated:
    """Grades as paired for the correlation; whole videos are resampled."""
    people = sorted({who for one in judged for who, _ in one.grades})
    given = [(who, place, grade) for place, one in enumerate(judged) for who, grade in one.grades]
    right = [math.nan if one.right is None else float(one.right) for one in judged]
    return Rated(
        grade_matrix(given, people, range(len(judged))),
        np.array(right),
        [one.clip for one in judged],
        [one.video for one in judged],
    )


def side_by_side(judged: Sequence[Judged], scores: Mapping[str, np.ndarray], resamples: int, seed: int) -> dict:
    """Correlate each metric with human grades, over all captions and by group; `scores` [captions] by metric, NaN for
    none.

    Captions without a score of some metric are dropped for all metrics, and counted by metric. Raises InputError if
    none remains.
    """
    told = ~np.isnan(np.stack([*scores.values()])) if scores else np.zeros((1, 0), bool)
    common = np.asarray(told.all(axis=0))
    if not common.any():
        raise InputError("no judged caption has a score of every metric", remedy="see which metrics lack scores")
    groups = sorted({one.group for one in judged})
    chosen = {ALL: common}
    if len(groups) > 1:
        chosen |= {group or "other": common & np.array([one.group == group for one in judged]) for group in groups}
    return {
        "captions": len(judged),
        "people": len({who for one in judged for who, _ in one.grades}),
        "without_score": {name: int((~row).sum()) for name, row in zip(scores, told)},
        "groups": {name: _group(judged, scores, kept, resamples, seed) for name, kept in chosen.items() if kept.any()},
    }


def _group(
    judged: Sequence[Judged], scores: Mapping[str, np.ndarray], kept: np.ndarray, resamples: int, seed: int
) -> dict:
    members = [one for one, keep in zip(judged, kept) if keep]
    known = [one.right for one in members if one.right is not None]
    return {
        "captions": len(members),
        "clips": len({one.clip for one in members}),
        "videos": len({one.video for one in members}),
        "right": sum(known),
        "wrong": len(known) - sum(known),
        "metrics": compare_metrics({name: row[kept] for name, row in scores.items()}, rated(members), resamples, seed),
    }
