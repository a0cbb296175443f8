"""Assignment of items to people, and the key that identifies a set of pages."""

import hashlib
import json

import numpy as np

from verified.runtime.seeds import generator


def assign(total: int, most: int, raters: int, seed: int) -> list[list[int]]:
    """Item numbers (from 1) per person: each item `raters` times, to different people.

    Items are dealt in `raters` rounds to as few people as possible, in shares that differ by at most one. `most` must
    not be above `total`: then occurrences of an item are more than a share apart in the rounds.
    """
    people = -(-total * raters // most)
    rounds = np.tile(np.arange(1, total + 1), raters)
    shares = np.array_split(rounds, people)
    return [
        [int(number) for number in generator(seed, "study", "page", person).permutation(share)]
        for person, share in enumerate(shares, start=1)
    ]


def add_digest(name: str, key: dict) -> dict:
    """`key` with 16 hex digits of its SHA-256 as `name`, which links answers to it."""
    text = json.dumps(key, ensure_ascii=True, sort_keys=True)
    return {name: hashlib.sha256(text.encode()).hexdigest()[:16], **key}
