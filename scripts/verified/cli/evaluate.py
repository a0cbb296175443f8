"""Evaluate: score a submission to any benchmark."""

import argparse
from collections.abc import Iterable

from verified.cli.command import JSON, NMS_THRESHOLD, PARTIAL, command, flag, folder, only_for, several, tiou
from verified.cli.forms import SUBMISSION, form_of, forms


def _listed(texts: Iterable[str]) -> str:
    return "; ".join(filter(None, texts))


@command(
    "evaluate",
    "score a submission to a benchmark",
    folder("ground_truth", f"{_listed(form.about for form in forms())}: its form tells", metavar="TRUTH"),
    folder("submission", _listed(form.submissions for form in forms()), metavar="SUBMISSION"),
    JSON,
    PARTIAL,
    NMS_THRESHOLD,
    several("--threshold", type=tiou, metavar="T", help="R@1 also at this tIoU (default: 0.3)"),
    flag("--last-of-equal-ids", "of rows with one id, the last counts"),
    *(declared for form in forms() for declared in form.declared),
    example="verified evaluate results/demo/annotations/fig/test.jsonl "
    "results/demo/retrieval/xml/fig/seed-2018/fig/submission.json.gz",
    page="docs/benchmark.md",
    more=f"a submission of moments (rows: number of a video, start, end, score; the best first):\n{SUBMISSION}",
)
def evaluate(arguments: argparse.Namespace) -> None:
    """Print measures to standard output and notes to standard error; raises InputError on unusable files."""
    form = form_of(arguments.ground_truth, arguments.submission)
    only_for(arguments, form.name, {name for other in forms() for name in other.options} - {*form.options})
    form.evaluate(arguments)
