"""A killed job takes its child processes along and leaves no lock that delays the next start."""

import contextlib
import os
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from verified.runtime.gpu_leases import lease
from verified.runtime.processes import runs

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
pytestmark = [pytest.mark.skipif(sys.platform != "linux", reason="Linux only"), pytest.mark.timeout(120)]

# A job on one of two pretended GPUs, whose child says its process id and sleeps.
JOB = """
import ctypes, multiprocessing, os, sys, threading, time
from types import SimpleNamespace
from verified.runtime.job import job
import sleeper

def fork(then=lambda: None):
    if not os.fork():
        then()
        sleeper.sleep()

def context(name):
    multiprocessing.get_context(name).Process(target=sleeper.sleep).start()

def survive():  # as a child that nothing ties would
    ctypes.CDLL(None).prctl(1, 0)

with job(SimpleNamespace(log=None, resources=SimpleNamespace(gpu=1))):
    {start}
    time.sleep(600)
"""
SLEEPER = """
import multiprocessing, os, time

def sleep():
    os.write(1, f"{os.getpid()}\\n".encode())
    time.sleep(600)

def start_another():
    multiprocessing.get_context("spawn").Process(target=sleep).start()
    time.sleep(600)
"""
STARTS = {
    "forked": "fork()",
    "a session of its own": "fork(os.setsid)",
    "forked by multiprocessing": "context('fork')",
    "spawned": "context('spawn')",
    "forked in a thread that lives on": "threading.Thread(target=lambda: (fork(), time.sleep(600))).start()",
    "forked in a thread that ends": "threading.Thread(target=fork).start()",
    "a child's child": "multiprocessing.get_context('spawn').Process(target=sleeper.start_another).start()",
}


@contextlib.contextmanager
def started(folder: Path, start: str):
    """A job in `folder` and the process id of its child."""
    (folder / ".snakemake" / "locks").mkdir(parents=True)
    (folder / ".snakemake" / "locks" / "0.output.lock").touch()
    (folder / ".snakemake" / "run.lock").write_text(platform.node())
    (folder / "sleeper.py").write_text(SLEEPER)
    environment = {**os.environ, "PYTHONPATH": f"{SCRIPTS}{os.pathsep}{folder}", "TMPDIR": str(folder)}
    environment |= {"CUDA_VISIBLE_DEVICES": "0,1", "VERIFIED_SNAKEMAKE": str(os.getpid())}
    command = [sys.executable, "-c", JOB.format(start=start)]
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as job:
        child = int(job.stdout.readline())
        try:
            yield job, child
        finally:
            job.kill()
            if runs(child):
                os.kill(child, signal.SIGKILL)


def end(job: subprocess.Popen) -> None:
    job.kill()
    job.wait()


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS.keys())
def test_a_child_dies_with_its_killed_job(start, tmp_path):
    with started(tmp_path, start) as (job, child):
        time.sleep(1)  # what a thread that ends would take along is gone by then
        assert runs(child)
        end(job)
        deadline = time.monotonic() + 30
        while runs(child) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not runs(child)


def test_a_child_that_lives_on_holds_no_lock(tmp_path):
    with started(tmp_path, "fork(lambda: (os.setsid(), survive()))") as (job, child):
        (locks,) = tmp_path.glob("verified-gpus-*")
        end(job)
        assert runs(child)
        with lease(2, ["0", "1"], locks, patience=0) as devices:
            assert devices == ["0", "1"]
