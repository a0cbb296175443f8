"""Evaluate: score a submission to any benchmark."""

import argparse
import json
import math
import sys
from collections.abc import Iterable
from functools import partial

from verified.cli.command import JSON, NMS_THRESHOLD, PARTIAL, command, flag, folder, only_for, option, several, tiou

OPTIONS = {
    "moments": ("nms_threshold", "threshold"),
    "graded moments": (),
    "windows": ("last_of_equal_ids", "threshold"),
    "windows of moments": ("last_of_equal_ids", "threshold"),
    "movies": ("times", "iou_cmp"),
    "questions": ("mode", "last_of_equal_ids"),
}
"""Those of one form alone, or of two."""
TIMES = option(
    "--times",
    choices=("ext_timestamps", "timestamps"),
    help="movies: which of a moment's two spans to read (default: ext_timestamps, as both official baselines do)",
)


@command(
    "evaluate",
    "score a submission: moments (VCMR, SVMR, VR; TVR-Ranking), windows and highlights (QVHighlights), spans in movies "
    "(MAD), or answers to questions (ReXTime)",
    folder(
        "ground_truth",
        "moments (FIG, TVR, TVR-Ranking, Charades-STA, ActivityNet Captions, DiDeMo), windows (QVHighlights), movies "
        "(MAD's JSON) or questions (ReXTime): its form tells",
        metavar="TRUTH",
    ),
    folder(
        "submission",
        "moments: JSON or JSON.gz (video2idx, VCMR, SVMR, VR); windows, also of moments: JSONL (qid, "
        "pred_relevant_windows, pred_saliency_scores); movies: JSONL (id, spans), best first; questions: JSONL (qid, "
        "pred_relevant_windows, ans)",
        metavar="SUBMISSION",
    ),
    JSON,
    PARTIAL,
    NMS_THRESHOLD,
    several("--threshold", type=tiou, metavar="T", help="moments and windows: R@1 also at this tIoU (default: 0.3)"),
    TIMES,
    option("--iou-cmp", choices=("gt", "ge"), help="movies: IoU exceeds (gt, the default) or reaches (ge) a threshold"),
    option(
        "--mode",
        choices=("both", "grounding", "vqa", "first-row"),
        help="questions: what the rows hold; first-row guesses as the official evaluator does (default: both)",
    ),
    flag("--last-of-equal-ids", "questions and windows: an id that comes twice: the last row counts"),
)
def evaluate(arguments: argparse.Namespace) -> None:
    """Print measures to standard output and notes to standard error; raises InputError on unusable files."""
    from verified.benchmark.comparison.forms import form_of

    form = form_of(arguments.ground_truth, arguments.submission)
    only_for(arguments, form, {name for names in OPTIONS.values() for name in names} - {*OPTIONS[form]})
    score = {
        "moments": _moments,
        "graded moments": _graded,
        "windows": _windows,
        "windows of moments": partial(_windows, of_moments=True),
        "movies": _movies,
        "questions": _questions,
    }
    score[form](arguments)


def _moments(arguments: argparse.Namespace) -> None:
    from verified.benchmark.vcmr.evaluate import evaluate_files

    evaluation = evaluate_files(
        arguments.ground_truth,
        arguments.submission,
        arguments.nms_threshold,
        arguments.partial,
        arguments.threshold or (0.3,),
    )
    _note(evaluation.notes)
    if arguments.json:
        further = {"further": _plain(evaluation.further), "notes": evaluation.notes}
        print(json.dumps(_plain(evaluation.metrics) | further, indent=1))
    else:
        print(_metrics_table(evaluation.metrics, evaluation.further))


def _plain(metrics: dict) -> dict:
    """JSON has no NaN: a share of no query is written as the string "NaN"."""
    return {
        task: {
            name: "NaN" if isinstance(value, float) and math.isnan(value) else value for name, value in values.items()
        }
        for task, values in metrics.items()
    }


def _metrics_table(metrics: dict, further: dict[str, dict[str, float]]) -> str:
    from verified.benchmark.vcmr.metrics import TASKS

    lines = []
    for task in (name for name in TASKS if name in metrics):
        shown = metrics[task] | further.get(task, {})
        lines.append(f"{task:5}" + "".join(f"{name:>10}" for name in shown))
        lines.append(" " * 5 + "".join(f"{value:10.2f}" for value in shown.values()))
    return "\n".join(lines)


