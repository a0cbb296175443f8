"""Spans that are made false on purpose, so that the audit has something to find."""

import random
from collections.abc import Mapping

from verified.runtime.seeds import derive_seed

KINDS = ("moved", "widened", "cut", "outside")
"""moved: to where the video does not show the moment; widened: three times as long; cut: to a third; outside: its end
is after the video."""
Span = tuple[float, float]


def corrupt_spans(
    spans: Mapping[str, tuple[float, float, float]], share: float, seed: int
) -> dict[str, tuple[str, Span]]:
    """Kind and false span, in seconds, of a share of moments: `spans` have start, end and the video's duration by id.

    Which ones and how follows from the seed and the ids. A moment that its kind has no room for is cut.
    """
    drawn = sorted(spans, key=lambda name: derive_seed(seed, "span", name))[: round(share * len(spans))]
    false = {}
    for number, name in enumerate(drawn):
        start, end, duration = spans[name]
        rng = random.Random(derive_seed(seed, "false span", name))
        kind = KINDS[number % len(KINDS)]
        span = _false_span(kind, start, end, duration, rng)
        if span is None:
            kind, span = "cut", _cut(start, end, rng)
        false[name] = kind, (round(span[0], 3), round(span[1], 3))
    return false


def _false_span(kind: str, start: float, end: float, duration: float, rng: random.Random) -> Span | None:
    length = end - start
    if kind == "moved":
        rooms = [(low, high) for low, high in ((0.0, start), (end, duration)) if high - low >= length]
        if not rooms:
            return None
        low, high = rng.choice(rooms)
        first = rng.uniform(low, high - length)
        return first, first + length
    if kind == "widened":
        before = rng.uniform(0, 2 * length)
        wide = max(0.0, start - before), min(duration, end + 2 * length - before)
        return wide if wide[1] - wide[0] >= 2 * length else None
    if kind == "outside":
        return start, duration + rng.uniform(0.1, 1.0) * length
    return _cut(start, end, rng)


def _cut(start: float, end: float, rng: random.Random) -> Span:
    third = (end - start) / 3
    first = start + rng.choice((0.0, 2 * third))
    return first, first + third
