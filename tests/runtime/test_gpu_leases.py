"""GPU leases, with pretended devices: exclusive, obeyed, and free again however a holder ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from refusals import refused

from verified.runtime.gpu_leases import lease, lock_folder, machine_devices

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


SEEN = """
import os, sys
from verified.runtime.job import job
with job(snakemake):
    names = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
    open(snakemake.output[0], "w").write(" ".join(repr(os.environ.get(name)) for name in names))
"""


@pytest.mark.parametrize(("given", "two"), [("4,5,6", "'4,5' '4,5'"), ("", None)], ids=["three here", "none here"])
def test_a_script_sees_as_many_gpus_as_its_rule_asks_for(tmp_path, given, two):
    (tmp_path / "seen.py").write_text(SEEN)
    rules = "".join(
        f'rule {name}:\n    output: "{name}"\n    log: "{name}.log"\n{resources}    script: "seen.py"\n'
        for name, resources in {
            "unsaid": "",
            "none": "    resources: gpu=0\n",
            "two": "    resources: gpu=2\n",
        }.items()
    )
    (tmp_path / "Snakefile").write_text(rules)
    command = [sys.executable, "-m", "snakemake", "unsaid", "none", "two", "--cores", "1", "--keep-going"]
    command += ["--directory", str(tmp_path), "--snakefile", str(tmp_path / "Snakefile"), "--workflow-profile", "none"]
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS), "CUDA_VISIBLE_DEVICES": given, "TMPDIR": str(tmp_path)}
    run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert (tmp_path / "unsaid").read_text() == (tmp_path / "none").read_text() == "'' ''", run.stdout
    if two:
        assert (tmp_path / "two").read_text() == two, run.stdout
    else:
        assert run.returncode and not (tmp_path / "two").exists()
        assert "2 GPUs are asked for and 0 are here" in (tmp_path / "two.log").read_text()
