"""`verified export`: a run's annotations in the forms that others use."""

import argparse
import subprocess

from verified.cli.config import add_configfiles
from verified.errors import InputError
from verified.planning.running import add_run_options, configured, snakemake_command
from verified.runtime.options import Extend


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
        action=Extend,
        nargs="+",
        choices=forms,
        default=[],
        metavar="FORM",
        help=f"forms to write, of {', '.join(forms)} (default: those of export.forms)",
    )
    add_run_options(export)
    export.set_defaults(run=_export)


def _export(arguments: argparse.Namespace) -> int:
    from verified.config import read
    from verified.export.paths import export_folders

    folders = export_folders(read(*arguments.configfile), tuple(arguments.form))
    if not folders:  # Snakemake without a target would run everything
        raise InputError(
            "nothing to export: the configuration shows no data set or names no form", remedy="give --form"
        )
    run = subprocess.run(snakemake_command("--cores", arguments.cores, *configured(arguments), "--", *folders))
    if run.returncode == 0:
        print("\n".join(["Exported:", *(f"  {folder}" for folder in folders)]))
    return run.returncode
