"""What a job holds: GPU leases, exclusive and free again, and child processes that end with it and leave no lock."""

import contextlib
import os
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from refusals import refused

from verified.runtime.gpu_leases import lease, lock_folder, machine_devices
from verified.runtime.processes import runs

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
HOLD = """
import os, sys, time
from verified.runtime.gpu_leases import lease
with lease(int(sys.argv[2]), ["0", "1", "2"], sys.argv[1], patience=60) as mine:
    print(",".join(mine), os.environ["CUDA_VISIBLE_DEVICES"], flush=True)
    {then}
"""
UNTIL_KILLED = "time.sleep(600)"


def hold(folder, count=1, then=UNTIL_KILLED):
    """A process that holds `count` of three devices, after it says which."""
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    command = [sys.executable, "-c", HOLD.format(then=then), str(folder), str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def test_holders_get_devices_of_their_own_and_a_waiter_those_that_become_free(tmp_path):
    holders = [hold(tmp_path, 2), hold(tmp_path, then="time.sleep(1.0)")]
    try:
        said = [holder.stdout.readline().split() for holder in holders]
        assert sorted(",".join(devices for devices, _ in said).split(",")) == ["0", "1", "2"]
        assert all(devices == visible for devices, visible in said)
        with refused("free"), lease(2, ["0", "1", "2"], tmp_path, patience=0):
            pass
        with lease(1, ["0", "1", "2"], tmp_path, patience=60) as mine:
            assert mine == [said[1][0]]
        with refused("free"), lease(2, ["0", "1", "2"], tmp_path, patience=0):  # one alone
            pass
    finally:
        for holder in holders:
            holder.kill()
            holder.wait()


def test_an_exception_frees_the_device_and_restores_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5,6")
    for _ in range(2):
        with pytest.raises(RuntimeError), lease(1, None, tmp_path, patience=0) as mine:
            assert mine == ["5"] and os.environ["CUDA_VISIBLE_DEVICES"] == "5"
            raise RuntimeError
        assert os.environ["CUDA_VISIBLE_DEVICES"] == "5,6"
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    with lease(1, ["0"], tmp_path):
        pass
    assert "CUDA_VISIBLE_DEVICES" not in os.environ


@pytest.mark.parametrize(
    ("variables", "devices"),
    [
        ({}, ["0", "2", "10"]),
        ({"CUDA_VISIBLE_DEVICES": "3, 7,-1"}, ["3", "7"]),
        ({"CUDA_VISIBLE_DEVICES": "NoDevFiles"}, []),
        ({"CUDA_VISIBLE_DEVICES": ""}, []),
        ({"SLURM_JOB_ID": "11"}, []),
        ({"SLURM_JOB_ID": "11", "SLURM_JOB_GPUS": "2,3"}, ["2", "3"]),
        ({"SLURM_JOB_ID": "12", "SLURM_JOB_GPUS": "2,3", "SLURM_STEP_GPUS": "3"}, ["3"]),
        ({"SLURM_JOB_ID": "13", "SLURM_JOB_GPUS": "2,3", "CUDA_VISIBLE_DEVICES": "3"}, ["3"]),
    ],
)
def test_schedulers_are_obeyed_and_allocations_share_no_locks(tmp_path, monkeypatch, variables, devices):
    for name in ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "SLURM_STEP_GPUS", "SLURM_JOB_GPUS", "SLURM_JOB_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "glob", lambda *_: [Path(f"/dev/nvidia{name}") for name in (0, 10, 2, "ctl")])
    elsewhere = lock_folder()
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert machine_devices() == devices
    assert (lock_folder() != elsewhere) == ("SLURM_JOB_ID" in variables)
    with lease(0, None, tmp_path) as mine:
        assert mine == [] and os.environ["CUDA_VISIBLE_DEVICES"] == ""
    with refused("4 GPUs", str(len(devices)), remedy=True), lease(4, None, tmp_path):
        pass


linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux only")

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


@linux
@pytest.mark.timeout(120)
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


@linux
@pytest.mark.timeout(120)
def test_a_child_that_lives_on_holds_no_lock(tmp_path):
    with started(tmp_path, "fork(lambda: (os.setsid(), survive()))") as (job, child):
        (locks,) = tmp_path.glob("verified-gpus-*")
        end(job)
        assert runs(child)
        with lease(2, ["0", "1"], locks, patience=0) as devices:
            assert devices == ["0", "1"]
