"""Movies cut into short videos (Table 3, Figure 4): segments side by side, each query in the one it overlaps most."""

import math


def cut_movies(rows: list[dict], seconds: float | None) -> list[dict]:
    """Rows with `movie` renamed to the segment, times counted from its start, and ``origin`` (movie, first second).

    A segment is `seconds` long, the last of a movie takes the rest; None leaves movies whole. Of two segments with the
    same overlap the first is taken. A moment that spans a cut stays whole: the paper does not say, and the Oracle's
    published 99.42 at IoU 0.5 needs it.
    """
    cut = []
    for row in rows:
        segment = 0 if seconds is None else _place(row, seconds)
        first = segment * (seconds or 0.0)
        length = row["duration"] if seconds is None else min(seconds, row["duration"] - first)
        start, end = row["start"] - first, row["end"] - first
        name = row["movie"] if seconds is None else f"{row['movie']}#{segment}"
        where = {"movie": name, "duration": length, "origin": (row["movie"], first)}
        cut.append({**row, **where, "start": start, "end": end})
    return cut


def _place(row: dict, seconds: float) -> int:
    first = int(row["start"] // seconds)
    last = max(first, math.ceil(row["end"] / seconds) - 1)
    overlap = {
        segment: min(row["end"], (segment + 1) * seconds) - max(row["start"], segment * seconds)
        for segment in range(first, last + 1)
    }
    return max(overlap, key=lambda segment: (round(overlap[segment], 9), -segment))
