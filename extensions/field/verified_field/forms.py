"""Forms of other benchmarks: windows as in QVHighlights, and graded moments."""

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from verified.cli.form import Form, Span, brackets, note
from verified.io.jsonl import Row

if TYPE_CHECKING:
    from verified.benchmark.submissions import GroundTruth

OTHERS = {"ans", "options", "question", "category", "kind"}
"""Keys that queries for windows have not."""


def _read_windows(path: Path) -> "GroundTruth":
    from verified_field.windows import WindowTruth

    return WindowTruth(path)


def _recognise(path: Path, first: Row, submission: Path | None) -> bool:
    return "qid" in first and not OTHERS & set(first)


def _windows(arguments: argparse.Namespace) -> None:
    from verified_field.windows import evaluate_files

    evaluation = evaluate_files(
        arguments.ground_truth, arguments.submission, arguments.partial, arguments.last_of_equal_ids
    )
    note(evaluation.notes)
    intervals, videos = evaluation.intervals(arguments.threshold or (0.3,)), evaluation.scores.videos
    if arguments.json:
        facts = {"result": evaluation.result, "queries": len(videos), "intervals": intervals, "notes": evaluation.notes}
        print(json.dumps(facts, indent=1))
        return
    print(
        f"Windows, as of QVHighlights: {len(videos)} queries about {len(set(videos))} videos; percent, in brackets:"
        " 95 % interval over videos, drawn with all of their queries, not over trainings"
    )
    for name, interval in intervals.items():
        print(f"{name:18}{interval['value']:8.2f}  {brackets(interval, 2)}")
    for name in ("long", "middle", "short"):
        if name in evaluation.result:
            average = evaluation.result[name]["MR-mAP"]["average"]
            print(f"mAP, {name:13}{'–' if average is None else format(average, '.2f'):>8}")


def _rows(path: Path) -> Iterator[tuple[str, Row]]:
    from verified.benchmark.submissions import rows_by_id

    return ((qid, row) for _, qid, row in rows_by_id(path, "qid"))


def _first_windows(path: Path, videos: Mapping[str, str]) -> dict[str, Span]:
    from verified.benchmark.submissions import read_window_answers

    windows = {qid: answer.windows for qid, answer in read_window_answers(path).items() if qid in videos}
    return {
        qid: (float(rows[0, 0]), float(rows[0, 1])) for qid, rows in windows.items() if rows is not None and len(rows)
    }


def _read_graded(path: Path) -> "GroundTruth":
    from verified_field.graded import GradedTruth

    return GradedTruth(path)


def _is_graded(path: Path, first: Row, submission: Path | None) -> bool:
    return "query_id" in first and bool({"relevant_moment", "relevance"} & set(first))


def _graded(arguments: argparse.Namespace) -> None:
    from verified_field.graded import evaluate_files

    evaluation = evaluate_files(arguments.ground_truth, arguments.submission, arguments.partial)
    note(evaluation.notes)
    intervals = evaluation.intervals()
    if arguments.json:
        facts = {"queries": len(evaluation.queries), "intervals": intervals, "notes": evaluation.notes}
        print(json.dumps(facts, indent=1))
        return
    print(
        f"TVR-Ranking: {len(evaluation.queries)} queries; NDCG@K/μ in percent, in brackets: 95 % interval over queries,"
        " not over trainings"
    )
    for name, interval in intervals.items():
        print(f"{name:14}{interval['value']:8.2f}  {brackets(interval, 2)}")


WINDOWS = Form(
    "windows",
    _recognise,
    _read_windows,
    _windows,
    about="windows (QVHighlights)",
    submissions="windows: JSONL (qid, pred_relevant_windows, pred_saliency_scores)",
    options=("last_of_equal_ids", "threshold"),
    rows=_rows,
    first_spans=_first_windows,
)
GRADED = Form("graded moments", _is_graded, _read_graded, _graded, about="graded moments (TVR-Ranking)")
