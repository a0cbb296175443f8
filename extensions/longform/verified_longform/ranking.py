"""Rankings of all queries of a data set, movie by movie or segment by segment, and their measures and bounds.

For Table 3 and Figure 4, movies are cut into segments side by side. The bounds of the proposals are the Oracle, and
Random Chance by expectation and by drawing.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from verified.benchmark.tiou import Comparison, first_ranks, hits, tiou
from verified.runtime.progress import Progress
from verified.runtime.seeds import generator
from verified_longform.grid import Grid
from verified_longform.recall import IOUS, KS, first_hits, mean_over_movies, recall_over_movies


def cut_movies(rows: list[dict], seconds: float | None) -> list[dict]:
    """Rows with `movie` renamed to the segment, times counted from its start, and ``origin`` (movie, first second).

    A segment is `seconds` long, the last of a movie has the rest; None leaves movies whole. Of two segments with the
    same overlap the first is used. A moment that spans a cut remains whole: the paper does not specify it, and the
    Oracle's published 99.42 at IoU 0.5 needs it.
    """
    cut = []
    for row in rows:
        segment = 0 if seconds is None else _place(row, seconds)
        first = segment * (seconds or 0.0)
        length = row["duration"] if seconds is None else min(seconds, row["duration"] - first)
        start, end = row["start"] - first, row["end"] - first
        name = row["movie"] if seconds is None else f"{row['movie']}#{segment}"
        common = {"movie": name, "duration": length, "origin": (row["movie"], first)}
        cut.append({**row, **common, "start": start, "end": end})
    return cut


def _place(row: dict, seconds: float) -> int:
    first = int(row["start"] // seconds)
    last = max(first, math.ceil(row["end"] / seconds) - 1)
    overlap = {
        segment: min(row["end"], (segment + 1) * seconds) - max(row["start"], segment * seconds)
        for segment in range(first, last + 1)
    }
    return max(overlap, key=lambda segment: (round(overlap[segment], 9), -segment))


def near_proposals(grid: Grid, frames: int, start: float, end: float) -> np.ndarray:
    """Proposals of the windows that overlap [start, end] seconds, with repetitions, in clips [P, 2].

    No other proposal of the movie overlaps the moment.
    """
    starts = grid.starts(frames)
    meets = (starts / grid.fps < end) & ((starts + grid.window) / grid.fps > start)
    spans = (starts[meets, None, None] // grid.clip_frames + grid.anchors).reshape(-1, 2)
    return spans[spans[:, 1] * grid.clip_frames <= frames] if frames < grid.window else spans


def oracle_iou(grid: Grid, frames: int, start: float, end: float) -> float:
    """IoU of the movie's best proposal with the moment [start, end] in seconds; 0 without overlap."""
    spans = near_proposals(grid, frames, start, end)
    return float(tiou(start, end, *grid.seconds(spans).T).max(initial=0.0))


def hit_shares(
    grid: Grid,
    frames: int,
    start: float,
    end: float,
    ious: Sequence[float] = IOUS,
    iou_cmp: Comparison = "gt",
) -> np.ndarray:
    """Share of the movie's proposals that hit the moment (seconds), per IoU [ious]; 0 without proposals."""
    total = len(grid.starts(frames)) * len(grid.anchors) if frames >= grid.window else len(grid.proposals(frames))
    if not total:
        return np.zeros(len(ious))
    overlaps = tiou(start, end, *grid.seconds(near_proposals(grid, frames, start, end)).T)
    return hits(overlaps, np.asarray(ious)[:, None], iou_cmp).sum(axis=1) / total


def expected_recall(shares: np.ndarray) -> np.ndarray:
    """Expected recall per query [queries, KS, ious] of K independent uniform draws: 1 − (1 − p)^K.

    The published row of Random Chance is this with p = 0.0885, 0.0387 and 0.0141 % for IoU 0.1, 0.3 and 0.5.
    """
    missed = 1 - np.asarray(shares, np.float64)[..., None, :]
    return 1 - missed ** np.asarray(KS, np.float64)[:, None]


