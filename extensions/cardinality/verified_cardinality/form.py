"""The form of ground truths in which a query has any number of moments, for `verified evaluate` and `compare`.

Windows are also rows of another form, whose submissions are JSON Lines; with one in the TVR form they are read here.
"""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from verified.cli.command import folder, several
from verified.cli.form import Form, brackets, note
from verified.errors import InputError
from verified.io.jsonl import Row

if TYPE_CHECKING:
    from verified.benchmark.submissions import GroundTruth

TITLES = {"EtF1": "EtF1", "C-Acc": "count accuracy", "G-mAP": "G-mAP", "AUROC": "rejection AUROC"}


def _read(path: Path) -> "GroundTruth":
    from verified_cardinality.evaluate import AnyNumberTruth

    return AnyNumberTruth(path)


def _recognise(path: Path, first: Row, submission: Path | None) -> bool:
    from verified_cardinality.truth import reader_of

    of_lists = submission is not None and submission.suffix in (".json", ".gz")
    return reader_of(path, first, of_lists) is not None


def _evaluate(arguments: argparse.Namespace) -> None:
    from verified_cardinality.evaluate import evaluate, select_threshold
    from verified_cardinality.truth import read_queries

    threshold, about = None, "every row is an answer: no --val chooses a score below which rows are no answers"
    if arguments.val:
        if len(arguments.val) not in (2, 3):
            raise InputError("--val takes two files or three", remedy="give TRUTH SUBMISSION [ABSENT]")
        threshold, mean = select_threshold(arguments.val[0], arguments.val[1:], arguments.nms_threshold)
        about = f"rows below a score of {threshold:.6g} are no answers: best EtF1, {100 * mean:.2f}, on the val split"
    queries = read_queries(arguments.ground_truth)
    evaluation = evaluate(queries, arguments.submission, arguments.absent, arguments.nms_threshold, arguments.partial)
    note(evaluation.notes)
    summary = evaluation.summary() if threshold is None else evaluation.summary(threshold)
    if arguments.json:
        print(json.dumps({"threshold": threshold, "summary": summary, "notes": evaluation.notes}, indent=1))
        return
    videos = len({query.video for query in evaluation.queries})
    print(f"Any number of moments: {len(evaluation.queries)} queries about {videos} videos")
    print(f"percent; in brackets: 95 % interval over videos, drawn with all of their queries\n{about}")
    print(f"{'moments':9}{'queries':>7}  {'measure':16}{'value':>8}")
    for kind, own in summary.items():
        for name in (each for each in TITLES if each in own):
            line = f"{kind:9}{own['queries']:7}  {TITLES[name]:16}{own[name]['value']:8.2f}"
            print(f"{line}  {brackets(own[name], 2)}")


ANY_NUMBER = Form(
    "any number of moments",
    _recognise,
    _read,
    _evaluate,
    about="any number of moments (spans; QV-M2, Soccer-GMR, TimeLens, OMTG)",
    options=("nms_threshold", "val", "absent"),
    declared=(
        several(
            "--val",
            type=Path,
            metavar="FILE",
            help="any number of moments: TRUTH SUBMISSION [ABSENT] of a val split, to choose the lowest score of an"
            " answer",
        ),
        folder("--absent", "any number of moments: submission to the part absent of TRUTH", metavar="SUBMISSION"),
    ),
)
