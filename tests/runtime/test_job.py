"""Jobs: they end with the Snakemake that started them; their variables, priorities, times and work ahead."""

import itertools
import logging
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from verified.io.files import is_inside
from verified.runtime.job import ENVIRONMENT, log_to
from verified.runtime.processes import prefetch
from verified.runtime.progress import JobLines
from verified.runtime.resources import extra_tries, scale_by_attempt, shard_priority
from verified.runtime.seeds import derive_seed
from verified.runtime.wildcards import one_of

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux only")

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


def python(code: str, **variables: str) -> subprocess.CompletedProcess:
    """Run `code` in the environment of a user, to which nothing of a job was added but `variables`."""
    ours = {*ENVIRONMENT, "VERIFIED_SNAKEMAKE"}
    bare = {name: value for name, value in os.environ.items() if name not in ours} | variables
    return subprocess.run([sys.executable, "-c", code], env=bare, capture_output=True, text=True, timeout=300)


@linux
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


@linux
def test_a_job_started_by_hand_needs_no_snakemake():
    run = python(JOB.format(late=0).replace("time.sleep(600)", ""))
    assert (run.returncode, run.stdout) == (0, "started\nat work\n")


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


SAY = f"""
import os, subprocess, sys
sys.path.insert(0, {str(SCRIPTS)!r})
from verified.runtime.job import ENVIRONMENT, announce_parent
announce_parent()
say = "import os, sys; print([os.environ.get(name) for name in sys.argv[1:]])"
sys.exit(subprocess.run([sys.executable, "-c", say, *ENVIRONMENT]).returncode)
"""
CHECK = f"""
import sys
sys.path.insert(0, {str(SCRIPTS)!r})
from verified.__main__ import main
assert main(["check-model", "nowhere"]) == 2 and "torch" in sys.modules
"""
BFLOAT16 = """
import torch
torch.manual_seed(0)
layer, clips = torch.nn.Linear(256, 192), torch.randn(64, 256)
filters, frames = torch.nn.Conv2d(3, 32, 3), torch.randn(2, 3, 40, 40)
exact = layer(clips)
with torch.autocast("cpu", torch.bfloat16):
    rounded, maps = layer(clips), filters(frames)
    attended = torch.nn.functional.scaled_dot_product_attention(*3 * [rounded.view(1, 4, 16, 192)])
rounded.float().sum().backward()
assert rounded.dtype == maps.dtype == torch.bfloat16
assert all(numbers.isfinite().all() for numbers in (rounded, maps, attended, layer.weight.grad))
torch.testing.assert_close(rounded.float(), exact, rtol=0, atol=0.05)  # values of about 0.6, of 8 bits
assert torch.equal(layer(clips), exact)  # float32 still computes in this process
"""

THREADS = f"""
import sys
sys.path.insert(0, {str(SCRIPTS)!r})
from verified.runtime.job import set_threads
set_threads(cores)
import torch
print(torch.get_num_threads())
"""


def test_jobs_inherit_it_and_the_user_goes_first():
    run = python(SAY, OMP_WAIT_POLICY="active")
    assert run.stdout == f"{['active', *list(ENVIRONMENT.values())[1:]]}\n", run.stderr


def test_a_job_takes_its_threads_also_where_there_are_fewer_cores():
    asked = 3 + (os.cpu_count() or 1)
    assert python(THREADS.replace("cores", str(asked))).stdout == f"{asked}\n"


def test_bfloat16_computes_in_a_job():
    """Also on a machine that shows AMX and forbids it."""
    run = python(BFLOAT16, **ENVIRONMENT)
    assert run.returncode == 0, f"exit status {run.returncode}\n{run.stderr}"


def test_a_command_that_computes_takes_it_before_torch_is_loaded():
    run = python(CHECK, OMP_DISPLAY_ENV="true")
    assert "nowhere" in run.stderr and re.search(r"OMP_WAIT_POLICY\s*=\s*'PASSIVE'", run.stderr)


@pytest.mark.parametrize("path", ["../x", "/x", "a/../b", "a//b", "a/./b", "", "a\\b", "a\0"])
def test_paths_that_leave_their_folder(path):
    assert not is_inside(path)
    assert is_inside("models/1_Pooling/config.json")


def test_names_of_draws_are_not_joined_and_no_names_match_nothing():
    assert derive_seed(1, "a", "bc") != derive_seed(1, "ab", "c") and not re.fullmatch(one_of([]), "")


def test_jobs_of_early_shards_come_first_and_a_retry_gets_more_time_up_to_the_limit():
    assert [shard_priority(4, SimpleNamespace(shard=f"shard-0{n}")) for n in range(3)] == [2, 1.75, 1.5]
    assert [scale_by_attempt(40, 100)(None, attempt=attempt) for attempt in (1, 2, 3)] == [40, 80, 100]
    assert [extra_tries(60, minutes) for minutes in (60, 61, 150)] == [None, 3, 4]


def threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("ahead")]


def test_order_is_kept_within_bounds_and_an_error_arrives_where_it_happened():
    produced, seen = [], []

    def source():
        for number in range(100):
            produced.append(number)
            yield number
        raise KeyError("gone")

    with pytest.raises(KeyError, match="gone"):
        for number in prefetch(source(), depth=3):
            assert len(produced) <= number + 6
            seen.append(number)
    assert seen == list(range(100)) and not threads()


def test_stopping_early_stops_the_producer():
    items = prefetch(itertools.count())
    assert [next(items) for _ in range(5)] == [0, 1, 2, 3, 4]
    items.close()
    assert not threads()