def simulate_recall(
    grid: Grid,
    frames: Sequence[int],
    moments: np.ndarray,
    seed: int,
    runs: int = 100,
    iou_cmp: Comparison = "gt",
) -> np.ndarray:
    """Recall [runs, KS, IOUS] of as many independent runs, each drawing the best K proposals of every query uniformly.

    frames: of each query's movie [queries]; moments: [queries, 2] seconds.
    """
    random = generator(seed, "random chance", runs)
    answered = np.zeros((runs, len(KS), len(IOUS)))
    proposals = {count: grid.seconds(grid.proposals(count)) for count in set(frames)}
    for count, (start, end) in zip(frames, moments, strict=True):
        spans = proposals[count]
        if not len(spans):
            continue
        drawn = spans[random.integers(0, len(spans), (runs, max(KS)))]
        overlaps = tiou(drawn[..., 0], drawn[..., 1], start, end)
        for column, threshold in enumerate(IOUS):
            ranks = first_ranks(hits(overlaps, threshold, iou_cmp))
            answered[:, :, column] += ranks[:, None] <= np.asarray(KS)
    return answered / len(moments)


Ranker = Callable[[np.ndarray, list[dict]], list[np.ndarray]]
"""Frames [n, dim] of a movie or segment and its rows → spans [n, 2 or more] in seconds per row."""


def rank_rows(
    rows: Sequence[dict], grid: Grid, movie: Callable[[str, int, int | None], np.ndarray], ranker: Ranker, label: str
) -> list[np.ndarray]:
    """Predictions of each row of `cut_movies`, in their order; a movie's frames are read once per movie or segment."""
    by_movie: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        by_movie.setdefault(row["movie"], []).append(number)
    predictions: list[np.ndarray] = [np.zeros((0, 3))] * len(rows)
    progress = Progress(label, len(rows), "queries")
    for numbers in by_movie.values():
        movie_rows = [rows[number] for number in numbers]
        name, begin = movie_rows[0]["origin"]
        whole = name == movie_rows[0]["movie"]
        first = round(begin * grid.fps)
        last = None if whole else first + grid.frames_of(movie_rows[0]["duration"])
        for number, spans in zip(numbers, ranker(movie(name, first, last), movie_rows), strict=True):
            predictions[number] = spans
        progress.step(len(numbers))
    progress.finish()
    return predictions


def measure_recall(rows: Sequence[dict], predictions: Sequence[np.ndarray], iou_cmp: Comparison) -> dict:
    """Recall in percent [K][IoU] with its interval over movies."""
    moments = np.array([[row["start"], row["end"]] for row in rows]).reshape(-1, 2)
    ranks = first_hits([spans[:, :2] for spans in predictions], moments, iou_cmp)
    return recall_over_movies(ranks, [row["origin"][0] for row in rows])


def baselines(rows: Sequence[dict], grid: Grid, iou_cmp: Comparison, runs: int, seed: int) -> dict[str, dict]:
    """Oracle (K = 1), Random Chance expected and drawn, for rows of `cut_movies`; and losses at the movies' ends."""
    frames = [grid.frames_of(row["duration"]) for row in rows]
    movies = [row["origin"][0] for row in rows]
    moments = np.array([[row["start"], row["end"]] for row in rows]).reshape(-1, 2)
    best = np.array([oracle_iou(grid, count, *moment) for count, moment in zip(frames, moments, strict=True)])
    reached = hits(best[:, None], np.array(IOUS), iou_cmp)
    shares = np.array(
        [hit_shares(grid, count, *moment, iou_cmp=iou_cmp) for count, moment in zip(frames, moments, strict=True)]
    )
    expected = expected_recall(shares)
    drawn = simulate_recall(grid, frames, moments, seed, runs, iou_cmp=iou_cmp)
    ends = {row["movie"]: count for row, count in zip(rows, frames, strict=True)}
    return {
        "oracle": mean_over_movies(reached[:, None], movies),
        "chance": mean_over_movies(expected, movies),
        "chance_drawn": {
            "runs": runs,
            "recall": (100 * drawn.mean(axis=0)).tolist(),
            "error": (100 * drawn.std(axis=0) / max(1, runs) ** 0.5).tolist(),
        },
        "tail": {
            "videos": len(ends),
            "seconds": float(sum(grid.uncovered_seconds(count) for count in ends.values())),
            "without_windows": sum(not len(grid.starts(count)) for count in ends.values()),
            "queries_without_overlap": int((best <= 0).sum()),
        },
    }
