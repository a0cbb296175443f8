"""A description of a feature file and a check of its contents."""

import math
import os

import numpy as np

from verified.errors import InputError
from verified.io.hdf5 import FeatureFile
from verified.io.jsonl import finite, read_jsonl

SHOWN = 5
"""Keys named in one problem; the rest is counted."""


def inspect_features(path: str | os.PathLike, videos: str | os.PathLike | None = None) -> tuple[list[str], list[str]]:
    """(lines that describe the file, problems found in it).

    Checked are: the attribute `dim` against every data set, values that are not finite, items that are all zero, empty
    data sets, and links whose shard is gone; with `videos` (a videos.jsonl) also the ids, and the number of clips
    against ceil(duration / clip_seconds). Raises InputError for a file that is no feature file.
    """
    file = FeatureFile(path)
    lines = [f"{name}: {value}" for name, value in sorted(file.attributes.items())]
    problems: dict[str, list[str]] = {}
    lengths: dict[str, int] = {}
    smallest, largest = math.inf, -math.inf
    for key in file:
        try:
            features = file[key]
        except InputError as error:
            problems.setdefault("cannot be read", []).append(f"{key} ({error.problem})")
            continue
        lengths[key] = len(features)
        for kind in _unsound(features, file.attributes.get("dim")):
            problems.setdefault(kind, []).append(key)
        if features.size:
            smallest, largest = min(smallest, features.min()), max(largest, features.max())
    if lengths:
        items = np.array(list(lengths.values()))
        lines.append(f"data sets: {len(lengths)}, items: {items.sum()} ({items.min()} to {items.max()} each)")
        lines.append(f"values: {smallest:.4g} to {largest:.4g}")
    else:
        problems["no data set can be read"] = [str(path)]
    if videos is not None:
        _compare(lengths, _videos(videos), file.attributes, problems)
    return lines, [_describe_keys(kind, keys) for kind, keys in problems.items()]


def _unsound(features: np.ndarray, dim: int | None) -> list[str]:
    if features.ndim != 2 or features.shape[1] != dim:
        return [f"not [items, {dim}]"]
    kinds = []
    if not len(features):
        kinds.append("no items")
    if not np.isfinite(features).all():
        kinds.append("values that are not finite")
    elif len(features) and not features.any(axis=1).all():
        kinds.append("items that are all zero")
    return kinds


def _compare(lengths: dict[str, int], videos: list[dict], attributes: dict, problems: dict[str, list[str]]) -> None:
    clip = attributes.get("clip_seconds")
    durations = {row["video"]: row["duration"] for row in videos}
    if not (clip is None or (isinstance(clip, float | int) and 0 < clip < math.inf)):
        problems.setdefault("clip_seconds is no number of seconds", []).append(repr(clip))
        clip = None
    for key in sorted(durations.keys() - lengths.keys()):
        problems.setdefault("videos without features", []).append(key)
    for key in sorted(lengths.keys() - durations.keys()):
        problems.setdefault("features without a video", []).append(key)
    for key in sorted(lengths.keys() & durations.keys()):
        # A frame may be counted to either side of the last clip's border.
        if clip and abs(lengths[key] - durations[key] / clip) > 1:
            text = f"{key} ({lengths[key]} clips, {durations[key]:.1f} s)"
            problems.setdefault("number of clips does not fit the duration", []).append(text)


def _videos(path: str | os.PathLike) -> list[dict]:
    rows = read_jsonl(path, ("video", "duration"))
    for number, row in enumerate(rows, start=1):
        if not isinstance(row["video"], str) or not finite(row["duration"]):
            raise InputError(
                "video must be a text and duration a number of seconds", file=path, row=number, remedy="correct the row"
            )
    return rows


def _describe_keys(kind: str, keys: list[str]) -> str:
    more = f" and {len(keys) - SHOWN} more" if len(keys) > SHOWN else ""
    return f"{kind}: {', '.join(keys[:SHOWN])}{more}"
