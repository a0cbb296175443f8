"""Equations 7 and 8: the nearest positive and the farthest negative by SentenceBERT.

The paper calls SentenceBERT a "semantic distance" and takes the argmin for positives, the argmax for negatives; with
distance = 1 − cosine these are the most similar positive and the least similar negatives.
"""

from collections.abc import Sequence

from verified.lmm.refusal import same


def nearest(caption: str, positives: Sequence[str], similarities: Sequence[float]) -> str | None:
    """Equation 7: the positive with the greatest cosine to `caption` that is not the caption itself.

    Case, punctuation and spacing do not make a difference to "itself". The first of equals wins; None if none is left.
    """
    candidates = [index for index, positive in enumerate(positives) if same(positive) != same(caption)]
    return positives[max(candidates, key=lambda index: (similarities[index], -index))] if candidates else None


def farthest(negatives: Sequence[str], similarities: Sequence[float]) -> str | None:
    """Equation 8: the negative with the smallest cosine to the caption; the first of equals, None if there are none."""
    if not negatives:
        return None
    return negatives[min(range(len(negatives)), key=lambda index: (similarities[index], index))]
