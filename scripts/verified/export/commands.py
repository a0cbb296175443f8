"""`verified export`: a run's annotations in the forms that others use."""

import argparse
import subprocess
import sys
from pathlib import Path

from verified.config.commands import add_configfiles

PROJECT = Path(__file__).resolve().parents[3]


def add_parser(subparsers) -> None:
    """Add the subcommand."""
    from verified.config.export import Export

    forms = Export().forms
    export = subparsers.add_parser(
        "export", help="write annotations as Hugging Face folder, WebDataset, CSV and for codes of moment retrieval"
    )
    add_configfiles(export)
    export.add_argument(
        "--form",
        nargs="+",
        choices=forms,
        default=[],
        metavar="FORM",
        help=f"forms to write, of {', '.join(forms)} (default: those of export.forms)",
    )
    export.add_argument("--cores", default="all", help="cores that jobs may use (default all)")
    export.set_defaults(run=_export)


def _export(arguments: argparse.Namespace) -> int:
    from verified.config import read
    from verified.export.paths import export_folders

    folders = export_folders(read(*arguments.configfile), tuple(arguments.form))
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(PROJECT / "Snakefile"), "--cores", arguments.cores]
    command += ["--configfile", *map(str, arguments.configfile), "--", *folders]
    run = subprocess.run(command)
    if run.returncode == 0:
        print("\n".join(["Exported:", *(f"  {folder}" for folder in folders)]))
    return run.returncode
