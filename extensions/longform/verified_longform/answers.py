"""Grounding in movies for comparisons: annotations in MAD's form."""

from pathlib import Path

import numpy as np

from verified.benchmark.lists import suppress_spans
from verified.benchmark.submissions import Answers, Query, match
from verified_longform.annotations import check_rows, read_mad
from verified_longform.recall import DEPTH, IOUS, KS, first_hits
from verified_longform.submission import read_submission


class MovieTruth:
    """Sentences in movies; metrics are named IoU=θ/R@K, and an IoU above θ is a hit, as in the paper's text."""

    compared: tuple[str, ...] = ("IoU=0.5/R@1", "IoU=0.5/R@5", "IoU=0.3/R@1", "IoU=0.1/R@1")
    table_metrics: tuple[str, ...] = tuple(f"IoU={threshold:g}/R@{k}" for threshold in reversed(IOUS) for k in KS[:3])
    ending: str = ".jsonl"

    def __init__(self, path: Path):
        self.rows, self.excluded, _ = check_rows(read_mad(path, "test"))

    def queries(self) -> list[Query]:
        """The annotations that can be used."""
        return [
            Query(row["id"], row["movie"], row["start"], row["end"], row["sentence"], None, row["duration"])
            for row in self.rows
        ]

    def answers(self, file: Path, nms_threshold: float | None) -> Answers:
        """As of `GroundTruth`; answers about unusable annotations are ignored."""
        predictions = read_submission(file)
        for row in self.excluded:
            predictions.pop(row["id"], None)
        match([row["id"] for row in self.rows], predictions, False, file, answer="line")
        spans = [predictions[row["id"]] for row in self.rows]
        if nms_threshold is not None:
            spans = [listed[suppress_spans(listed, nms_threshold, DEPTH)] for listed in spans]
        moments = np.array([[row["start"], row["end"]] for row in self.rows]).reshape(-1, 2)
        ranks = first_hits(spans, moments)
        values = {f"IoU={threshold:g}/R@{k}": ranks[:, c] <= k for c, threshold in enumerate(IOUS) for k in KS}
        first = [
            (row["movie"], float(listed[0, 0]), float(listed[0, 1])) if len(listed) else None
            for row, listed in zip(self.rows, spans)
        ]
        return Answers(values, ranks[:, IOUS.index(0.5)], first)
