"""`verified lint FILE...`: check annotation files; `verified show MOMENT`: all that is known of a moment."""

import argparse
import json
from functools import partial

from verified.cli.config import add_configfiles
from verified.config.annotations import Annotations


def add_parser(subparsers) -> None:
    """Add the subcommand to an argparse subparsers object."""
    parser = subparsers.add_parser("lint", help="check FIG annotation files (JSONL) and count what is found")
    parser.add_argument("files", nargs="+", metavar="FILE", help="FIG JSON Lines")
    parser.add_argument("--config", help="YAML configuration whose annotations.lint gives the severities")
    parser.add_argument("--json", action="store_true", help="print the whole report as JSON, with all row numbers")
    parser.add_argument(
        "--similarity",
        action="store_true",
        help="also compare each fine caption with its coarse one, by sentence vectors",
    )
    parser.add_argument("--rows", type=int, default=5, metavar="N", help="row numbers shown per finding (default 5)")
    parser.set_defaults(run=run)
    show = subparsers.add_parser("show", help="everything known of a moment: keyframes, calls, candidates, decision")
    show.add_argument("moment", type=int, metavar="MOMENT", help="its desc_id")
    show.add_argument("--dataset", help="data set, where several have a moment of this number")
    show.add_argument("--json", action="store_true", help="one JSON document instead of text")
    add_configfiles(show)
    show.set_defaults(run=_show)


def run(arguments: argparse.Namespace) -> int:
    """Print the report; 1 if it has a finding of severity error, else 0."""
    from verified.annotations.lint import lint, table

    settings = Annotations()
    if arguments.config:
        from verified.config import read

        settings = read(arguments.config).annotations
    measure = None
    if arguments.similarity:
        from verified.annotations.similarity import cosines
        from verified.nn.sentences import PACKAGED

        measure = partial(cosines, model=PACKAGED)
    reports = [lint(path, settings, measure) for path in arguments.files]
    if arguments.json:
        print(json.dumps(reports, ensure_ascii=False, indent=1))
    else:
        print("\n".join(table(report, arguments.rows) for report in reports))
    return 0 if all(report["passed"] for report in reports) else 1


def _show(arguments: argparse.Namespace) -> None:
    from verified.annotations.show import document, facts, text
    from verified.config import read

    known = facts(read(*arguments.configfile), arguments.moment, arguments.dataset)
    print(document(known) if arguments.json else text(known))
