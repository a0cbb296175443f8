"""Jobs start as they come, and Snakemake does not look at them again and again in between."""

import subprocess
import sys
from pathlib import Path

from running import PROJECT

SNAKEFILE = """
from verified.runtime.snakemake_workarounds import disable_rate_limit

rule all:
    input:
        expand("{number}.txt", number=range(8)),

rule one:
    output:
        touch("{number}.txt"),
    shell:
        "sleep 0.4"

onstart:
    disable_rate_limit(workflow)
"""


def looks(folder: Path, snakefile: str) -> int:
    """How often Snakemake examines the ready jobs of a run of nine."""
    (folder / "Snakefile").write_text(snakefile)
    run = subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "1", "--scheduler", "greedy", "--verbose"],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(PROJECT / "scripts"), "HOME": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert run.returncode == 0, run.stdout
    return run.stdout.count("Ready jobs: ")


def test_ready_jobs_are_looked_at_when_one_has_finished(tmp_path):
    assert 9 <= looks(tmp_path, SNAKEFILE) <= 10


def test_snakemake_still_needs_the_workaround(tmp_path):
    """Fails once Snakemake has mended it: the function can go then."""
    assert looks(tmp_path, SNAKEFILE[: SNAKEFILE.index("onstart:")]) > 10
