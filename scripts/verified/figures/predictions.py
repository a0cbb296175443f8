"""Ranked predictions for one query of the same model trained on coarse and on fine captions (Figure 5)."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from verified.benchmark.lists import NO_VIDEO, Lists, suppress
from verified.benchmark.tiou import tiou
from verified.benchmark.vcmr.submission import read_submission
from verified.figures.canvas import COLOURS, LABEL, drawing, literal, printable
from verified.figures.text import line_height, wrap
from verified.io.video.decode import frame_array, open_video
from verified.runtime.seeds import generator

SHOWN = 4
"""Predictions per model."""
RIGHT = 0.5
"""tIoU from which a prediction in the right video counts as right."""
SIDE = 96
"""Height of the frames, in pixels."""
STRIP = (6.2, 0.75)
"""Width and height of a strip of frames, in inches."""
CONTEXT = 0.5
"""Share of its length by which a strip extends before and after its span; at least CONTEXT_SECONDS."""
CONTEXT_SECONDS = 1.5

Prediction = tuple[str, float, float]


def read_predictions(path: str | Path, nms_threshold: float) -> dict[int, list[Prediction]]:
    """VCMR predictions (video, start, end), best first, by query: distinct spans after the benchmark's NMS."""
    submission = read_submission(path)
    name_of = {number: name for name, number in submission.video_index.items()}
    lists = submission.tasks["VCMR"]
    distinct = suppress(Lists.pad(list(lists.values())), nms_threshold).top(SHOWN)
    return {
        desc_id: [
            (name_of[int(video)], float(start), float(end))
            for video, start, end in zip(distinct.video[query], distinct.start[query], distinct.end[query])
            if video != NO_VIDEO
        ]
        for query, desc_id in enumerate(lists)
    }


def is_right(prediction: tuple[str, float, float], query: Mapping) -> bool:
    """Whether a prediction names the query's video and at least half of its span."""
    video, start, end = prediction
    return video == query["video"] and bool(tiou(start, end, *query["time"]) >= RIGHT)


def choose_query(queries: list[dict], coarse: Mapping, fine: Mapping, seed: int) -> dict:
    """A query that the model trained on fine captions answers first and the other one misses; else any, from `seed`.

    One example illustrates the difference; the tables give its frequency.
    """
    order = [queries[number] for number in generator(seed, "predictions").permutation(len(queries))]
    candidates = [query for query in order if fine.get(query["desc_id"]) and coarse.get(query["desc_id"])]

    def won(query: dict) -> bool:
        ident = query["desc_id"]
        return is_right(fine[ident][0], query) and not any(is_right(prediction, query) for prediction in coarse[ident])

    return next(filter(won, candidates), (candidates or order)[0])


def window(prediction: Prediction, query: Mapping, duration: float) -> tuple[float, float]:
    """The seconds that a strip shows: the predicted span, and the truth where the video is right, with some context."""
    video, start, end = prediction
    if video == query["video"]:
        start, end = min(start, query["time"][0]), max(end, query["time"][1])
    around = max(CONTEXT_SECONDS, CONTEXT * (end - start))
    return max(0.0, start - around), max(min(duration, end + around), start + 0.1)


def frames_of(video: Mapping, start: float, end: float) -> list[np.ndarray]:
    """Frames [SIDE, width, 3] at even distances between two times in seconds, as many as fill a strip undistorted."""
    shape = video["width"] / video["height"]
    count = max(2, round(STRIP[0] / (STRIP[1] * shape)))
    times = [start + (number + 0.5) * (end - start) / count for number in range(count)]
    frames = []
    with open_video(video["path"]) as decoder:
        for timed in decoder:
            while len(frames) < count and times[len(frames)] < timed.until:
                frames.append(frame_array(timed, (SIDE, round(SIDE * shape))))
            if len(frames) == count:
                break
    return frames


def draw_predictions(
    query: Mapping,
    ranked: Mapping[str, list[Prediction]],
    videos: Mapping[str, dict],
    paths: Iterable[str | os.PathLike],
) -> None:
    """Draw the predictions of each model (by the name of its training captions) in a separate column."""
    rows = max(1, *map(len, ranked.values()))
    width = 6.8 * len(ranked)
    start, end = query["time"]
    heading = wrap(f"Query: {printable(query['fig_desc'])}", width - 0.4, LABEL)
    answer = f"(answer: {query['video']}, {start:g}–{end:g} s)"
    with drawing(paths, width, 1.95 * rows + 0.8 + line_height(LABEL) * (len(heading) + 1)) as figure:
        entries = [
            (name, rank, *span, float(_overlap(span, query)), is_right(span, query))
            for name, predictions in ranked.items()
            for rank, span in enumerate(predictions, 1)
        ]
        first = "; ".join(f"trained on {name} first in {video}" for name, rank, video, *_ in entries if rank == 1)
        figure.describe(
            f"What XML finds for the query {query['fig_desc']} {answer}: {first or 'nothing'}",
            ("trained on", "rank", "video", "start", "end", "tIoU", "right"),
            entries,
        )
        figure.suptitle("\n".join(map(literal, [*heading, answer])))
        columns = figure.subfigures(1, len(ranked), squeeze=False)[0]
        for column, (name, predictions) in zip(columns, ranked.items()):
            column.suptitle(f"XML trained on {name}", weight="bold")
            axes = column.subplots(rows, 1, squeeze=False)[:, 0]
            for rank, axis in enumerate(axes, start=1):
                if rank <= len(predictions):
                    _draw_one(axis, rank, predictions[rank - 1], query, videos[predictions[rank - 1][0]])
                else:
                    axis.axis("off")
            axes[-1].set_xlabel("seconds")


def _overlap(prediction: Prediction, query: Mapping) -> float:
    """tIoU with the truth; 0 in another video."""
    name, start, end = prediction
    return float(tiou(start, end, *query["time"])) if name == query["video"] else 0.0


def _draw_one(axis, rank: int, prediction: Prediction, query: Mapping, video: Mapping) -> None:
    name, start, end = prediction
    begin, finish = window(prediction, query, video["duration"])
    images = frames_of(video, begin, finish)
    step = (finish - begin) / max(1, len(images))
    for number, image in enumerate(images):
        left = begin + number * step
        axis.imshow(image, extent=(left, left + step, 0.5, 1.0), aspect="auto", interpolation="nearest")
    right = is_right(prediction, query)
    colour = COLOURS["statics"] if right else COLOURS["false"]
    axis.barh(0.38, end - start, 0.16, left=start, color=colour, hatch="" if right else "////", edgecolor="white")
    for time in (start, end):
        axis.plot([time, time], [0.5, 1.0], color=colour)
    if name == query["video"]:
        first, last = query["time"]
        axis.barh(0.14, last - first, 0.16, left=first, color="white", edgecolor="black", linewidth=1.2)
        side, place = (
            ("left", last) if last < (begin + finish) / 2 or finish - last > first - begin else ("right", first)
        )
        shift = (6 if side == "left" else -6, 0)
        axis.annotate("truth", (place, 0.14), xytext=shift, textcoords="offset points", ha=side, va="center")
    overlaps = f", tIoU {_overlap(prediction, query):.2f}" if name == query["video"] else ""
    verdict = "right" if right else "right video" if name == query["video"] else "wrong video"
    axis.set_title(f"{rank}. {literal(name)}, {start:g}–{end:g} s: {verdict}{overlaps}", loc="left", pad=4)
    axis.set_xlim(begin, finish)
    axis.set_ylim(0, 1)
    axis.set_yticks([])
    axis.spines["left"].set_visible(False)
    axis.locator_params(axis="x", nbins=6)
