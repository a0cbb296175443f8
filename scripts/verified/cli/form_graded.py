"""The form of TVR-Ranking: queries whose moments have grades."""

import argparse
import json
from pathlib import Path

from verified.benchmark.answers import GroundTruth
from verified.cli.forms import Form
from verified.io.jsonl import Row


def _recognise(path: Path, first: Row, submission: Path | None) -> bool:
    from verified.benchmark.tvr_ranking.rows import is_graded

    return is_graded(path)


def _read(path: Path) -> GroundTruth:
    from verified.benchmark.tvr_ranking.answers import GradedTruth

    return GradedTruth(path)


def _graded(arguments: argparse.Namespace) -> None:
    from verified.benchmark.tvr_ranking.evaluate import evaluate_files
    from verified.cli.forms import brackets, note

    evaluation = evaluate_files(arguments.ground_truth, arguments.submission, arguments.partial)
    note(evaluation.notes)
    intervals = evaluation.intervals()
    if arguments.json:
        shown = {"queries": len(evaluation.queries), "intervals": intervals, "notes": evaluation.notes}
        print(json.dumps(shown, indent=1))
        return
    print(
        f"TVR-Ranking: {len(evaluation.queries)} queries; NDCG@K/μ in percent, in brackets: 95 % interval over queries,"
        " not over trainings"
    )
    for name, interval in intervals.items():
        print(f"{name:14}{interval['value']:8.2f}  {brackets(interval, 2)}")


GRADED = Form(
    "graded moments",
    _recognise,
    _read,
    _graded,
    about="graded moments (TVR-Ranking)",
)
