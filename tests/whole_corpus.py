"""All of a small corpus at once, from its folder of videos and its moments file."""

import os
from typing import NamedTuple

from verified.corpus.folder_source import Probes, Reading


class Corpus(NamedTuple):
    """The rows of moments.jsonl, videos.jsonl and exclusions.jsonl, and the object of counts.json."""

    moments: list[dict]
    videos: list[dict]
    exclusions: list[dict]
    counts: dict


def read_folder(
    videos: str | os.PathLike,
    moments: str | os.PathLike,
    default_split: str,
    threads: int = 1,
    probes: Probes | None = None,
    published: bool = False,
) -> Corpus:
    """All of a small corpus at once (see `Reading`)."""
    reading = Reading(videos, moments, default_split, threads, probes, published)
    return Corpus([*reading.moments()], [*reading.videos()], [*reading.exclusions()], reading.counts())
