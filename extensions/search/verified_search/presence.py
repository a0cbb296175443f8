"""The probability that a corpus contains a query's answer, fitted on queries with known answers.

Every known query is searched twice: in the corpus without the videos of its moment, and in the corpus without as many
other videos, so that sizes are equal. Three features separate the two cases: the best cosine, its distance above the
median of the candidates, and the logarithm of the best span's score. A logistic regression converts them to a
probability, at even odds. Its AUROC is measured on videos outside the fit; if the interval reaches down to `TELLS`, no
probability is given.

Then the captions decide: a sentence that is no nearer to any caption than many `UNRELATED` ones is probably off topic.
The limit is a quantile of their scores in this corpus, with a known rate of misses: `PASSES`.
"""

import numpy as np

from verified.benchmark.correlation import auroc_interval
from verified_search.captions import KINDS, Captions

RESAMPLES = 500
FOLDS = 5
LEAST = 20
"""Fewest queries for a fit."""
TELLS = 0.6
"""Threshold of the AUROC's lower interval end: a probability from a weaker fit is meaningless."""
PASSES = 0.1
"""Share of unrelated sentences that may be mistaken for content of the corpus."""
TOO_NEAR = 0.5
"""Cosine of that quantile beyond which the corpus shows too many of the sentences: they are no measure of absence."""
UNLIKELY = 0.5
"""Probability below which the answer is introduced as probably not here."""

_SENTENCES = """
    a man cooks soup; a woman washes the dishes; an old man rides a motorcycle; a child climbs a rock; somebody
    jumps into a lake; a girl folds a shirt; a man reads a newspaper; a woman throws a ball; an old man sings
    into a microphone; a child cuts an onion; somebody feeds pigeons; a girl repairs a computer; a man plays
    the drums; a woman lifts weights; an old man sweeps the floor; a child pours coffee; somebody opens a door;
    a girl sews a dress; a man paddles a canoe; a woman milks a cow; an old man shoots an arrow; a child saws a
    plank; somebody waters the flowers; a girl knits a scarf; a man plays cards; a woman irons a shirt; an
    old man catches a fish; a child makes a bed; somebody kicks a football; a girl carries bricks; a man peels
    potatoes; a woman draws a portrait; an old man combs her hair; a child skates on ice; somebody blows out
    candles; a girl packs a suitcase; a man pushes a cart; a woman types a letter; an old man does yoga; a
    child lights a fire; a castle on a hill; a whale in the ocean; a desert at noon; a church tower; a vase of
    tulips; an operating theatre; a row of bookshelves; a frozen waterfall; a bowl of strawberries; a parrot on
    a branch; a market with vegetables; a tank on parade; a swimming pool; a rocket launch; a spider in its web;
    a birthday cake; a sheep in a pen; a clown at the circus; a volcano erupts; a sewing machine; a bridge over
    a river; an owl at night; a pile of coins; a pair of shoes; a kangaroo hops; a hospital corridor; a bakery;
    a mountain lake; a supermarket; a helicopter; a turtle swims; a cornfield; a violin; a goat eats grass; a
    lighthouse; a tennis court; a crying baby; a haircut; a sunset; a blacksmith
"""
UNRELATED = tuple(" ".join(sentence.split()) for sentence in _SENTENCES.split(";"))
"""Common content of all kinds of videos; see `TOO_NEAR` for a corpus that has much of it."""


def clues(candidates: list, moments: list) -> list[float]:
    """The three features of a search (see above)."""
    if not candidates:
        return [-1.0, 0.0, 0.0]
    scores = np.array([one.score for one in candidates])
    shares = np.array([one.score for one in moments]) if moments else np.zeros(1)
    return [float(scores[0]), float(scores[0] - np.median(scores)), float(np.log(max(shares[0], 1e-30)))]


def fit(present: np.ndarray, absent: np.ndarray, videos: list[str], how: str, seed: int) -> dict | None:
    """Weights, and the AUROC with its interval over videos; None for fewer than `LEAST` queries.

    `present`, `absent` [Q, 3]: clues of each query with and without its moment in the corpus; `videos` [Q] its video;
    `how` names the source of the absences.
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
    """Probability that the corpus has an answer; None if the index has no fit."""
    if fitted is None or not fitted["tells"]:
        return None
    x = (np.array(clues(candidates, moments)) - fitted["middle"]) / fitted["scale"]
    return round(float(1 / (1 + np.exp(-(x @ np.array(fitted["weights"]) + fitted["bias"])))), 3)


def nearest_caption(captions: Captions, sentence: str) -> float:
    """The largest cosine, from 0 to 1, of a sentence with a caption; `captions` are not empty."""
    scores = captions.scores(sentence)
    return max(float(scores[kind].max()) for kind in KINDS if kind in scores)


def unrelated_scores(captions: Captions) -> list[float]:
    """`nearest_caption` of each unrelated sentence; empty without captions, or if many sentences are too near."""
    scores = [round(nearest_caption(captions, one), 4) for one in UNRELATED] if captions.all else []
    return scores if scores and np.quantile(scores, 1 - PASSES) < TOO_NEAR else []


def hint(fitted: dict | None, probability: float | None, unrelated: float | None) -> str:
    """The sentence above a list of results, or an empty text.

    `unrelated`: share of the unrelated sentences that are as near to a caption; None in an index without this
    measurement.
    """
    if fitted is not None and fitted["tells"]:
        if probability is not None and probability < UNLIKELY:
            return f"Probably not here (probability {probability:.0%} that the corpus has it). The nearest moments:"
        return ""
    if unrelated is None:
        return "Whether this corpus has it at all cannot be told: no captions, or captions of all kinds of things."
    if unrelated > PASSES:
        return (
            f"Probably not here ({unrelated:.0%} of {len(UNRELATED)} unrelated sentences are as near to a caption)."
            " The nearest moments:"
        )
    return ""
