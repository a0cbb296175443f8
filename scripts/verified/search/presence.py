"""Whether a corpus has what is asked for: a probability, learnt from queries whose answers are known.

Every known query is asked twice: of the corpus without the videos that hold such a moment, and of the corpus without as
many others, so that the two differ in nothing else. Three numbers of a search tell them apart as well as the model
allows: the best cosine, how far it stands out from the median of the candidates, and the logarithm of the best span's
score. A logistic regression makes a probability of them, at even odds. Its AUROC is measured on videos that it was not
fitted to; where the interval reaches down to `TELLS` the index cannot tell, and says so instead of a probability.
"""

import numpy as np

from verified.benchmark.auroc import auroc_interval

RESAMPLES = 500
FOLDS = 5
LEAST = 20
"""Queries below which nothing is fitted."""
TELLS = 0.6
"""AUROC that the lower end of the interval must pass: a probability from a weaker one says next to nothing."""
NOT_HERE = 0.5
"""Probability below which the answer is introduced as probably not here."""


def clues(candidates: list, moments: list) -> list[float]:
    """The three numbers of a search (see above)."""
    if not candidates:
        return [-1.0, 0.0, 0.0]
    scores = np.array([one.score for one in candidates])
    shares = np.array([one.score for one in moments]) if moments else np.zeros(1)
    return [float(scores[0]), float(scores[0] - np.median(scores)), float(np.log(max(shares[0], 1e-30)))]


def fit(present: np.ndarray, absent: np.ndarray, videos: list[str], how: str, seed: int) -> dict | None:
    """Weights, and the AUROC with its interval over videos; None for fewer than `LEAST` queries.

    `present`, `absent` [Q, 3]: clues of each query with and without its moment in the corpus; `videos` [Q] its video;
    `how` says by what an absence was known.
    """
    if len(present) < LEAST or len(set(videos)) < FOLDS:
        return None
    from sklearn.model_selection import GroupKFold

    x = np.concatenate([present, absent])
    y = np.r_[np.ones(len(present), bool), np.zeros(len(absent), bool)]
    groups = np.array([*videos, *videos])
    middle, scale = x.mean(axis=0), np.maximum(x.std(axis=0), 1e-6)
    x = (x - middle) / scale
    held_out = np.zeros(len(x))
    for train, test in GroupKFold(FOLDS).split(x, y, groups):
        held_out[test] = _regression(x[train], y[train]).decision_function(x[test])
    value, low, high = auroc_interval(held_out, y, groups, RESAMPLES, seed)
    regression = _regression(x, y)
    return {
        "known_by": how,
        "queries": len(present),
        "auroc": round(value, 4),
        "auroc_interval": [round(low, 4), round(high, 4)],
        "tells": bool(low > TELLS),
        "middle": middle.tolist(),
        "scale": scale.tolist(),
        "weights": regression.coef_[0].tolist(),
        "bias": float(regression.intercept_[0]),
    }


def _regression(x: np.ndarray, y: np.ndarray):
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=1.0).fit(x, y)


def presence(fitted: dict | None, candidates: list, moments: list) -> float | None:
    """Probability that the corpus has what was asked for; None where the index cannot tell."""
    if fitted is None or not fitted["tells"]:
        return None
    x = (np.array(clues(candidates, moments)) - fitted["middle"]) / fitted["scale"]
    return round(float(1 / (1 + np.exp(-(x @ np.array(fitted["weights"]) + fitted["bias"])))), 3)


def hint(fitted: dict | None, here: float | None) -> str:
    """The sentence above a list of results; empty where none is needed."""
    if fitted is None:
        return "Whether this corpus has it at all cannot be told: too few known queries were at hand."
    if not fitted["tells"]:
        return (
            "Whether this corpus has it at all cannot be told: known queries with and without an answer look too alike"
            f" (AUROC {fitted['auroc']:.2f} on {fitted['queries']} queries)."
        )
    if here is not None and here < NOT_HERE:
        return f"Probably not here (probability {here:.0%} that the corpus has it). The nearest moments:"
    return ""
