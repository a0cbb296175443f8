"""Small workflows of their own."""

import os
import subprocess
import sys

import pytest
from running import PROJECT, called


@pytest.fixture
def run_workflow(tmp_path):
    """A function that runs the Snakefile of `tmp_path`; its output holds standard error."""

    def run(*options: str, **variables: str) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", "snakemake", "--cores", "1", "--scheduler", "greedy", *options]
        environment = {name: value for name, value in os.environ.items() if name != "VERIFIED_SNAKEMAKE"}
        environment |= {"PYTHONPATH": str(PROJECT / "scripts"), **variables}
        return called(command, tmp_path, env=environment, timeout=300)

    return run
