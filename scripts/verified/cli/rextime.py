"""`verified rextime ACTION`: score submissions; the other actions are in people_commands.py and count_commands.py."""

import argparse
import json
import sys

from verified.cli import rextime_count as count_commands
from verified.cli import rextime_people as people_commands
from verified.errors import InputError


def add_parser(subparsers) -> None:
    """Add the subcommand to an argparse object made by `add_subparsers`."""
    suite = subparsers.add_parser("rextime", help="questions across time: score submissions, filter sources, count")
    actions = suite.add_subparsers(required=True, metavar="ACTION")
    _add_evaluate(actions)
    people_commands.add_parsers(actions)
    count_commands.add_parsers(actions)


def _add_evaluate(actions) -> None:
    parser = actions.add_parser(
        "evaluate",
        help="score a submission as the official ReXTime evaluator does",
        description="Score windows and letters; the numbers equal the official evaluator's.",
    )
    parser.add_argument(
        "questions", metavar="QUESTIONS", help="JSONL: qid, query, duration, vid, relevant_windows, ans"
    )
    parser.add_argument("submission", metavar="SUBMISSION", help="JSONL: qid, pred_relevant_windows, ans")
    parser.add_argument(
        "--mode",
        choices=("both", "grounding", "vqa", "first-row"),
        default="both",
        help="what the rows hold; first-row guesses as the official evaluator does (default: both)",
    )
    parser.add_argument("--partial", action="store_true", help="score the questions that both files have")
    parser.add_argument("--last-of-equal-ids", action="store_true", help="an id that comes twice: the last row counts")
    parser.add_argument("--against", metavar="OTHER", help="moved: `verified compare` compares two submissions")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.set_defaults(run=run_evaluate)


def run_evaluate(arguments: argparse.Namespace) -> int:
    """Print measures to standard output and notes to standard error; raises InputError on unusable files."""
    from verified.benchmark.rextime.evaluate import evaluate_files

    if arguments.against:
        told = f"verified compare {arguments.questions} {arguments.submission} {arguments.against}"
        raise InputError("--against is another command now", remedy=told)
    options = {
        "mode": arguments.mode,
        "partial": arguments.partial,
        "last_of_equal_ids": arguments.last_of_equal_ids,
    }
    evaluation = evaluate_files(arguments.questions, arguments.submission, **options)
    for note in evaluation.notes:
        print(f"note: {note}", file=sys.stderr)
    intervals = evaluation.intervals()
    if arguments.json:
        shown = {"result": evaluation.result, "questions": len(evaluation.scores), "intervals": intervals}
        print(json.dumps(shown, indent=1))
        return 0
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
    return 0


def _brackets(row: dict, digits: int) -> str:
    if row["low"] is None:
        return "[one video: no interval]"
    return f"[{row['low']:.{digits}f}, {row['high']:.{digits}f}]"
