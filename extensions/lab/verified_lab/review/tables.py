"""The tables of a review: states of the decisions, agreement of reviewers, and open items."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import combinations

import numpy as np

from verified.people.agreement import grade_matrix, krippendorff_alpha
from verified.tables.table import Table
from verified_lab.review.adjudicate import APPLIED, OPEN, OUTVOTED, STALE, STATES, UNKNOWN
from verified_lab.review.decisions import DECISIONS

SHOWN = 50
"""Decisions that need a look, listed in a table; all of them are in settled.json."""
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


def review_tables(title: str, key: str, adjudication: Mapping, agreed: Mapping) -> list[Table]:
    """Three tables of one data set, from the results of `adjudicate` (`adjudication`) and `agreement` (`agreed`)."""
    counts = Counter((row["reviewer"], row["decision"]) for row in adjudication["decisions"])
    reviewers = sorted({name for name, _ in counts})
    made = Table(
        f"review-{key}",
        f"Review of {title}: decisions by reviewer",
        ("Reviewer", *DECISIONS, "all"),
        tuple(
            (name, *(counts[name, decision] for decision in DECISIONS), sum(counts[name, d] for d in DECISIONS))
            for name in reviewers
        ),
        notes=(_agreement_note(agreed),),
    )
    states = Counter(row["state"] for row in adjudication["decisions"])
    became = Table(
        f"review-{key}-states",
        f"Review of {title}: what became of the decisions",
        ("State", "decisions"),
        tuple((state, states[state]) for state in STATES),
    )
    looked = [
        row
        for row in adjudication["decisions"]
        if row["state"] in (OPEN, OUTVOTED, STALE, UNKNOWN) or (row["state"] == APPLIED and row["why"])
    ]
    open_ = Table(
        f"review-{key}-open",
        f"Review of {title}: conflicts and stale decisions",
        ("Moment", "Reviewer", "Decision", "State", "Why", "File"),
        tuple(
            (
                str(row["desc_id"]),
                row["reviewer"],
                row["decision"],
                row["state"],
                row["why"] or "reviewers differ",
                f"{row['file']}, row {row['row']}",
            )
            for row in looked[:SHOWN]
        ),
        notes=(f"{len(looked)} decisions need a look, {min(len(looked), SHOWN)} are shown.",) if looked else (),
    )
    return [made, became, open_]


def _agreement_note(agreed: Mapping) -> str:
    if not agreed["moments_with_several"]:
        return f"{agreed['moments_reviewed']} moments are reviewed, none by two people, so agreement cannot be told."
    alpha = "cannot be told, all decisions are alike" if agreed["alpha"] is None else f"{agreed['alpha']:.2f}"
    return (
        f"{agreed['moments_reviewed']} moments are reviewed, {agreed['moments_with_several']} by two people or more: "
        f"{agreed['pairs_alike']:.0%} of pairs of decisions are of one kind (kept, changed, rejected), Krippendorff's "
        f"alpha is {alpha}."
    )
