"""How our commands call Snakemake, and the options that they pass on to it."""

import argparse
import sys

from verified.runtime.project import PROJECT


def add_run_options(parser: argparse.ArgumentParser, profile: bool = False) -> None:
    """Add the options of a command that runs the workflow: --cores and, if asked for, --profile."""
    parser.add_argument("--cores", default="all", help="cores that jobs may use (default all)")
    if profile:
        parser.add_argument("--profile", help="folder of a Snakemake profile, such as profiles/a100")


def snakemake_command(*options: str) -> list[str]:
    """The command that calls Snakemake on this workflow."""
    return [sys.executable, "-m", "snakemake", "--snakefile", str(PROJECT / "Snakefile"), *options]


def configured(arguments: argparse.Namespace) -> list[str]:
    """Options of Snakemake for a command's --configfile and, where it has one, its --profile."""
    profile = getattr(arguments, "profile", None)
    return ["--configfile", *map(str, arguments.configfile), *(["--profile", str(profile)] if profile else [])]
