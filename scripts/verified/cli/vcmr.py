"""`verified evaluate` scores anybody's submission as the TVR evaluator would; `verified check-model` checks a model;
`verified import-checkpoint` converts published weights."""

import argparse
import json
import math
import sys

from verified.benchmark.vcmr.metrics import TASKS
from verified.errors import InputError
from verified.runtime.options import Extend


def add_parser(subparsers) -> None:
    """Add the subcommands to an argparse object made by `add_subparsers`."""
    _add_evaluate(subparsers)
    _add_check_model(subparsers)
    _add_import(subparsers)


def _add_import(subparsers) -> None:
    parser = subparsers.add_parser(
        "import-checkpoint",
        help="convert a published checkpoint of a retrieval model (.pth) to safetensors",
        description="Read a .pth file safely and write it in the project's form; widths are read off the tensors.",
    )
    parser.add_argument("model", metavar="MODEL", help="xml, reloclnet, conquer, squidnet or hero")
    parser.add_argument("file", metavar="FILE", help="the published checkpoint")
    parser.add_argument("output", metavar="OUTPUT", help="the safetensors file to write")
    parser.add_argument(
        "--option",
        action=Extend,
        nargs="*",
        default=(),
        metavar="NAME=VALUE",
        help="what tensors do not show: heads=8",
    )
    parser.set_defaults(run=run_import)


def run_import(arguments: argparse.Namespace) -> int:
    """Convert and say how many parameters there are; raises InputError on an unusable file."""
    from verified.benchmark.vcmr.importing import import_checkpoint
    from verified.runtime.seals import seal_built

    options = dict(option.partition("=")[::2] for option in arguments.option)
    count = import_checkpoint(arguments.model, arguments.file, arguments.output, options)
    seal_built(arguments.output)
    print(f"{arguments.output}: {arguments.model} with {count:,} parameters")
    return 0


def _add_check_model(subparsers) -> None:
    parser = subparsers.add_parser(
        "check-model",
        help="check whether a retrieval model keeps its contract",
        description="Run the conformance checks on a model of the registry or on a Python file that registers one.",
    )
    parser.add_argument("model", metavar="MODEL", help="a name such as xml, or a file such as my_model.py")
    parser.add_argument(
        "--only", action=Extend, nargs="+", metavar="CHECK", default=(), help="some checks instead of all"
    )
    parser.set_defaults(run=run_check_model)


def run_check_model(arguments: argparse.Namespace) -> int:
    """Print a line per check; returns 1 if any fails. Raises InputError for an unknown model, file or check."""
    from verified.benchmark.vcmr.conformance import CHECKS, failures
    from verified.benchmark.vcmr.registry import model_class, model_of_file

    unknown = [name for name in arguments.only if name not in CHECKS]
    if unknown:
        raise InputError(f"unknown check {unknown[0]!r}", remedy=f"known: {', '.join(CHECKS)}")
    named = arguments.model.endswith(".py")
    model = model_of_file(arguments.model) if named else model_class(arguments.model)
    failed = 0
    for name, reason in failures(model, arguments.only):
        print(f"passed  {name}" if reason is None else f"FAILED  {name}: {reason}", flush=True)
        failed += reason is not None
    return 1 if failed else 0


def _add_evaluate(subparsers) -> None:
    parser = subparsers.add_parser(
        "evaluate",
        help="score a VCMR/SVMR/VR submission",
        description="Score a submission in the TVR form against a ground truth in the FIG or TVR form.",
    )
    parser.add_argument(
        "ground_truth", metavar="GROUND_TRUTH", help="JSONL: desc_id, video, time or desc_id, vid_name, ts"
    )
    parser.add_argument("submission", metavar="SUBMISSION", help="JSON or JSON.gz: video2idx, VCMR, SVMR, VR")
    parser.add_argument(
        "--nms", type=_threshold, metavar="T", help="suppress spans that overlap by a tIoU above T first"
    )
    parser.add_argument("--json", action="store_true", help="print the metrics as JSON")
    parser.add_argument("--partial", action="store_true", help="score the queries that both files have")
    parser.set_defaults(run=run_evaluate)


def _threshold(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1")
    return value


def run_evaluate(arguments: argparse.Namespace) -> int:
    """Print metrics to standard output and notes to standard error; raises InputError on unusable files."""
    from verified.benchmark.vcmr.evaluate import evaluate_files

    evaluation = evaluate_files(
        arguments.ground_truth, arguments.submission, nms=arguments.nms, partial=arguments.partial
    )
    for note in evaluation.notes:
        print(f"note: {note}", file=sys.stderr)
    if arguments.json:
        print(json.dumps(_plain(evaluation.metrics), indent=1))
    else:
        print(_table(evaluation.metrics, evaluation.further))
    return 0


def _plain(metrics: dict) -> dict:
    """JSON has no NaN: a share of no query is written as the string "NaN"."""
    return {
        task: {
            name: "NaN" if isinstance(value, float) and math.isnan(value) else value for name, value in values.items()
        }
        for task, values in metrics.items()
    }


def _table(metrics: dict, further: dict[str, dict[str, float]]) -> str:
    lines = []
    for task in (name for name in TASKS if name in metrics):
        shown = metrics[task] | further.get(task, {})
        lines.append(f"{task:5}" + "".join(f"{name:>10}" for name in shown))
        lines.append(" " * 5 + "".join(f"{value:10.2f}" for value in shown.values()))
    return "\n".join(lines)
