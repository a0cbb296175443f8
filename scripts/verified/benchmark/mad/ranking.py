"""Rankings of all queries of a data set, film by film or stretch by stretch, and their measures."""

from collections.abc import Callable, Sequence

import numpy as np

from verified.benchmark.mad.chance import drawn_recall, expected_recall, hit_shares, oracle_iou
from verified.benchmark.mad.grid import Grid
from verified.benchmark.mad.recall import IOUS, first_hits, over_films, recall_over_films
from verified.benchmark.tiou import Comparison, hits
from verified.runtime.progress import Progress

Ranker = Callable[[np.ndarray, list[dict]], list[np.ndarray]]
"""Frames [n, dim] of a film or stretch and its rows → spans [n, 2 or more] in seconds per row."""


def rank_rows(
    rows: Sequence[dict], grid: Grid, film: Callable[[str, int, int | None], np.ndarray], ranker: Ranker, label: str
) -> list[np.ndarray]:
    """Predictions of each row of `cut_films`, in their order; a film's frames are read once per film or stretch."""
    by_film: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        by_film.setdefault(row["film"], []).append(number)
    predictions: list[np.ndarray] = [np.zeros((0, 3))] * len(rows)
    progress = Progress(label, len(rows), "queries")
    for numbers in by_film.values():
        film_rows = [rows[number] for number in numbers]
        name, begin = film_rows[0]["origin"]
        whole = name == film_rows[0]["film"]
        first = round(begin * grid.fps)
        last = None if whole else first + grid.frames_of(film_rows[0]["duration"])
        for number, spans in zip(numbers, ranker(film(name, first, last), film_rows), strict=True):
            predictions[number] = spans
        progress.step(len(numbers))
    progress.finish()
    return predictions


def measured(rows: Sequence[dict], predictions: Sequence[np.ndarray], comparison: Comparison) -> dict:
    """Recall in percent [K][IoU] with its interval over films."""
    moments = np.array([[row["start"], row["end"]] for row in rows]).reshape(-1, 2)
    ranks = first_hits([spans[:, :2] for spans in predictions], moments, comparison)
    return recall_over_films(ranks, [row["origin"][0] for row in rows])


def baselines(rows: Sequence[dict], grid: Grid, comparison: Comparison, runs: int, seed: int) -> dict[str, dict]:
    """Oracle (K = 1), Random Chance expected and drawn, for rows of `cut_films`; and what the films' ends cost."""
    frames = [grid.frames_of(row["duration"]) for row in rows]
    films = [row["origin"][0] for row in rows]
    moments = np.array([[row["start"], row["end"]] for row in rows]).reshape(-1, 2)
    best = np.array([oracle_iou(grid, count, *moment) for count, moment in zip(frames, moments, strict=True)])
    reached = hits(best[:, None], np.array(IOUS), comparison)
    shares = np.array(
        [hit_shares(grid, count, *moment, comparison=comparison) for count, moment in zip(frames, moments, strict=True)]
    )
    expected = expected_recall(shares)
    drawn = drawn_recall(grid, frames, moments, seed, runs, comparison=comparison)
    ends = {row["film"]: count for row, count in zip(rows, frames, strict=True)}
    return {
        "oracle": over_films(reached[:, None], films),
        "chance": over_films(expected, films),
        "chance_drawn": {
            "runs": runs,
            "recall": (100 * drawn.mean(axis=0)).tolist(),
            "error": (100 * drawn.std(axis=0) / max(1, runs) ** 0.5).tolist(),
        },
        "tail": {
            "videos": len(ends),
            "seconds": float(sum(grid.uncovered(count) for count in ends.values())),
            "without_windows": sum(not len(grid.starts(count)) for count in ends.values()),
            "queries_without_overlap": int((best <= 0).sum()),
        },
    }
