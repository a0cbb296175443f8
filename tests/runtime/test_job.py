"""A job ends with the Snakemake that started it, also when that died before the job could ask to be told."""

import logging
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from verified.runtime.job import log_to
from verified.runtime.progress import JobLines

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux only")

JOB = f"""
import sys, time
sys.path.insert(0, {str(SCRIPTS)!r})
from verified.runtime.job import die_with_parent
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
from verified.runtime.job import announce_parent
announce_parent()
threading.Thread(target=lambda: subprocess.run([sys.executable, "-c", sys.argv[1]], stdout=2), daemon=True).start()
sys.stdin.read()
"""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("late", [0, 1.5], ids=["at work", "not yet asked"])
def test_a_job_dies_with_its_parent(late):
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, JOB.format(late=late)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stderr.readline() == "started\n"
        if not late:
            assert parent.stderr.readline() == "at work\n"
        parent.kill()
        # The job holds the other end: it is closed when the job is gone.
        assert parent.stderr.read() == ("the Snakemake that started this job is dead\n" if late else "")


def test_a_job_started_by_hand_needs_no_snakemake():
    environment = {name: value for name, value in os.environ.items() if name != "VERIFIED_SNAKEMAKE"}
    code = JOB.format(late=0).replace("time.sleep(600)", "")
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300)
    assert (run.returncode, run.stdout) == (0, "started\nat work\n")


SPAWNING = f"""
import sys
sys.path.insert(0, {str(SCRIPTS)!r})
from verified.runtime.job import job

with job(snakemake):
    import multiprocessing
    from verified.runtime.wildcards import shard_name

    with multiprocessing.get_context("spawn").Pool(2) as pool:
        names = pool.map(shard_name, range(3))
    open(snakemake.output[0], "w").write(" ".join(names))
"""


def test_a_job_may_start_processes_of_its_own_without_running_its_script_again(tmp_path):
    (tmp_path / "spawning.py").write_text(SPAWNING)
    (tmp_path / "Snakefile").write_text('rule spawn:\n    output: "names"\n    log: "l"\n    script: "spawning.py"\n')
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--workflow-profile", "none"]
    command += ["--directory", str(tmp_path), "--snakefile", str(tmp_path / "Snakefile")]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    assert run.returncode == 0, run.stdout
    assert (tmp_path / "names").read_text() == "shard-00 shard-01 shard-02"


def test_a_run_in_a_pipe_prints_its_finished_jobs_from_time_to_time(capsys):
    lines = JobLines(every=0.05)
    for done in (3, 4):
        lines.handle(logging.makeLogRecord({"event": "progress", "done": done, "total": 66}))
    lines.handle(logging.makeLogRecord({"event": "job_info"}))
    time.sleep(0.3)
    lines.close()
    assert ": 4 of 66 jobs are finished" in capsys.readouterr().err


def test_a_log_whose_folder_is_removed_goes_on_in_a_new_one(tmp_path):
    path = tmp_path / "logs" / "train" / "xml.log"
    logger = log_to(str(path), mode="a")
    logger.info("first")
    logger.handlers[-1].close()
    shutil.rmtree(tmp_path / "logs")
    logger.info("second \x1b[2J")
    assert path.read_text().endswith(" second \\x1b[2J\n")
    log_to()
