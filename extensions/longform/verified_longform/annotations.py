"""Sentences grounded in movies: MAD's JSON, its check, and the rows that every other part reads.

MAD's form is one object: annotation id → ``{movie, sentence, movie_duration, timestamps, ext_timestamps}``, times in
seconds. A row here is ``{id, movie, sentence, duration, start, end, split}``.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from verified.errors import InputError
from verified.io.files import atomic_path
from verified.io.jsonl import finite, is_span, read_json

Times = Literal["ext_timestamps", "timestamps"]
"""Both official baselines read `ext_timestamps`; the difference of the two is undocumented."""
KEYS = ("movie", "sentence", "movie_duration")


def read_mad(path: str | os.PathLike, split: str, times: Times = "ext_timestamps") -> list[dict]:
    """Rows of one MAD file, in its order, with only their types checked.

    Raises InputError that names file and annotation for any other file: no JSON object, a repeated id, a missing key, a
    sentence that is not text, a time or duration that is not a finite number of seconds.
    """
    path = Path(path)
    values = _object(path)
    return [
        {"id": name, **_row(value, times, path, f"annotation {name!r}"), "split": split}
        for name, value in values.items()
    ]


def _object(path: Path) -> dict:
    values = read_json(path)
    if not isinstance(values, dict):
        raise InputError(
            "expected one object, annotation id → annotation",
            file=path,
            remedy="see extensions/longform/README.md for the form",
        )
    return values


def _row(value: object, times: str, path: Path, place: str) -> dict:
    if not isinstance(value, dict):
        raise InputError(f"{place}: expected an object, found {type(value).__name__}", file=path)
    missing = [key for key in (*KEYS, times) if key not in value]
    if missing:
        needed = f"each needs {', '.join((*KEYS, times))}"
        remedy = "choose the other key with `times`" if missing == [times] else needed
        raise InputError(f"{place}: missing key {', '.join(map(repr, missing))}", file=path, remedy=remedy)
    movie, sentence, duration = (value[key] for key in KEYS)
    if not isinstance(movie, str | int) or isinstance(movie, bool) or not str(movie):
        raise InputError(f"{place}: movie {movie!r:.80} is no id", file=path)
    if not isinstance(sentence, str):
        raise InputError(f"{place}: sentence {sentence!r:.80} is no text", file=path)
    if not finite(duration):
        raise InputError(f"{place}: movie_duration {duration!r:.80} is not a number of seconds", file=path)
    span = value[times]
    if not is_span(span):
        raise InputError(f"{place}: {times} {span!r:.80} is not [start, end] in seconds", file=path)
    start, end = map(float, span)
    return {"movie": str(movie), "sentence": sentence, "duration": float(duration), "start": start, "end": end}


def check_rows(
    rows: Iterable[dict], frames: Mapping[str, int] | None = None, texts: Iterable[str] | None = None
) -> tuple[list[dict], list[dict], dict[str, int]]:
    """(usable rows, excluded rows with `reason`, counts); usable + excluded = rows.

    frames: frames of each movie's features, texts: annotation ids with text features; None if they do not matter. A
    moment that extends over the movie's start or end is cut to it and counted as ``clipped``. Reasons: ``no-sentence``,
    ``no-duration``, ``end-before-start`` (also no length), ``beyond-the-movie``, ``no-movie-features``,
    ``no-text-features``. (The official loader silently reuses the moment of the row before.)
    """
    ids = None if texts is None else set(texts)
    usable, excluded = [], []
    clipped = 0
    for row in rows:
        start, end = max(row["start"], 0.0), min(row["end"], row["duration"])
        if not row["sentence"].strip():
            reason = "no-sentence"
        elif row["duration"] <= 0:
            reason = "no-duration"
        elif row["end"] <= row["start"]:
            reason = "end-before-start"
        elif end <= start:
            reason = "beyond-the-movie"
        elif frames is not None and not frames.get(row["movie"]):
            reason = "no-movie-features"
        elif ids is not None and row["id"] not in ids:
            reason = "no-text-features"
        else:
            clipped += (start, end) != (row["start"], row["end"])
            usable.append({**row, "start": start, "end": end})
            continue
        excluded.append({**row, "reason": reason})
    counts = {"rows": len(usable) + len(excluded), "usable": len(usable), "clipped": clipped}
    return usable, excluded, counts | dict(sorted(Counter(row["reason"] for row in excluded).items()))


def write_mad(path: str | os.PathLike, rows: Iterable[dict]) -> int:
    """Write rows in MAD's form, with both kinds of times the same; returns how many.

    Raises InputError where two rows share an id.
    """
    rows = list(rows)
    values = {
        row["id"]: {
            "movie": row["movie"],
            "sentence": row["sentence"],
            "movie_duration": row["duration"],
            "timestamps": [row["start"], row["end"]],
            "ext_timestamps": [row["start"], row["end"]],
        }
        for row in rows
    }
    if len(values) < len(rows):
        name = Counter(row["id"] for row in rows).most_common(1)[0][0]
        raise InputError(f"annotation id {name!r} occurs twice", file=path)
    with atomic_path(path) as temporary:
        temporary.write_text(json.dumps(values, ensure_ascii=False, allow_nan=False, indent=0) + "\n", encoding="utf-8")
    return len(rows)


def from_moments(rows: Iterable[dict]) -> list[dict]:
    """Rows of `corpus/moments.jsonl` as rows of this stage; splits other than train and val count as test."""
    return [_stage_row(row, row["caption"], (row["start"], row["end"]), row["split"]) for row in rows]


def _split_of(name: str) -> str:
    return name if name in ("train", "val") else "val" if name in ("val_1", "held-out") else "test"


def from_coarse(rows: Iterable[dict], split: str) -> list[dict]:
    """Rows of a VCMR data set in the released coarse form (see `io.fig`) as rows of this stage."""
    return [_stage_row(row, row["cog_desc"], row["time"], split) for row in rows]


def _stage_row(row: dict, sentence: str, span: Sequence[float], split: str) -> dict:
    return {
        "id": str(row["desc_id"]),
        "movie": row["video"],
        "sentence": sentence,
        "duration": float(row["duration"]),
        "start": float(span[0]),
        "end": float(span[1]),
        "split": _split_of(split),
    }
