"""Call Snakemake on this workflow from our commands."""

import argparse
import subprocess
import sys

from verified.runtime.project import PROJECT


def run_workflow(arguments: argparse.Namespace, *words: str) -> int:
    """Run Snakemake with a command's own options and `words`; returns its status."""
    profile = ["--profile", arguments.profile] if arguments.profile else []
    configured = ["--configfile", *map(str, arguments.configfile), *profile, "--cores", arguments.cores]
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(PROJECT / "Snakefile"), *configured]
    return subprocess.run([*command, *getattr(arguments, "options", ()), *words]).returncode
