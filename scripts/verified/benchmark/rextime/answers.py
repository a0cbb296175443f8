"""Questions across time for comparisons: questions in ReXTime's released form."""

from pathlib import Path

import numpy as np

from verified.benchmark.answers import Answers, Query
from verified.benchmark.rextime.evaluate import evaluate, top_of
from verified.benchmark.rextime.metrics import measures
from verified.benchmark.rextime.rows import read_questions, read_submission
from verified.errors import InputError


class QuestionTruth:
    """Questions about videos; metrics are those of the official evaluator, and its first row says what a submission
    holds: windows, letters or both."""

    compared: tuple[str, ...] = ("mIoU", "R1@0.5", "VQA", "VQA,mIoU@0.5")
    shown: tuple[str, ...] = ("mIoU", "R1@0.3", "R1@0.5", "VQA", "VQA,mIoU@0.5")
    ending: str = ".jsonl"

    def __init__(self, path: Path):
        self.questions = read_questions(path)
        if any(asked.answer is None for asked in self.questions):
            self.shown = tuple(metric for metric in self.shown if "VQA" not in metric)

    def queries(self) -> list[Query]:
        """The questions, each with its first window."""
        return [
            Query(asked.qid, asked.video, *asked.windows[0], asked.query, None, asked.duration)
            for asked in self.questions
        ]

    def answers(self, file: Path, nms_threshold: float | None) -> Answers:
        """As of `GroundTruth`; right is a window of IoU 0.5, or the letter where there are letters only."""
        if nms_threshold is not None:
            raise InputError(
                "of a question's windows the first alone counts", file=file, remedy="leave out the tIoU (nms_threshold)"
            )
        mode, predictions = read_submission(file, "first-row")
        scores = evaluate(self.questions, predictions, mode, source=str(file)).scores
        values = {name: numbers / top_of(name) for name, numbers in measures(scores).items()}
        right = values["R1@0.5" if "R1@0.5" in values else "VQA"]
        windows = [(asked.video, predictions[asked.qid].window) for asked in self.questions]
        first = [None if window is None else (video, *window) for video, window in windows]
        return Answers(values, np.where(right > 0, 1.0, np.inf), first)
