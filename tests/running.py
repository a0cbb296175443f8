"""Running Snakemake as a user does, in a folder of its own."""

import argparse
import csv
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from reads import noting, undeclared

from verified.cli.command import COMMANDS

PROJECT = Path(__file__).resolve().parents[1]
NANO = PROJECT / "config" / "nano.yaml"
SHIPPED = {
    path.stem: path for path in sorted([*PROJECT.glob("config/*.yaml"), *PROJECT.glob("extensions/*/config/*.yaml")])
}
"""Configurations that come with the workflow and its extensions, by name."""
DOCS = sorted([*PROJECT.glob("docs/*.md"), *PROJECT.glob("extensions/*/README.md")])
"""Pages of documentation that are written by hand; an extension's is its README."""
LINKED = re.findall(r"\((?:\.\./)?(extensions/\w+/README\.md)", (PROJECT / "docs/index.md").read_text(encoding="utf-8"))
WHOLE = pytest.mark.skipif(
    not all((PROJECT / page).is_file() for page in LINKED), reason="an extension that the pages speak of is not here"
)
"""Mark of tests of what the pages say."""


def called(command: Sequence[object], folder: Path | None = None, **options) -> subprocess.CompletedProcess:
    """Run a command in a folder; output as text, standard error included."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.run(list(map(str, command)), cwd=folder, **streams, **options)


def printed(command: Sequence[object], folder: Path | None = None, **options) -> str:
    """What a command prints that must succeed."""
    done = called(command, folder, **options)
    assert done.returncode == 0, done.stdout[-6000:]
    return done.stdout


def snakemake(folder: Path, *arguments: str, config: Path = NANO, **options) -> subprocess.CompletedProcess:
    """Run Snakemake on the project with `folder` as working directory; output as text, standard error included.

    A run that succeeds must have read nothing but what its jobs declare (see reads.py).
    """
    with tempfile.TemporaryDirectory() as notes:
        environment = {"env": noting(notes, options.get("env", os.environ))}
        done = called(command(folder, *arguments, config=config), **options | environment)
        assert done.returncode or not (read := undeclared(Path(notes))), read
    return done


def ended_well(folder: Path, *arguments: str, **options) -> str:
    """What such a run prints that must succeed."""
    run = snakemake(folder, *arguments, **options)
    assert run.returncode == 0, run.stdout[-6000:]
    return run.stdout


def command(folder: Path, *arguments: str, config: Path = NANO) -> list[str]:
    words = [sys.executable, "-m", "snakemake", "--snakefile", str(PROJECT / "Snakefile"), "--directory", str(folder)]
    words += ["--workflow-profile", str(PROJECT / "profiles" / "default"), "--configfile", str(config)]
    return [*words, *arguments]


def pending(command: Sequence[str], folder: Path | None = None, **options) -> set[str]:
    """Rules with outputs that this command line of Snakemake would make, by its table of all files (``--summary``)."""
    done = subprocess.run([*command, "--summary"], cwd=folder, capture_output=True, text=True, **options)
    rows = list(csv.DictReader(io.StringIO(done.stdout), delimiter="\t"))
    assert done.returncode == 0 and rows, done.stdout + done.stderr
    return {row["rule"] for row in rows if row["plan"] == "update pending"}


def copy_project(folder: Path) -> Path:
    """A copy of what the workflow is made of, in a folder that is not there yet."""
    folder.mkdir()
    for name in ("Snakefile", "config", "envs", "examples", "profiles", "report", "rules", "scripts", "extensions"):
        if (PROJECT / name).is_dir():
            shutil.copytree(PROJECT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(PROJECT / name, folder)
    return folder


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of every file that the workflow built, by path.

    The ledger, and the list of outputs with the configuration's path, are compared by their content elsewhere.
    """
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted((folder / "results").rglob("*"))
        if path.is_file() and {"ledger", "run.manifest"}.isdisjoint(path.relative_to(folder).parts)
    }


def options_of(words: str) -> set[str]:
    one = argparse.ArgumentParser()
    COMMANDS[words].add_to(one)
    return {name for action in one._actions for name in action.option_strings}
