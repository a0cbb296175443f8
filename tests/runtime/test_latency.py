"""Jobs wait for files as long as Snakemake's --latency-wait says, wherever it was said."""

import subprocess
import sys

import pytest
from running import PROJECT

SNAKEFILE = """
from verified.runtime.announcements import LATENCY, announce_latency

rule all:
    output:
        "seconds.txt",
    shell:
        f"echo ${LATENCY} > {{output}}"

onstart:
    announce_latency(workflow.execution_settings.latency_wait)
"""


@pytest.mark.parametrize("said", [["--latency-wait=60"], ["-w", "60"], ["--profile", "profile"]], ids=" ".join)
def test_jobs_are_told_the_latency_wait(tmp_path, said):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    (tmp_path / "profile").mkdir()
    (tmp_path / "profile" / "config.yaml").write_text("latency-wait: 60\n")
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--scheduler", "greedy", *said]
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(PROJECT / "scripts"), "HOME": str(tmp_path)}
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "seconds.txt").read_text().split() == ["60"]
