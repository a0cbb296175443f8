"""Ranked predictions for one query of the same model trained on coarse and on fine captions (Figure 5)."""

import gzip
import json
import os
from collections.abc import Iterable, Mapping

import numpy as np

from verified.common.seeds import generator
from verified.common.video.decode import frame_array, open_video
from verified.figures.canvas import COLOURS, drawing, literal

SHOWN = 4
"""Predictions per model."""
RIGHT = 0.5
"""tIoU from which a prediction in the right video counts as right."""
SIDE = 96
"""Height of the frames, in pixels."""
STRIP = (4.2, 0.55)
"""Width and height of a strip of frames, in inches."""


def read_predictions(path: str | os.PathLike) -> dict[int, list[tuple[str, float, float]]]:
    """VCMR predictions (video, start, end), best first, by query."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        values = json.load(file)
    names = {number: name for name, number in values["video2idx"].items()}
    return {row["desc_id"]: [(names[int(video)], start, end) for video, start, end, *_ in row["predictions"][:SHOWN]]
            for row in values["VCMR"]}  # fmt: skip


def overlap(first: tuple[float, float], second: tuple[float, float]) -> float:
    """tIoU of two spans in seconds."""
    shared = min(first[1], second[1]) - max(first[0], second[0])
    return max(0.0, shared) / (max(first[1], second[1]) - min(first[0], second[0]))


def is_right(prediction: tuple[str, float, float], query: Mapping) -> bool:
    """Whether a prediction names the query's video and at least half of its span."""
    video, start, end = prediction
    return video == query["video"] and overlap((start, end), tuple(query["time"])) >= RIGHT


def choose_query(queries: list[dict], coarse: Mapping, fine: Mapping, seed: int) -> dict:
    """A query that the model trained on fine captions answers first and the other one misses; else any, from `seed`.

    One example shows what the difference looks like; how often it is so stands in the tables.
    """
    order = [queries[place] for place in generator(seed, "predictions").permutation(len(queries))]
    asked = [query for query in order if fine.get(query["desc_id"]) and coarse.get(query["desc_id"])]

    def won(query: dict) -> bool:
        ident = query["desc_id"]
        return is_right(fine[ident][0], query) and not any(is_right(found, query) for found in coarse[ident])

    return next(filter(won, asked), (asked or order)[0])


def frames_of(video: Mapping) -> list[np.ndarray]:
    """Frames [SIDE, width, 3] at even distances over a whole video, as many as fill a strip undistorted."""
    shape = video["width"] / video["height"]
    count = max(2, round(STRIP[0] / (STRIP[1] * shape)))
    times = [(place + 0.5) * video["duration"] / count for place in range(count)]
    found = []
    with open_video(video["path"]) as decoder:
        for _, until, frame in decoder:
            while len(found) < count and times[len(found)] < until:
                found.append(frame_array(frame, (SIDE, round(SIDE * shape))))
            if len(found) == count:
                break
    return found


def draw_predictions(
    query: Mapping,
    ranked: Mapping[str, list[tuple[str, float, float]]],
    videos: Mapping[str, dict],
    paths: Iterable[str | os.PathLike],
) -> None:
    """Draw the predictions of each model (by the name of its training captions) in a column of its own."""
    with drawing(paths, 4.6 * len(ranked), 1.2 * SHOWN + 0.9) as figure:
        start, end = query["time"]
        asked = literal(f"Query: {query['fig_desc']}")
        figure.suptitle(f"{asked}\n(answer: {literal(query['video'])}, {start:g}–{end:g} s)", fontsize=10)
        columns = figure.subfigures(1, len(ranked), squeeze=False)[0]
        for column, (name, found) in zip(columns, ranked.items()):
            column.suptitle(f"trained on {name}", fontsize=9, weight="bold")
            axes = column.subplots(SHOWN, 1, squeeze=False)[:, 0]
            for rank, axis in enumerate(axes, start=1):
                if rank <= len(found):
                    _draw_one(axis, rank, found[rank - 1], query, videos[found[rank - 1][0]])
                else:
                    axis.axis("off")


def _draw_one(axis, rank: int, prediction: tuple[str, float, float], query: Mapping, video: Mapping) -> None:
    name, start, end = prediction
    length = video["duration"]
    images = frames_of(video)
    for place, image in enumerate(images):
        left, right = place * length / len(images), (place + 1) * length / len(images)
        axis.imshow(image, extent=(left, right, 0.4, 1.0), aspect="auto", interpolation="nearest")
    found = is_right(prediction, query)
    colour = COLOURS["statics"] if found else COLOURS["false"]
    axis.barh(0.27, end - start, 0.18, left=start, color=colour, hatch="" if found else "////", edgecolor="white")
    if name == query["video"]:
        first, last = query["time"]
        axis.barh(0.06, last - first, 0.1, left=first, color="white", edgecolor="black", linewidth=1)
    said = "right" if found else "right video" if name == query["video"] else "wrong"
    axis.set_title(f"{rank}. {literal(name)}, {start:g}–{end:g} s: {said}", fontsize=8, loc="left", pad=2)
    axis.set_xlim(0, length)
    axis.set_ylim(0, 1)
    axis.set_yticks([])
    axis.spines["left"].set_visible(False)
    axis.tick_params(labelsize=7)
    if rank == SHOWN:
        axis.set_xlabel("seconds (bar: prediction, outlined: ground truth)", fontsize=8)
