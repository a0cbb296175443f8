"""Whether a corpus contains a query's answer, by its captions.

A sentence that is no nearer to any caption than many `UNRELATED` ones is probably off topic. The limit is a quantile of
their scores in this corpus, with a known rate of misses: `PASSES`.
"""

import numpy as np

from verified_search.captions import KINDS, Captions

PASSES = 0.1
"""Share of unrelated sentences that may be mistaken for content of the corpus."""
TOO_NEAR = 0.5
"""Cosine of that quantile beyond which the corpus shows too many of the sentences: they are no measure of absence."""
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


def nearest_caption(captions: Captions, sentence: str) -> float:
    """The largest cosine, from 0 to 1, of a sentence with a caption; `captions` are not empty."""
    scores = captions.scores(sentence)
    return max(float(scores[kind].max()) for kind in KINDS if kind in scores)


def unrelated_scores(captions: Captions) -> list[float]:
    """`nearest_caption` of each unrelated sentence; empty without captions, or if many sentences are too near."""
    scores = [round(nearest_caption(captions, one), 4) for one in UNRELATED] if captions.all else []
    return scores if scores and np.quantile(scores, 1 - PASSES) < TOO_NEAR else []


def hint(unrelated: float | None) -> str:
    """The sentence above a list of results, or an empty text.

    `unrelated`: share of the unrelated sentences that are as near to a caption; None in an index without this
    measurement.
    """
    if unrelated is None:
        return "Whether this corpus has it at all cannot be told: no captions, or captions of all kinds of things."
    if unrelated > PASSES:
        return (
            f"Probably not here ({unrelated:.0%} of {len(UNRELATED)} unrelated sentences are as near to a caption)."
            " The nearest moments:"
        )
    return ""
