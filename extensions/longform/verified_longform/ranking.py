"""Rankings of all queries of a data set, movie by movie or segment by segment, and their measures."""

from collections.abc import Callable, Sequence

import numpy as np

from verified.benchmark.tiou import Comparison, hits
from verified.runtime.progress import Progress
from verified_longform.chance import expected_recall, hit_shares, oracle_iou, simulate_recall
from verified_longform.grid import Grid
from verified_longform.recall import IOUS, first_hits, mean_over_movies, recall_over_movies

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
    """Oracle (K = 1), Random Chance expected and drawn, for rows of `cut_movies`; and what the movies' ends cost."""
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
