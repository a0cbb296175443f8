"""What an index was made from, and whether its model's ranking is better than chance.

A model that has seen a handful of videos, was selected on one, or sees through a network that knows only rendered
shapes, ranks videos in an order that looks like an answer and is none. So the ranking is measured when the index is
built: for captions that no model was trained on, how many of the other videos are behind the right one (a half is
chance). Where that is not better than chance, or nothing could be measured and one of these reasons holds, the model
hardly counts in a search, and every answer says why.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from verified.benchmark.intervals import mean_of_training
from verified.benchmark.vcmr.checkpoint import FORM
from verified.config.retrieval import SELECTION_VIDEOS
from verified.io.fig import COG_KEYS, read_fig
from verified.nn.checkpoint import load_facts
from verified.search.settings import IndexSettings

FEW_VIDEOS = 50
"""A model trained on fewer cannot be expected to rank others."""
NOT_SEEN = {"small-resnet": "a network that has only seen rendered shapes", "grid-conv": "an untrained network"}
"""Image backbones that know nothing of real videos."""
LEAST = 20
"""Queries below which nothing is measured."""
CHANCE, BETTER = 0.5, 0.6
"""Share of other videos behind the right one: by chance, and what the lower end of the interval must exceed."""
OTHERS = 100
"""Most videos that the right one is compared with."""


def reasons(files: Mapping[str, Any], settings: IndexSettings) -> list[str]:
    """Why a ranking may be worth nothing, by what the index is made from (see `search.update.update`)."""
    found = []
    if files.get("checkpoint"):
        by_split = {Path(file).stem: file for file in files["annotations"]}
        facts = load_facts(files["checkpoint"], FORM)
        last = facts.get("epochs") == facts.get("selected_epoch", 0) + 1  # what few videos cannot select
        for split, least, word in (
            (settings.spans.train_split, FEW_VIDEOS, "trained"),
            (None if last else settings.spans.selection_split, SELECTION_VIDEOS, "selected"),
        ):
            count = len({row["video"] for row in read_fig(by_split[split], COG_KEYS)}) if split in by_split else least
            found += [f"{word} on {count} {'video' if count == 1 else 'videos'}"] * (count < least)
    backbone = settings.features.backbone if settings.features else None
    if backbone in NOT_SEEN and not files.get("truth"):  # the demo's own videos are such shapes
        found.append(f"features of {NOT_SEEN[backbone]}")
    return found


def ranked_before(index, queries: Iterable[tuple[str, np.ndarray, frozenset[str]]], seed: int) -> dict | None:
    """Share of the other videos, at most `OTHERS`, that are behind the right one, with its interval over videos.

    `queries`: video, vector [D] and the videos that hold such a moment. None for fewer than `LEAST` queries, or for a
    corpus without others.
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
    value = found["value"]  # without a bound where all are the same
    return {"queries": len(values), "value": value, **{key: found[key] or value for key in ("low", "high")}}


def ranking_of(model: str, before: dict | None, found: list[str]) -> dict:
    """What the manifest holds of its model's ranking: `model`, `reasons`, `before` (see above), `random`."""
    close = before["low"] <= BETTER if before else bool(found)
    return {"model": model, "reasons": found, "before": before, "random": close}


def skill(ranking: Mapping[str, Any]) -> float:
    """From 0, chance, to 1, the right video always first; a half where nothing is known against the model."""
    if ranking["random"]:
        return 0.0
    before = ranking["before"]
    return max(0.0, (before["value"] - CHANCE) / (1 - CHANCE)) if before else 0.5


def caution(ranking: Mapping[str, Any], captions: bool) -> str:
    """What every answer says first of a ranking that is no better than chance; empty of any other.

    `captions`: whether moments were found by what was written.
    """
    if not ranking["random"]:
        return ""
    because = list(ranking["reasons"])
    if before := ranking["before"]:
        because.append(f"the right video is before {before['value']:.0%} of the others, by chance {CHANCE:.0%}")
    told = f"close to random ({'; '.join(because)})."
    if captions:
        return f"Found by what was written about the moments: the ranking by {ranking['model']} is {told}"
    return f"This ranking is {told} Nothing was written about these videos that could be searched."
