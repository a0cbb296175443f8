"""Perturbed captions (section 3.3, Equation 6) and the choice among them by SentenceBERT (Equations 7 and 8).

The paper calls SentenceBERT a "semantic distance" and takes the argmin for positives, the argmax for negatives; with
distance = 1 − cosine these are the most similar positive and the least similar negatives.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from verified.lmm.refusal import same
from verified.lmm.request import Outcome
from verified.lmm.session import Session
from verified.lmm.tasks.perturbations import DYNAMIC_NEGATIVES, POSITIVES, STATIC_NEGATIVES
from verified.nn.sentences import encode

TASK_OF_KIND = {"positives": POSITIVES, "statics": STATIC_NEGATIVES, "dynamics": DYNAMIC_NEGATIVES}
"""Kinds of perturbed captions as the files name them, and their tasks."""


def perturb(moments: list[dict], session: Session, encoder: str, threads: int = 1) -> list[dict]:
    """Rows of perturbations/SHARD.jsonl, one per moment, in order.

    N_pos positives and N_neg negatives of each kind per coarse caption; equal captions share their calls. `encoder`
    embeds captions for the selection.
    """
    outcomes = ask(moments, session)
    rows = [
        _row(moment, {kind: outcomes[kind][number] for kind in TASK_OF_KIND}) for number, moment in enumerate(moments)
    ]
    add_similarities(rows, encoder, threads)
    for row in rows:
        _select(row)
    return rows


def ask(moments: list[dict], session: Session) -> dict[str, list[Outcome]]:
    """Outcomes of the calls of each kind, one per moment, in order."""
    count = session.settings.perturbations
    outcomes: dict[str, list[Outcome]] = {}
    for kind, task in TASK_OF_KIND.items():
        slots = ({"caption": moment["caption"], "count": str(count)} for moment in moments)
        outcomes[kind] = session.ask(task, (session.call(task, filled, count) for filled in slots), len(moments))
    return outcomes


def _row(moment: dict, outcomes: dict[str, Outcome]) -> dict:
    used = {kind: outcome for kind, outcome in outcomes.items() if outcome.status == "ok"}
    return {
        "desc_id": moment["desc_id"],
        "video": moment["video"],
        "caption": moment["caption"],
        **{kind: list(used[kind].parsed.items) if kind in used else [] for kind in outcomes},
        "reasons": {
            kind: outcome.reason if kind in used else f"{outcome.status}: {outcome.reason}"
            for kind, outcome in outcomes.items()
            if outcome.reason
        },
        "refused": {kind: list(outcome.parsed.refused) for kind, outcome in outcomes.items() if outcome.parsed.refused},
        "lineage": {kind: outcome.key for kind, outcome in outcomes.items()},
    }


def add_similarities(rows: list[dict], encoder: str, threads: int) -> None:
    """Add `similarities`: the cosine of each perturbed caption to the coarse one, rounded to six digits."""
    texts = [
        text
        for row in rows
        for text in (row["caption"], *(positive for kind in TASK_OF_KIND for positive in row[kind]))
    ]
    vectors = iter(encode(texts, encoder, threads))
    for row in rows:
        coarse = next(vectors)
        row["similarities"] = {
            kind: [round(float(np.dot(coarse, next(vectors))), 6) for _ in row[kind]] for kind in TASK_OF_KIND
        }


def _select(row: dict) -> None:
    """Add `selected`, None if there is no candidate to select; `reasons` then gives the reason."""
    similarities = row["similarities"]
    row["selected"] = {
        "positive": nearest(row["caption"], row["positives"], similarities["positives"]),
        "statics": farthest(row["statics"], similarities["statics"]),
        "dynamics": farthest(row["dynamics"], similarities["dynamics"]),
    }


def shard_counts(rows: list[dict], count: int, outcomes: dict[str, dict]) -> dict:
    """Counts of a shard; per kind, `complete`, `short` and `without` sum to the moments."""
    kinds = {}
    for kind in TASK_OF_KIND:
        numbers = [len(row[kind]) for row in rows]
        kinds[kind] = {
            "complete": sum(number == count for number in numbers),
            "short": sum(0 < number < count for number in numbers),
            "without": sum(number == 0 for number in numbers),
            "reasons": dict(sorted(Counter(row["reasons"][kind] for row in rows if kind in row["reasons"]).items())),
            "refused": dict(sorted(Counter(r["reason"] for row in rows for r in row["refused"].get(kind, [])).items())),
        }
    complete = sum(all(row["selected"].values()) for row in rows)
    return {
        "moments": len(rows),
        "selected": complete,
        "not_selected": len(rows) - complete,
        "kinds": kinds,
        "calls": outcomes,
    }


def nearest(caption: str, positives: Sequence[str], similarities: Sequence[float]) -> str | None:
    """Equation 7: the positive with the greatest cosine to `caption` that is not the caption itself.

    Case, punctuation and spacing are ignored in this comparison. The first of equals wins; None without any.
    """
    candidates = [index for index, positive in enumerate(positives) if same(positive) != same(caption)]
    return positives[max(candidates, key=lambda index: (similarities[index], -index))] if candidates else None


def farthest(negatives: Sequence[str], similarities: Sequence[float]) -> str | None:
    """Equation 8: the negative with the smallest cosine to the caption; the first of equals, None if there are none."""
    if not negatives:
        return None
    return negatives[min(range(len(negatives)), key=lambda index: (similarities[index], index))]
