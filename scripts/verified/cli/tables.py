"""`verified tables readme` prints the figures that README shows of a run, or holds README to a run."""

import argparse
from pathlib import Path

from verified.errors import InputError


def add_parser(subparsers) -> None:
    """Add the subcommand to an argparse object made by `add_subparsers`."""
    parser = subparsers.add_parser(
        "tables",
        help="figures for a README from a run's tables",
        description="What README shows of a run, taken from its tables.",
    )
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    readme = actions.add_parser(
        "readme",
        help="print the figures, or check a file that shows them",
        description="Print the main table shortened, the spread over trainings, and the gains with intervals.",
    )
    readme.add_argument(
        "tables", metavar="FOLDER", nargs="?", default="results/tables", help="the run's tables (results/tables)"
    )
    readme.add_argument(
        "--check", metavar="FILE", help="say of each figure in FILE whether this run confirms or contradicts it"
    )
    readme.add_argument(
        "--margin", type=float, metavar="POINTS", help="with --check: how far figures may be apart (default 5)"
    )
    readme.set_defaults(run=run_readme)


def run_readme(arguments: argparse.Namespace) -> int:
    """Print the figures; with --check, a line per figure that this run does not confirm.

    Then status 1 if it contradicts one, 3 if there are some of which it cannot tell.
    """
    from verified.tables.readme import (
        CONFIRMED,
        CONTRADICTED,
        MARGIN,
        UNKNOWN,
        read_rows,
        readme_figures,
        readme_table,
        readme_verdicts,
    )

    margin = MARGIN if arguments.margin is None else arguments.margin
    if not margin > 0:
        raise InputError(f"--margin {margin:g} allows nothing", remedy="give points of recall, such as 5")
    frame = Path(arguments.tables) / "all.csv"
    if not frame.is_file():
        raise InputError("no such file", file=frame, remedy="build the tables first: make tables")
    rows = read_rows(frame)
    if arguments.check is None:
        print(readme_figures(rows), end="")
        return 0
    try:
        text = Path(arguments.check).read_text(encoding="utf-8")
        shown = readme_table(text)
    except (OSError, ValueError) as error:
        raise InputError(str(error), file=arguments.check) from None
    if not shown:
        raise InputError("holds no table of the run", file=arguments.check, remedy="paste what the command prints")
    verdicts = readme_verdicts(text, rows, margin)
    for verdict in verdicts:
        if verdict.verdict != CONFIRMED:
            print(f"{verdict.name}: {verdict.verdict}: {verdict.why}")
    counts = {kind: sum(one.verdict == kind for one in verdicts) for kind in (CONFIRMED, CONTRADICTED, UNKNOWN)}
    print(f"{len(verdicts)} figures: {', '.join(f'{count} {kind}' for kind, count in counts.items())}")
    return 1 if counts[CONTRADICTED] else 3 if counts[UNKNOWN] else 0
