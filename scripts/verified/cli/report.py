"""`verified report`: everything that the report shows, gathered in one file."""

import argparse
import subprocess
from pathlib import Path

from verified.cli.config import add_configfiles
from verified.planning.running import add_run_options, configured, snakemake_command
from verified.runtime.project import PROJECT

SHOWN = Path("results/report.html")


def add_parser(subparsers) -> None:
    """Add the subcommand."""
    report = subparsers.add_parser(
        "report", help="build figures and pages of a run and gather all of it in results/NAME/report.html"
    )
    add_configfiles(report)
    add_run_options(report, profile=True)
    report.add_argument("options", nargs="*", metavar="OPTION", help="further options of Snakemake, after --")
    report.set_defaults(run=_report)


def _report(arguments: argparse.Namespace) -> int:
    from verified.config import read
    from verified.config.folders import home
    from verified.tables.summary import show

    target = Path(home(read(*arguments.configfile)), "report.html")
    command = snakemake_command(*configured(arguments))
    gathered = ["--report", str(target), "--report-stylesheet", str(PROJECT / "report" / "report.css")]
    for step in (["--cores", arguments.cores], gathered):
        run = subprocess.run([*command, *step, *arguments.options, "--", "report_items"])
        if run.returncode:
            return run.returncode
    show(target, SHOWN)
    print(f"The report: {target}, also at {SHOWN}")
    return 0
