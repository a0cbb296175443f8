"""Notes on spans that no evaluator refuses and that are rarely meant: reversed, without length, beyond their video, or
in another unit than seconds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from verified.benchmark.submissions import list_some

ROUNDING = 0.05
"""Seconds by which a span may leave its video."""
REACH = 1.4
"""Whole numbers count as segments if true spans reach so many times as far into their videos."""
FRAMES = 5
"""Spans count as frames where their median end is so many durations."""


@dataclass(frozen=True)
class Spans:
    """N spans of queries."""

    ids: np.ndarray
    """[N] id of the query of each."""
    start: np.ndarray
    """[N] seconds."""
    end: np.ndarray
    """[N] seconds."""
    duration: np.ndarray
    """[N] seconds of the span's video, NaN where it is not known."""

    @classmethod
    def of(cls, ids: Sequence, spans: Sequence[np.ndarray], durations: Sequence[float | None]) -> "Spans":
        """Construct from a query's id, spans [n, 2 or more] and duration, each [Q]."""
        counts = [len(each) for each in spans]
        joined = np.concatenate([np.empty((0, 2)), *(np.asarray(each, float)[:, :2] for each in spans if len(each))])
        seconds = np.array([np.nan if duration is None else duration for duration in durations], float)
        return cls(np.repeat(np.array(ids), counts), joined[:, 0], joined[:, 1], np.repeat(seconds, counts))


def span_notes(given: Spans, true: Spans, key: str) -> Iterator[str]:
    """A sentence for each kind of odd span; `key` is the name of an id, with a blank."""
    for name, spans, effect in (
        ("true spans", true, "no answer to them can be right"),
        ("spans", given, "they overlap with nothing"),
    ):
        for kind, odd in (
            ("end before they start", spans.end < spans.start),
            ("have no length", spans.end == spans.start),
        ):
            if odd.any():
                yield f"{odd.sum()} of {len(odd)} {name} {kind}; {effect}: {key}{_ids(spans, odd)}"
        beyond = np.fmax(spans.end - spans.duration, -spans.start)
        outside = beyond > ROUNDING
        if outside.any():
            yield (
                f"{outside.sum()} of {len(outside)} {name} leave their video, by up to {beyond[outside].max():.2f} s:"
                f" {key}{_ids(spans, outside)}"
            )
    if unit := _unit(given, true):
        yield f"all spans look like {unit}, not seconds; they are scored as seconds"


def _ids(spans: Spans, odd: np.ndarray) -> str:
    return list_some(list(dict.fromkeys(spans.ids[odd].tolist())))


def _unit(given: Spans, true: Spans) -> str | None:
    if not len(given.end) or not len(true.end):
        return None
    longest = float(np.nanmax(np.fmax(true.end, true.duration)))
    if given.end.max() <= 1 + 1e-6 and longest > 2:
        return "fractions of the video"
    whole = bool((given.start % 1 == 0).all() and (given.end % 1 == 0).all())
    seconds = np.where(np.isnan(given.duration), longest, given.duration)
    if np.median(given.end / seconds) >= FRAMES:
        return "frames"
    known = np.where(np.isnan(true.duration), longest, true.duration)
    if whole and REACH * (given.end / seconds).max() < (np.fmax(true.end, true.start) / known).max():
        return "indices of segments"
    return None
