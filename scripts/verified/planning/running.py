"""How our commands call Snakemake on this workflow."""

import argparse
import subprocess
import sys
from typing import TextIO

from verified.runtime.project import PROJECT


def snakemake_command(*options: str) -> list[str]:
    """The command that calls Snakemake on this workflow."""
    return [sys.executable, "-m", "snakemake", "--snakefile", str(PROJECT / "Snakefile"), *options]


def run_workflow(arguments: argparse.Namespace, *words: str, stdout: TextIO | None = None) -> int:
    """Run Snakemake with a command's own options and `words`, its output to `stdout`; returns its status."""
    profile = ["--profile", arguments.profile] if arguments.profile else []
    configured = ["--configfile", *map(str, arguments.configfile), *profile, "--cores", arguments.cores]
    return subprocess.run(
        snakemake_command(*configured, *getattr(arguments, "options", ()), *words), stdout=stdout
    ).returncode
