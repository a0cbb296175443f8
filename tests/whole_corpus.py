"""All of a small corpus at once, from its folder of videos and its moments file."""

from pathlib import Path
from typing import NamedTuple

from verified.corpus.folder_source import Reading


class Corpus(NamedTuple):
    """The rows of moments.jsonl, videos.jsonl and exclusions.jsonl, and the object of counts.json."""

    moments: list[dict]
    videos: list[dict]
    exclusions: list[dict]
    counts: dict


def read_folder(videos: Path | str, moments: Path | str, default_split: str, published: bool = False) -> Corpus:
    """All of a small corpus at once (see `Reading`)."""
    reading = Reading(videos, moments, default_split, published=published)
    return Corpus([*reading.moments()], [*reading.videos()], [*reading.exclusions()], reading.counts())
