"""Call Snakemake on this workflow from our commands."""

import argparse
import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import TextIO

from verified.errors import InputError
from verified.io.files import read_text
from verified.io.yaml_file import MOST_CHARACTERS, read_yaml
from verified.runtime.project import PROJECT

OWN_EXECUTORS = {None, "local", "dryrun", "touch"}


def snakemake_command(*options: str) -> list[str]:
    """The command that calls Snakemake on this workflow."""
    return [sys.executable, "-m", "snakemake", "--snakefile", str(PROJECT / "Snakefile"), *options]


def check_executor(profile: str | None) -> None:
    """Raise InputError if the executor of a profile needs a package that is not installed."""
    path = Path(profile or "", "config.yaml")
    if profile is None or not path.is_file():  # Snakemake searches other places, and reports a missing profile
        return
    values = read_yaml(read_text(path, MOST_CHARACTERS), path)
    name = values.get("executor") if isinstance(values, dict) else None
    if (
        name not in OWN_EXECUTORS
        and importlib.util.find_spec(f"snakemake_executor_plugin_{name}".replace("-", "_")) is None
    ):
        package = f"snakemake-executor-plugin-{name}"
        raise InputError(
            f"executor {name!r} is in none of the installed packages", file=path, remedy=f"pip install {package}"
        )


def run_workflow(arguments: argparse.Namespace, *words: str, stdout: TextIO | None = None) -> int:
    """Run Snakemake with a command's own options and `words`, its output to `stdout`; returns its status.

    Raises InputError as of `check_executor`.
    """
    check_executor(arguments.profile)
    profile = ["--profile", arguments.profile] if arguments.profile else []
    configured = ["--configfile", *map(str, arguments.configfile), *profile, "--cores", arguments.cores]
    return subprocess.run(
        snakemake_command(*configured, *getattr(arguments, "options", ()), *words), stdout=stdout
    ).returncode
