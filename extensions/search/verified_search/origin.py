"""A test of an index's model against chance.

A model trained on few videos, or built on features of rendered shapes, can return an order without information. So the
ranking is measured at build time: for captions outside every model's training, the share of other videos ranked behind
the right one (a half is chance). If that is no better than chance, or if a trained model cannot be measured, the model
gets almost no weight in a search, and every answer says so.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from verified.benchmark.intervals import mean_of_training
from verified_search.config import JOINT

LEAST = 20
"""Fewest queries for a measurement."""
CHANCE, BETTER = 0.5, 0.6
"""Share of other videos behind the right one: by chance, and the threshold for the lower end of the interval."""
OTHERS = 100
"""Most videos that the right one is compared with."""


def ranked_before(index, queries: Iterable[tuple[str, np.ndarray, frozenset[str]]], seed: int) -> dict | None:
    """Share of the other videos, at most `OTHERS`, ranked behind the right one, with its interval over videos.

    `queries`: video, vector [D] and the videos with such a moment. None for fewer than `LEAST` queries, or for a corpus
    without others.
    """
    names = sorted(index.positions)
    draw = np.random.default_rng(seed)
    names = sorted(draw.choice(names, OTHERS, replace=False).tolist()) if len(names) > OTHERS else names
    if not names:
        return None
    clips = [index.clip_vectors(video) for video in names]
    stacked, starts = np.concatenate(clips), np.cumsum([0, *map(len, clips[:-1])])
    values, videos = [], []
    for video, vector, holders in queries:
        others = np.array([name not in holders and name != video for name in names])
        if video not in index.positions or not others.any():
            continue
        own = (index.clip_vectors(video) @ vector).max()
        best = np.maximum.reduceat(stacked @ vector, starts)[others]
        values.append(np.mean((best < own) + 0.5 * (best == own)))
        videos.append(video)
    if len(values) < LEAST or len(set(videos)) < 2:
        return None
    found = mean_of_training(np.array(values), videos)
    value = found["value"]  # without a bound where all are equal
    return {"queries": len(values), "value": value, **{key: found[key] or value for key in ("low", "high")}}


def ranking_of(model: str, before: dict | None) -> dict:
    """The manifest's entry on the model's ranking: `model`, `before` (see above), and `trusted`."""
    return {"model": model, "before": before, "trusted": before["low"] > BETTER if before else model == JOINT}


def skill(ranking: Mapping[str, Any]) -> float:
    """From 0 (chance) to 1 (the right video always first); a half for a joint encoder without a measurement."""
    if not ranking["trusted"]:
        return 0.0
    before = ranking["before"]
    return max(0.0, (before["value"] - CHANCE) / (1 - CHANCE)) if before else 0.5


def caution(ranking: Mapping[str, Any], captions: bool) -> str:
    """The first sentence of every answer whose ranking is not trusted; empty otherwise.

    `captions`: True if captions contributed to the moments.
    """
    if ranking["trusted"]:
        return ""
    if before := ranking["before"]:
        measured = f"the right video is before {before['value']:.0%} of the others, by chance {CHANCE:.0%}"
        text = f"close to random ({measured})."
    else:
        text = f"not measured (fewer than {LEAST} captions outside its training)."
    if captions:
        return f"Found by what was written about the moments: the ranking by {ranking['model']} is {text}"
    return f"This ranking is {text} Nothing was written about these videos that could be searched."
