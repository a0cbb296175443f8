"""Self-contained pages for people: each includes its clips, works from a file and needs no network.

Also the assignment of items to people, and the key that identifies a set of pages.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from verified.io.files import atomic_path
from verified.io.pages import data_url, page, write_page
from verified.runtime.seeds import generator

FOLDER = Path(__file__).resolve().parent / "pages"
QUESTIONS = (FOLDER / "questions", FOLDER / "clip")
"""Parts of pages that ask about clips."""
STUDY = (*QUESTIONS, FOLDER / "study")
Parts = tuple[Path, ...]
"""The parts of a kind of page in addition to the common ones, by their paths without suffix."""


class Page(NamedTuple):
    """One page: `data` by the id of its element, `clips` (MP4) likewise."""

    file: str
    title: str
    data: Mapping[str, object]
    clips: Mapping[str, bytes]


def write_pages(folder: Path, kind: Parts, contents: Iterable[Page]) -> int:
    """Write pages of a kind into `folder`; returns their number."""
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for content in contents:
        clips = {name: f'"{data_url("video/mp4", clip)}"' for name, clip in content.clips.items()}
        with atomic_path(folder / content.file) as temporary:
            write_page(temporary, page([FOLDER / "people", *kind], content.title, {**content.data, **clips}))
        count += 1
    return count


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
