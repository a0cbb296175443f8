"""GPU leases, with pretended devices: exclusive, obeyed, and free again however a holder ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from verified.common.errors import InputError
from verified.common.gpu_leases import lease, lock_folder, machine_devices

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
HOLD = """
import os, sys, time
from verified.common.gpu_leases import lease
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


def test_holders_get_devices_of_their_own(tmp_path):
    holders = [hold(tmp_path, 2)]
    first = holders[0].stdout.readline().split()
    holders.append(hold(tmp_path))
    second = holders[1].stdout.readline().split()
    try:
        assert first == ["0,1", "0,1"] and second == ["2", "2"]
        with pytest.raises(InputError, match="became free"), lease(1, ["0", "1", "2"], tmp_path, patience=0):
            pass
    finally:
        for holder in holders:
            holder.kill()
            holder.wait()


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_any_death_frees_the_device(tmp_path, end):
    holder = hold(tmp_path, 3)
    holder.stdout.readline()
    holder.send_signal(end)
    holder.wait()
    with lease(3, ["0", "1", "2"], tmp_path, patience=0) as mine:
        assert mine == ["0", "1", "2"]


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


def test_a_waiter_takes_over(tmp_path):
    holder = hold(tmp_path, 3, then="time.sleep(1.0)")
    holder.stdout.readline()
    started = time.monotonic()
    with lease(2, ["0", "1", "2"], tmp_path, patience=60) as mine:
        assert len(mine) == 2
    assert time.monotonic() - started > 0.1
    holder.wait()


def test_a_child_process_does_not_keep_the_lease(tmp_path):
    """Workers started by a job (data loading) must not hold its device after the job is gone."""
    then = "import subprocess; child = subprocess.Popen(['sleep', '60']); print(child.pid, flush=True); time.sleep(600)"
    holder = hold(tmp_path, 3, then=then)
    holder.stdout.readline()
    child = int(holder.stdout.readline())
    holder.kill()
    holder.wait()
    try:
        with lease(3, ["0", "1", "2"], tmp_path, patience=0) as mine:
            assert len(mine) == 3
    finally:
        os.kill(child, signal.SIGKILL)


def test_slurm_allocations_do_not_share_locks(monkeypatch):
    """Each allocation calls its first device 0."""
    monkeypatch.setenv("SLURM_JOB_ID", "11")
    first = lock_folder()
    monkeypatch.setenv("SLURM_JOB_ID", "12")
    assert lock_folder() != first
    monkeypatch.delenv("SLURM_JOB_ID")
    assert lock_folder() not in (first, None)


def test_schedulers_are_obeyed_and_none_means_none(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3, 7,-1")
    assert machine_devices() == ["3", "7"]
    with lease(0, None, tmp_path) as mine:
        assert mine == [] and os.environ["CUDA_VISIBLE_DEVICES"] == ""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(InputError, match="1 GPUs are asked for and 0 are here"), lease(1, None, tmp_path):
        pass
