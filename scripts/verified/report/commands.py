"""`verified report`: everything that the report shows, gathered in one file."""

import argparse
import subprocess
import sys
from pathlib import Path

from verified.config.commands import add_configfiles

PROJECT = Path(__file__).resolve().parents[3]
SHOWN = Path("results/report.html")


def add_parser(subparsers) -> None:
    """Add the subcommand."""
    report = subparsers.add_parser(
        "report", help="build figures and pages of a run and gather all of it in results/NAME/report.html"
    )
    add_configfiles(report)
    report.add_argument("--cores", default="all", help="cores that jobs may use (default all)")
    report.add_argument("--profile", help="folder of a Snakemake profile, such as profiles/a100")
    report.add_argument("options", nargs="*", metavar="OPTION", help="further options of Snakemake, after --")
    report.set_defaults(run=_report)


def _report(arguments: argparse.Namespace) -> int:
    from verified.config import read
    from verified.config.folders import home
    from verified.tables.closing import show

    target = Path(home(read(*arguments.configfile)), "report.html")
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(PROJECT / "Snakefile")]
    command += ["--configfile", *map(str, arguments.configfile)]
    if arguments.profile:
        command += ["--profile", arguments.profile]
    for own in (["--cores", arguments.cores], ["--report", str(target)]):
        run = subprocess.run([*command, *own, *arguments.options, "--", "report_items"])
        if run.returncode:
            return run.returncode
    show(target, SHOWN)
    print(f"The report: {target}, also at {SHOWN}")
    return 0
