"""The form of MAD: sentences in movies."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from verified.cli.command import option
from verified.cli.form import Form
from verified.io.jsonl import Row

if TYPE_CHECKING:
    from verified.benchmark.submissions import GroundTruth

TIMES = option(
    "--times",
    choices=("ext_timestamps", "timestamps"),
    help="movies: which of a moment's two spans to read (default: ext_timestamps, as both official baselines do)",
)


def _read(path: Path) -> "GroundTruth":
    from verified_longform.answers import MovieTruth

    return MovieTruth(path)


def _recognise(path: Path, first: Row, submission: Path | None) -> bool:
    from verified.released.formats import published_form

    return path.suffix == ".json" and not first and published_form(path) is None


def _movies(arguments: argparse.Namespace) -> None:
    from verified_longform.annotations import check_rows, read_mad
    from verified_longform.recall import IOUS, KS
    from verified_longform.submission import evaluate, read_submission

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
    correlations = [number for row in score["intra_class"] for number in row if number is not None]
    print(
        "In brackets: 95 % interval over movies, drawn with all of their queries, not over trainings."
        + (
            f" Intra-class correlation of queries of one movie: {min(correlations):.2f} to {max(correlations):.2f}."
            if correlations
            else ""
        )
    )


def recalls(score: dict) -> str:
    """Recall of spans in movies as a table, with intervals if there are any."""
    from verified_longform.recall import IOUS, KS

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


MOVIES = Form(
    "movies",
    _recognise,
    _read,
    _movies,
    about="movies (MAD's JSON)",
    submissions="movies: JSONL (id, spans), best first",
    options=("times", "iou_cmp"),
    declared=(
        TIMES,
        option(
            "--iou-cmp", choices=("gt", "ge"), help="movies: IoU exceeds (gt, the default) or reaches (ge) a threshold"
        ),
    ),
)
