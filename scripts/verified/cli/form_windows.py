"""Forms of queries that are answered by windows, as in QVHighlights: with windows of their own, or moments'."""

import argparse
import json
from functools import partial
from pathlib import Path

from verified.benchmark.answers import GroundTruth
from verified.cli.forms import Form, first_row
from verified.io.jsonl import Row

OTHERS = {"ans", "options", "question", "category", "kind"}
"""Keys that queries for windows have not."""


def _recognise(path: Path, first: Row, submission: Path | None) -> bool:
    return "qid" in first and not OTHERS & set(first)


def _recognise_moments(path: Path, first: Row, submission: Path | None) -> bool:
    from verified.released.formats import published_form

    if not submission or "qid" in first or "qid" not in first_row(submission):
        return False
    return bool(first) or path.suffix != ".json" or published_form(path) is not None


def _read(path: Path, of_moments: bool = False) -> GroundTruth:
    from verified.benchmark.qvhighlights.answers import WindowTruth

    return WindowTruth(path, of_moments=of_moments)


def _windows(arguments: argparse.Namespace, of_moments: bool = False) -> None:
    from verified.benchmark.qvhighlights.evaluate import evaluate_files
    from verified.cli.forms import brackets, note

    evaluation = evaluate_files(
        arguments.ground_truth, arguments.submission, arguments.partial, arguments.last_of_equal_ids, of_moments
    )
    note(evaluation.notes)
    intervals, videos = evaluation.intervals(arguments.threshold or (0.3,)), evaluation.scores.videos
    if arguments.json:
        shown = {"result": evaluation.result, "queries": len(videos), "intervals": intervals, "notes": evaluation.notes}
        print(json.dumps(shown, indent=1))
        return
    print(
        f"Windows, as of QVHighlights: {len(videos)} queries about {len(set(videos))} videos; percent, in brackets:"
        " 95 % interval over videos, drawn with all of their queries, not over trainings"
    )
    for name, interval in intervals.items():
        print(f"{name:18}{interval['value']:8.2f}  {brackets(interval, 2)}")
    for name in ("long", "middle", "short"):
        if name in evaluation.result:
            found = evaluation.result[name]["MR-mAP"]["average"]
            print(f"mAP, {name:13}{'–' if found is None else format(found, '.2f'):>8}")


WINDOWS = Form(
    "windows",
    _recognise,
    _read,
    _windows,
    about="windows (QVHighlights)",
    submissions="windows, also of moments: JSONL (qid, pred_relevant_windows, pred_saliency_scores)",
    options=("last_of_equal_ids", "threshold"),
)
OF_MOMENTS = Form(
    "windows of moments",
    _recognise_moments,
    partial(_read, of_moments=True),
    partial(_windows, of_moments=True),
    options=("last_of_equal_ids", "threshold"),
)
