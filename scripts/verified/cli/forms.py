"""Forms of ground truths, one or more of each benchmark, recognised by their first row."""

import argparse
import json
import math
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from verified.benchmark.submissions import GroundTruth, first_row
from verified.cli.form import Form, Span, brackets, note
from verified.errors import InputError
from verified.extension import extensions
from verified.io.jsonl import Row


@cache
def forms() -> tuple[Form, ...]:
    """All forms; moments come last, as the fallback for files that no other form recognises."""
    return (*(form for extension in extensions() for form in extension.forms()), MOMENTS)


def form_of(path: Path, submission: Path | None = None) -> Form:
    """The form of a ground truth."""
    first = first_row(path)
    return next(form for form in forms() if form.recognise(path, first, submission))


def read_ground_truth(path: Path, submission: Path | None = None) -> GroundTruth:
    """The ground truth of a file by its form. Raises InputError, of that form's reader, for any other file."""
    return form_of(path, submission).read(path)


def _read_moments(path: Path) -> GroundTruth:
    from verified.benchmark.vcmr.evaluate import MomentTruth

    return MomentTruth(path)


def _moments(arguments: argparse.Namespace) -> None:
    from verified.benchmark.vcmr.evaluate import evaluate_files

    evaluation = evaluate_files(
        arguments.ground_truth,
        arguments.submission,
        arguments.nms_threshold,
        arguments.partial,
        arguments.threshold or (0.3,),
    )
    note(evaluation.notes)
    if arguments.json:
        beside = {name: getattr(evaluation, name) for name in ("queries", "videos", "intervals", "notes")}
        print(json.dumps(_plain(evaluation.metrics) | {"further": _plain(evaluation.extra)} | beside, indent=1))
        return
    print(
        f"Moments, as of TVR: {evaluation.queries} queries in {evaluation.videos} videos; percent, in brackets:"
        " 95 % interval over videos, drawn with all of their queries, not over trainings"
    )
    for task, intervals in evaluation.intervals.items():
        metrics = evaluation.metrics[task] | evaluation.extra.get(task, {})
        for name, value in metrics.items():
            print(f"{task:5}{name:10}{value:8.2f}  {brackets(intervals[name], 2)}")


def _rows_of_moments(path: Path) -> Iterator[tuple[str, Row]]:
    from verified.benchmark.vcmr.submission import truth_rows

    return ((str(int(row["desc_id"])), row) for row in truth_rows(path))  # "7" and 7 are one


def _first_of_lists(path: Path, videos: Mapping[str, str]) -> dict[str, Span]:
    from verified.benchmark.vcmr.submission import read_submission

    submission = read_submission(path, {int(desc_id): video for desc_id, video in videos.items()})
    if "SVMR" not in submission.tasks:
        raise InputError("has no SVMR lists", file=path, remedy="spans are compared within the right video: give SVMR")
    spans: dict[str, Span] = {}
    for desc_id, rows in submission.tasks["SVMR"].items():
        video = videos.get(str(desc_id))
        if video is not None and len(rows) and submission.video_index.get(video) == int(rows[0, 0]):
            spans[str(desc_id)] = float(rows[0, 1]), float(rows[0, 2])
    return spans


def _plain(metrics: dict) -> dict:
    """JSON has no NaN: a share of no query is written as the string "NaN"."""
    return {
        task: {
            name: "NaN" if isinstance(value, float) and math.isnan(value) else value for name, value in values.items()
        }
        for task, values in metrics.items()
    }


SUBMISSION = """\
{
 "video2idx": {"garden": 0, "street": 1},
 "VCMR": [
  {"desc_id": 7, "predictions": [[1, 2.0, 8.5, 0.92], [0, 14.0, 21.0, 0.31]]}
 ],
 "SVMR": [{"desc_id": 7, "predictions": [[1, 2.0, 8.5, 0.92]]}],
 "VR": [{"desc_id": 7, "predictions": [[1, 0, 0, 0.92], [0, 0, 0, 0.31]]}]
}"""
"""An example of a submission of moments, as in docs/benchmark.md."""
MOMENTS = Form(
    "moments",
    lambda path, first, submission: True,
    _read_moments,
    _moments,
    about="moments (FIG, TVR, Charades-STA, ActivityNet Captions, DiDeMo)",
    submissions="moments: JSON or JSON.gz (the form is below), or windows in the video of each",
    options=("nms_threshold", "threshold"),
    rows=_rows_of_moments,
    first_spans=_first_of_lists,
)
