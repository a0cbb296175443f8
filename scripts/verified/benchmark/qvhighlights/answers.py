"""Windows of a video for comparisons: queries in QVHighlights' form, or moments."""

from pathlib import Path

import numpy as np

from verified.benchmark.answers import Answers, Query
from verified.benchmark.qvhighlights.evaluate import evaluate, windows_of_moments
from verified.benchmark.qvhighlights.metrics import measures, overlap
from verified.benchmark.qvhighlights.rows import read_window_answers, read_window_queries
from verified.benchmark.tiou import first_ranks
from verified.errors import InputError

RIGHT = 0.5
"""tIoU of a window that is right."""


class WindowTruth:
    """Queries about one video each; metrics are those of the official summary, and mIoU."""

    compared: tuple[str, ...] = ("R1@0.5", "R1@0.7", "mAP", "HL-VeryGood-mAP", "HL-VeryGood-Hit1")
    shown: tuple[str, ...] = ("R1@0.5", "R1@0.7", "mAP@0.5", "mAP@0.75", "mAP")
    ending: str = ".jsonl"

    def __init__(self, path: Path, of_moments: bool = False):
        self.asked = windows_of_moments(path) if of_moments else read_window_queries(path)

    def queries(self) -> list[Query]:
        """The queries, each with its first window."""
        return [
            Query(asked.qid, asked.video, float(start), float(end), asked.query, None, asked.duration)
            for asked in self.asked
            for start, end in asked.windows[:1]
        ]

    def answers(self, file: Path, nms_threshold: float | None) -> Answers:
        """As of `GroundTruth`; right is a window of tIoU 0.5 with one of the true ones."""
        if nms_threshold is not None:
            raise InputError(
                "windows are scored as they are listed", file=file, remedy="leave out the tIoU (nms_threshold)"
            )
        answers = read_window_answers(file)
        scores = evaluate(self.asked, answers, file=file).scores
        first, ranks = [], []
        for asked in self.asked:
            if (rows := answers[asked.qid].windows) is None:
                raise InputError("has no pred_relevant_windows", file=file, remedy="give them, best first")
            ranks.append(first_ranks(overlap(asked.windows, rows).max(axis=1) >= RIGHT))
            first.append((asked.video, float(rows[0, 0]), float(rows[0, 1])) if len(rows) else None)
        return Answers(measures(scores), np.array(ranks), first)
