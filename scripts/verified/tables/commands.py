"""`verified tables readme` prints the figures that README shows of a run, or holds README to a run."""

import argparse
from pathlib import Path

from verified.common.errors import InputError


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
    readme.add_argument("--check", metavar="FILE", help="name the figures in FILE that this run does not confirm")
    readme.set_defaults(run=run_readme)


def run_readme(arguments: argparse.Namespace) -> int:
    """Print the figures; with --check, a line per figure that this run does not confirm, and status 1 if any."""
    from verified.tables.readme import read_rows, readme_figures, readme_problems, readme_table

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
    problems = readme_problems(text, rows)
    print("\n".join(problems) or f"this run confirms all {len(shown)} figures")
    return 1 if problems else 0
