"""Agreement of reviewers: each reviewer's verdict on a moment, and Krippendorff's alpha."""

from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations

import numpy as np

from verified.people.agreement import grade_matrix, krippendorff_alpha
from verified_lab.review.adjudicate import APPLIED, OPEN, OUTVOTED

KEPT, CHANGED, REJECTED = range(3)
CODE = {"accept": KEPT, "choose": CHANGED, "edit": CHANGED, "reject": REJECTED}


def agreement(decisions: Iterable[dict]) -> dict:
    """For valid decisions (see `adjudicate`): reviewers, moments with two or more of them, the share of pairs of
    decisions that are of one kind (unchanged, changed, rejected), and alpha (None without any pair).
    """
    by_moment: dict[int, dict[str, int]] = defaultdict(dict)
    for row in decisions:
        if row["decision"] in CODE and row["state"] in (APPLIED, OUTVOTED, OPEN):
            by_moment[row["desc_id"]][row["reviewer"]] = CODE[row["decision"]]
    reviewers = sorted({name for codes in by_moment.values() for name in codes})
    pairs = [first == second for codes in by_moment.values() for first, second in combinations(codes.values(), 2)]
    grades = ((name, moment, code) for moment, codes in by_moment.items() for name, code in codes.items())
    return {
        "reviewers": reviewers,
        "moments_reviewed": len(by_moment),
        "moments_with_several": sum(len(codes) > 1 for codes in by_moment.values()),
        "pairs_alike": float(np.mean(pairs)) if pairs else None,
        "alpha": krippendorff_alpha(grade_matrix(grades, reviewers, list(by_moment)), "nominal"),
    }
