"""Score a submission to TVR-Ranking (`verified evaluate`): the list VCMR of the TVR form, by `query_id`."""

import dataclasses
import os
from pathlib import Path

import numpy as np

from verified.benchmark.intervals import mean_of_training
from verified.benchmark.submissions import match
from verified.benchmark.tvr_ranking.metrics import DEPTHS, measures
from verified.benchmark.tvr_ranking.rows import GradedQuery, read_graded_queries
from verified.benchmark.vcmr.submission import read_submission
from verified.errors import InputError


@dataclasses.dataclass(frozen=True)
class GradedEvaluation:
    """A scored submission."""

    queries: list[GradedQuery]
    """Q queries that were scored."""
    lists: list[list[tuple[str, float, float]]]
    """[Q] rows of video, start and end in seconds; the video is "" where video2idx does not know it."""
    values: dict[str, np.ndarray]
    """As of `metrics.measures`."""
    notes: tuple[str, ...]

    def intervals(self) -> dict[str, dict[str, float | None]]:
        """Of each measure the mean in percent and its 95 % interval over queries, whose moments are of many videos."""
        drawn = np.arange(len(self.queries))
        return {name: mean_of_training(values, drawn, unit=100) for name, values in self.values.items()}


def evaluate_files(truth: str | os.PathLike, submission: str | os.PathLike, partial: bool = False) -> GradedEvaluation:
    """Score one file. See `submissions.match` for `partial`. Raises InputError where it has no VCMR lists."""
    queries, given = read_graded_queries(truth), read_submission(Path(submission))
    if "VCMR" not in given.tasks:
        raise InputError("has no VCMR lists", file=submission, remedy="give them, with desc_id for the query_id")
    lists = given.tasks["VCMR"]
    found = match([query.id for query in queries], lists, partial, submission, key="desc_id ")
    names = {number: video for video, number in given.video_index.items()}
    asked = [query for query in queries if query.id in lists]
    rows = [
        [(names.get(int(video), ""), float(start), float(end)) for video, start, end, _ in lists[query.id]]
        for query in asked
    ]
    short = sum(len(own) < DEPTHS[0] for own in rows)
    notes = (f"{short} lists have fewer than {DEPTHS[0]} rows",) if short else ()
    return GradedEvaluation(asked, rows, measures(asked, rows), (*found.notes(), *notes))
