"""Feature files: links into the shards of a data set, a description, and checks against the videos and captions."""

import logging
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

from verified.benchmark.submissions import list_some
from verified.errors import InputError
from verified.io.files import file_digest
from verified.io.hdf5 import Contents, FeatureFile, link_features
from verified.io.jsonl import finite, read_jsonl

log = logging.getLogger("verified")

ZERO = "items that are all zero"
SHOWN = 5
"""Keys named in one problem; the rest is counted."""
SLACK = 0.05
"""Share of a video's clips that may be missing or too many, and always one clip."""


def fits_duration(clips: int, duration: float, clip_seconds: float) -> bool:
    """Whether a video of `duration` seconds can have so many clips."""
    expected = duration / clip_seconds
    # A last clip that is not whole counts or not, and a frame falls to either side of its border.
    return math.floor(expected) - 1 <= clips <= math.ceil(expected) + 1 or abs(clips - expected) <= SLACK * expected


def describe_second(file: FeatureFile, first: Contents, path: Path) -> Contents:
    """Contents of the second stream of videos whose first, at `path`, has the contents `first`.

    Raises InputError where the streams of a video differ in length.
    """
    second = file.describe(first.lengths, "clips")
    for video, count in first.lengths.items():
        if second.lengths[video] != count:
            raise InputError(
                f"{video!r} has {second.lengths[video]} clips here and {count} in {path}",
                file=file.path,
                remedy="give each clip a row in both, zeros where nothing is said",
            )
    return second


def rate_problem(attributes: Mapping[str, object], clip_seconds: float) -> str | None:
    """Message if a file's attribute `clip_seconds` differs from the configuration's."""
    stated = attributes.get("clip_seconds")
    if stated is None or (finite(stated) and math.isclose(stated, clip_seconds, rel_tol=1e-6)):
        return None
    return f"states clip_seconds {stated}, but it is read as clips of {clip_seconds:g} s"


def feature_problems(
    path: str | os.PathLike,
    durations: Mapping[str, float | None],
    clip_seconds: float | None = None,
    rows: int | None = None,
    missing: list[str] | None = None,
    vectors: bool = False,
) -> Iterator[str]:
    """Problems of a file of which the keys `durations` are read; of videos with their duration in seconds.

    rows: items whose values are checked of each key (default: all). missing: list for the absent keys, if absence is no
    problem. vectors: whether a data set may be one item without a dimension of items.
    """
    file = FeatureFile(path)
    try:
        attributes, present = file.attributes, set(file.keys())
        dim = _width(file)
    except InputError as error:
        yield error.problem
        return
    if clip_seconds and (problem := rate_problem(attributes, clip_seconds)):
        yield problem
    problems: dict[str, list[str]] = {}
    for key, duration in durations.items():
        if key not in present and missing is not None:
            missing.append(key)
            continue
        if key not in present:
            near = next((other for other in sorted(present) if key in (other[2:], other.rsplit(".", 1)[0])), None)
            if near is None and key.startswith("v_") and key[2:] in present:
                near = key[2:]
            problems.setdefault("no features of", []).append(f"{key} (there is {near})" if near else key)
            continue
        try:
            features = file[key] if rows is None else file.rows(key, 0, rows)
            length = file.length(key) if features.ndim else 0
        except InputError as error:
            problems.setdefault("cannot be read", []).append(f"{key} ({error.problem})")
            continue
        if vectors and features.ndim == 1:
            features = features[None]
        for kind in _unsound(features, dim):
            if kind != ZERO:
                problems.setdefault(kind, []).append(f"{key} {[length, *features.shape[1:]] if features.ndim else []}")
        if clip_seconds and duration and not fits_duration(length, duration, clip_seconds):
            text = f"{key} ({length} clips for {duration:.1f} s, {duration / clip_seconds:.0f} expected)"
            problems.setdefault("number of clips does not fit the duration", []).append(text)
    yield from (f"{kind}: {list_some(keys, SHOWN)}" for kind, keys in problems.items())


def _width(file: FeatureFile) -> int | None:
    """The attribute `dim`, or without it the width of the first data set with two dimensions."""
    if "dim" in file.attributes:
        return file.dim
    for key in file:
        try:
            return file.width(key)
        except InputError:
            continue
    return None


def inspect_features(path: str | os.PathLike, videos: str | os.PathLike | None = None) -> tuple[list[str], list[str]]:
    """(lines that describe the file, problems found in it).

    Checked are: the attribute `dim`, or the first width, against every data set, values that are not finite, items that
    are all zero, empty data sets, and links whose shard is gone; with `videos` (a videos.jsonl) also the ids, and the
    number of clips against ceil(duration / clip_seconds). Raises InputError for any other file.
    """
    file = FeatureFile(path)
    lines = [f"{name}: {value}" for name, value in sorted(file.attributes.items())]
    dim = file.attributes["dim"] if "dim" in file.attributes else _width(file)
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
        for kind in _unsound(features, dim):
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
    return lines, [f"{kind}: {list_some(keys, SHOWN)}" for kind, keys in problems.items() if keys]


def _unsound(features: np.ndarray, dim: int | None) -> list[str]:
    if features.ndim != 2 or features.shape[1] != dim:
        return [f"not [items, {dim}]"]
    kinds = []
    if not len(features):
        kinds.append("no items")
    if not np.isfinite(features).all():
        kinds.append("values that are not finite")
    elif len(features) and not features.any(axis=1).all():
        kinds.append(ZERO)
    return kinds


def _compare(lengths: dict[str, int], videos: list[dict], attributes: dict, problems: dict[str, list[str]]) -> None:
    clip = attributes.get("clip_seconds")
    durations = {row["video"]: row["duration"] for row in videos}
    if not (clip is None or (isinstance(clip, float | int) and 0 < clip < math.inf)):
        problems.setdefault("clip_seconds is no number of seconds", []).append(repr(clip))
        clip = None
    problems["videos without features"] = sorted(durations.keys() - lengths.keys())
    problems["features without a video"] = sorted(lengths.keys() - durations.keys())
    for key in sorted(lengths.keys() & durations.keys()):
        if clip and not fits_duration(lengths[key], durations[key], clip):
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


def link_video_features(
    shards: Iterable[str | os.PathLike], videos: str | os.PathLike, output: str | os.PathLike
) -> int:
    """Write the file of links, with the SHA-256 of videos.jsonl as `source_sha256`; returns how many videos it has.

    Raises InputError for shards that do not fit together.
    """
    count = link_features(output, shards, {"source_sha256": file_digest(videos)})
    log.info("video features: %d videos in %s", count, Path(output).name)
    return count
