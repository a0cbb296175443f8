"""`verified study import FILES...`: check the answers of a study and aggregate them."""

import argparse
from pathlib import Path


def add_parser(subparsers) -> None:
    """Add the subcommand to an argparse subparsers object."""
    study = subparsers.add_parser("study", help="aggregate the answers of a user study")
    actions = study.add_subparsers(required=True, metavar="ACTION")
    parser = actions.add_parser("import", help="check all answer files of a study and write its summary")
    parser.add_argument("files", nargs="+", metavar="FILE", help="files that the participants exported")
    parser.add_argument("--study", type=Path, default=Path("results/demo/study"), metavar="FOLDER",
                        help="the study's folder, which holds key.json (default results/demo/study)")  # fmt: skip
    parser.add_argument("--per-answer", action="store_true",
                        help="let every answer count instead of one verdict per caption")  # fmt: skip
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Write summary.json and answers.jsonl into the study's folder and print the measures."""
    from verified.common.jsonl import read_json, write_json, write_jsonl
    from verified.common.seals import seal_built
    from verified.study.aggregate import summarise
    from verified.study.answers import collect

    key = read_json(arguments.study / "key.json")
    answers = collect(arguments.files, key)
    summary = summarise(answers, key, arguments.per_answer)
    write_jsonl(arguments.study / "answers.jsonl", answers)
    write_json(arguments.study / "summary.json", summary)
    for name in ("answers.jsonl", "summary.json"):
        seal_built(arguments.study / name)
    print("\n".join(lines(summary)))


def lines(summary: dict) -> list[str]:
    """The summary for a terminal."""
    out = [f"{summary['title']}: {summary['answers']} answers of {summary['participants']} participants"]
    for name, measure in summary["measures"].items():
        shown = "no captions of this type" if measure["value"] is None else _interval(measure["value"], measure)
        out.append(f"  {name:12} {shown}  ({measure['captions']} captions)")
    for name, agreement in summary["agreement"].items():
        shown = "all grades are equal" if agreement["alpha"] is None else _interval(agreement["alpha"], agreement)
        out.append(f"  agreement on {name:9} alpha {shown} ({agreement['level']})")
    return out


def _interval(value: float, bounds: dict) -> str:
    return f"{value:.2f} [{bounds['low']:.2f}, {bounds['high']:.2f}]"
