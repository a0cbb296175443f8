"""A job ends with the Snakemake that started it, also when that died before the job could ask to be told."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux only")

JOB = f"""
import sys, time
sys.path.insert(0, {str(SCRIPTS)!r})
from verified.common.job import die_with_parent
print("started", flush=True)
time.sleep({{late}})
die_with_parent()
print("at work", flush=True)
time.sleep(600)
"""
# Starts a job as Snakemake does, from a thread, says its process id, and ends when it is told to.
PARENT = f"""
import subprocess, sys, threading
sys.path.insert(0, {str(SCRIPTS)!r})
from verified.common.job import announce_parent
announce_parent()
threading.Thread(target=lambda: subprocess.run([sys.executable, "-c", sys.argv[1]], stdout=2), daemon=True).start()
sys.stdin.read()
"""


@pytest.mark.timeout(60)
@pytest.mark.parametrize("late", [0, 1.5], ids=["at work", "not yet asked"])
def test_a_job_dies_with_its_parent(late):
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, JOB.format(late=late)],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    ) as parent:  # fmt: skip
        assert parent.stderr.readline() == "started\n"
        if not late:
            assert parent.stderr.readline() == "at work\n"
        parent.kill()
        # The job holds the other end: it is closed when the job is gone.
        assert parent.stderr.read() == ("the Snakemake that started this job is dead\n" if late else "")


def test_a_job_started_by_hand_needs_no_snakemake():
    environment = {name: value for name, value in os.environ.items() if name != "VERIFIED_SNAKEMAKE"}
    code = JOB.format(late=0).replace("time.sleep(600)", "")
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout) == (0, "started\nat work\n")
