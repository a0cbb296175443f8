"""Which captions people grade, and who grades which (supplement A.2 and D)."""

import hashlib
import json
from collections.abc import Iterable

import numpy as np

from verified.common.errors import InputError
from verified.common.fig import TYPES
from verified.common.seeds import generator

GRADES = ("statics", "dynamics", "accuracy")
"""The three questions: richer static information (0 or 1), richer dynamic information (0 or 1), accuracy (1 to 5)."""


def plan(
    dataset: str, title: str, annotations: Iterable[dict], captions: int, questions: int, raters: int, seed: int
) -> dict:
    """The study's key: its questions with what they ask about, and the questions of each participant.

    `captions` statics and as many dynamics captions are drawn without replacement; a data set that has fewer gives all
    it has. Every question goes to `raters` different participants, who get at most `questions` each, in an order of
    their own. Raises InputError for annotations without caption types.
    """
    rows = list(annotations)
    if any("fig_desc_type" not in row for row in rows):
        raise InputError(
            f"the annotations of {dataset} do not say which captions are statics and which dynamics",
            remedy="a study needs annotations made by this workflow",
        )
    drawn = []
    for kind in TYPES:
        of_kind = sorted((row for row in rows if row["fig_desc_type"] == kind), key=lambda row: row["desc_id"])
        order = generator(seed, "study", dataset, kind).permutation(len(of_kind))[:captions]
        drawn += [of_kind[index] for index in order]
    if not drawn:
        raise InputError(f"{dataset} has no captions to ask about")
    asked = [
        {
            "question": number,
            "desc_id": row["desc_id"],
            "video": row["video"],
            "time": row["time"],
            "type": row["fig_desc_type"],
            "coarse": row["cog_desc"],
            "fine": row["fig_desc"],
        }
        for number, row in enumerate((drawn[index] for index in _order(len(drawn), seed, dataset)), start=1)
    ]
    key = {
        "dataset": dataset,
        "title": title,
        "seed": seed,
        "raters": raters,
        "questions": asked,
        "participants": assign(len(asked), min(questions, len(asked)), raters, seed),
    }
    return {"study": _digest(key), **key}


def _order(count: int, seed: int, dataset: str) -> np.ndarray:
    return generator(seed, "study", dataset, "questions").permutation(count)


def assign(total: int, most: int, raters: int, seed: int) -> list[list[int]]:
    """Question numbers (from 1) per participant: each question `raters` times, none the same one twice.

    Questions are dealt in `raters` rounds to as few participants as possible, in shares that differ by at most one.
    `most` must not be above `total`: then the same question lies more than a share apart in the rounds.
    """
    people = -(-total * raters // most)
    rounds = np.tile(np.arange(1, total + 1), raters)
    shares = np.array_split(rounds, people)
    return [
        [int(number) for number in generator(seed, "study", "page", participant).permutation(share)]
        for participant, share in enumerate(shares, start=1)
    ]


def _digest(key: dict) -> str:
    text = json.dumps(key, ensure_ascii=True, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