def _graded(arguments: argparse.Namespace) -> None:
    from verified.benchmark.tvr_ranking.evaluate import evaluate_files

    evaluation = evaluate_files(arguments.ground_truth, arguments.submission, arguments.partial)
    _note(evaluation.notes)
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
        print(f"{name:14}{interval['value']:8.2f}  {_brackets(interval, 2)}")


def _windows(arguments: argparse.Namespace, of_moments: bool = False) -> None:
    from verified.benchmark.qvhighlights.evaluate import evaluate_files

    evaluation = evaluate_files(
        arguments.ground_truth, arguments.submission, arguments.partial, arguments.last_of_equal_ids, of_moments
    )
    _note(evaluation.notes)
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
        print(f"{name:18}{interval['value']:8.2f}  {_brackets(interval, 2)}")
    for name in ("long", "middle", "short"):
        if name in evaluation.result:
            found = evaluation.result[name]["MR-mAP"]["average"]
            print(f"mAP, {name:13}{'–' if found is None else format(found, '.2f'):>8}")


def _movies(arguments: argparse.Namespace) -> None:
    from verified.benchmark.mad.annotations import check_rows, read_mad
    from verified.benchmark.mad.recall import IOUS, KS
    from verified.benchmark.mad.submission import evaluate, read_submission

    rows, excluded, counts = check_rows(read_mad(arguments.ground_truth, "test", arguments.times or "ext_timestamps"))
    submission = read_submission(arguments.submission)
    for row in excluded:  # an annotation that cannot be used is not a query; answering it is not an error
        submission.pop(row["id"], None)
    score = evaluate(rows, submission, arguments.iou_cmp or "gt", arguments.partial, arguments.submission)
    if arguments.json:
        print(json.dumps({**score, "ks": KS, "ious": IOUS, "annotations": counts}))
        return
    print(
        f"{score['queries']} queries, {score['movies']} movies; annotations: "
        + ", ".join(f"{count} {name}" for name, count in counts.items())
    )
    for name in ("missing", "unknown", "more_than_100"):
        if score[name]:
            print(f"{name.replace('_', ' ')}: {score[name]}")
    print(recalls(score))
    alike = [number for row in score["intra_class"] for number in row if number is not None]
    print(
        "In brackets: 95 % interval over movies, drawn with all of their queries, not over trainings."
        + (f" Intra-class correlation of queries of one movie: {min(alike):.2f} to {max(alike):.2f}." if alike else "")
    )


def recalls(score: dict) -> str:
    """Recall of spans in movies as a table, with intervals where there are any."""
    from verified.benchmark.mad.recall import IOUS, KS

    lines = ["R@K %   " + "".join(f"{f'IoU={threshold:g}':>24}" for threshold in IOUS)]
    for row, k in enumerate(KS[: len(score["recall"])]):
        values = zip(score["recall"][row], score["low"][row], score["high"][row])
        cells = [f"{_cell(value, low, high):>24}" for value, low, high in values]
        lines.append(f"R@{k:<6}" + "".join(cells))
    return "\n".join(lines)


def _cell(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.2f}" if low is None else f"{value:.2f} [{low:.2f}, {high:.2f}]"


def _questions(arguments: argparse.Namespace) -> None:
    from verified.benchmark.rextime.evaluate import evaluate_files

    evaluation = evaluate_files(
        arguments.ground_truth,
        arguments.submission,
        arguments.mode or "both",
        arguments.partial,
        arguments.last_of_equal_ids,
    )
    _note(evaluation.notes)
    intervals = evaluation.intervals()
    if arguments.json:
        shown = {"result": evaluation.result, "questions": len(evaluation.scores), "intervals": intervals}
        print(json.dumps(shown | {"notes": evaluation.notes}, indent=1))
        return
    scores = evaluation.scores
    print(
        f"{len(scores)} questions about {len(set(scores.videos))} videos; in brackets: 95 % interval over videos, drawn"
        " with all of their questions, not over trainings"
    )
    for name, interval in intervals.items():
        digits = 4 if name.startswith("VQA") else 2
        line = f"{name:14} {interval['value']:8.{digits}f}  {_brackets(interval, digits)}"
        if interval["intra_class"] is not None:
            line += f"  intra-class correlation of questions of one video {interval['intra_class']:.2f}"
        print(line)


def _brackets(row: dict, digits: int) -> str:
    if row["low"] is None:
        return "[one video: no interval]"
    return f"[{row['low']:.{digits}f}, {row['high']:.{digits}f}]"


def _note(notes: Iterable[str]) -> None:
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
