"""Propose moments for videos that have none: scenes between cuts, merged and split to lengths that suit a caption."""

import itertools
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from verified.config.datasets import Proposals
from verified.io.video import VideoError, file_digest, open_video, probe, stored_array
from verified.keyframes.segmentation import ContentScore, bounds, find_cuts
from verified.runtime.progress import track

SHORTEST_SCENE = 0.6
"""Seconds below which two cuts are one, as PySceneDetect's default of 15 frames at 25 a second has it."""


def scene_spans(
    times: Sequence[float],
    scores: Sequence[float],
    duration: float,
    threshold: float,
    min_seconds: float,
    max_seconds: float,
) -> list[tuple[float, float]]:
    """Spans (seconds) that tile a video of `duration` seconds: scenes, none shorter than `min_seconds` unless it is the
    only one, none longer than `max_seconds`.

    `scores` are content scores of the frames at `times`; scenes are those of PySceneDetect's ContentDetector at
    `threshold`. A scene that is too short joins the shorter of its neighbours (the earlier of equals), the shortest
    first; one that is too long is cut into equal parts, as few as possible.
    """
    cuts = [cut for cut in find_cuts(times, scores, threshold, SHORTEST_SCENE) if 0 < cut < duration]
    spans = bounds(0.0, duration, cuts)
    while len(spans) > 1:
        shortest_at = min(range(len(spans)), key=lambda n: (_length(spans[n]), n))
        if _length(spans[shortest_at]) >= min_seconds:
            break
        neighbours = [n for n in (shortest_at - 1, shortest_at + 1) if 0 <= n < len(spans)]
        first = min(shortest_at, min(neighbours, key=lambda n: (_length(spans[n]), n)))
        spans[first : first + 2] = [(spans[first][0], spans[first + 1][1])]
    return [piece for span in spans for piece in _parts(span, max_seconds)]


def _length(span: tuple[float, float]) -> float:
    return span[1] - span[0]


def _parts(span: tuple[float, float], max_seconds: float) -> list[tuple[float, float]]:
    count = max(1, math.ceil(_length(span) / max_seconds - 1e-9))
    edges = [round(span[0] + _length(span) * n / count, 3) for n in range(count)] + [round(span[1], 3)]
    return list(itertools.pairwise(edges))


def detect_scenes(
    videos: Mapping[str, Path], settings: Proposals, earlier: Mapping[str, dict] | None = None
) -> list[dict]:
    """For each video by id: its probe (as in videos.jsonl) with `scenes`, [start, end] in seconds, or why not.

    A video that cannot be read has
    `reason` and `detail` instead. `earlier`: rows by SHA-256, of videos that are not to be decoded again.
    """
    rows = []
    for video, path in track(videos.items(), "scenes", len(videos), "videos"):
        row: dict[str, Any] = {"video": video, "path": path.as_posix()}
        try:
            if earlier and (digest := file_digest(path)) in earlier:
                rows.append(earlier[digest] | row)
                continue
            row |= probe(path)
            score, times, scores = ContentScore(), [], []
            with open_video(path) as frames:
                for timed in frames:
                    times.append(timed.time)
                    scores.append(score(stored_array(timed.frame, "bgr24")))
        except VideoError as error:
            rows.append({**row, "reason": str(error.reason), "detail": error.detail, "scenes": []})
            continue
        spans = scene_spans(
            times, scores, row["duration"], settings.threshold, settings.min_seconds, settings.max_seconds
        )
        rows.append({**row, "scenes": [list(span) for span in spans]})
    return rows
