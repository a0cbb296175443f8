"""Speech in a moment, from the segments of its video: [start, end, text], in seconds."""

from collections.abc import Iterable, Sequence
from typing import Any


def spoken_share(segments: Iterable[Sequence[Any]], start: float, end: float) -> float:
    """Share of [start, end), in seconds, in which somebody speaks; segments may overlap."""
    total, reached = 0.0, start
    for first, last, _ in sorted(segments, key=lambda segment: (segment[0], segment[1])):
        first, last = max(first, reached), min(last, end)
        if first < last:
            total, reached = total + last - first, last
    return round(total / (end - start), 4)


LONGEST = 4000
"""Characters of what is said in a moment: three minutes of speech. It is part of prompts; subtitles may hold more."""


def said_within(segments: Iterable[Sequence[Any]], start: float, end: float) -> str:
    """Speech in [start, end), in seconds: the texts whose middle is there, on one line, cut at `LONGEST`."""
    text = " ".join(text for first, last, text in segments if start <= (first + last) / 2 < end)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 2].rsplit(' ', 1)[0]} …"
