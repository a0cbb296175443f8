"""`verified lint FILE...`: check annotation files."""

import argparse
import json

from verified.config.annotations import Annotations


def add_parser(subparsers) -> None:
    """Add the subcommand to an argparse subparsers object."""
    parser = subparsers.add_parser("lint", help="check FIG annotation files (JSONL) and count what is found")
    parser.add_argument("files", nargs="+", metavar="FILE", help="FIG JSON Lines")
    parser.add_argument("--config", help="YAML configuration whose annotations.lint gives the severities")
    parser.add_argument("--json", action="store_true", help="print the whole report as JSON, with all row numbers")
    parser.add_argument("--rows", type=int, default=5, metavar="N", help="row numbers shown per finding (default 5)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the report; 1 if a finding of severity error stands in it, else 0."""
    from verified.annotations.lint import lint, table

    settings = Annotations()
    if arguments.config:
        from verified.config import read

        settings = read(arguments.config).annotations
    reports = [lint(path, settings) for path in arguments.files]
    if arguments.json:
        print(json.dumps(reports, ensure_ascii=False, indent=1))
    else:
        print("\n".join(table(report, arguments.rows) for report in reports))
    return 0 if all(report["passed"] for report in reports) else 1
