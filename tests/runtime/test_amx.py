"""Where a machine shows AMX and forbids it, bfloat16 on the CPU computes all the same."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from verified.runtime import amx, job

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
UNDEFINED = bytes.fromhex("0f0b")
"""The instruction that every x86 processor refuses."""

COMPUTE = """
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


@pytest.fixture
def unset(monkeypatch):
    for name in amx.VARIABLES:
        monkeypatch.setenv(name, "")  # so that it is restored, whatever the test sets
        monkeypatch.delenv(name)
    return monkeypatch


def test_bfloat16_computes_in_the_environment_of_a_job(unset):
    """Fails on a machine with forbidden AMX, unless the limit is set."""
    unset.setenv(job.PARENT, "")
    job.announce_parent()
    run = subprocess.run([sys.executable, "-c", COMPUTE], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, f"exit status {run.returncode}; {amx.description()}\n{run.stderr}"


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or os.uname().machine != "x86_64", reason="code of x86 on Linux"
)
def test_a_trial_that_dies_counts_as_forbidden():
    assert amx.allows_tiles(UNDEFINED) is False


@pytest.mark.parametrize("start", [job.announce_parent, job.take_environment, amx.limit_onednn])
def test_onednn_is_limited_where_amx_is_forbidden(unset, start):
    unset.setenv(job.PARENT, "")
    unset.setattr(amx, "has_amx", lambda: True)
    unset.setattr(amx, "allows_tiles", lambda: False)
    start()
    assert os.environ["ONEDNN_MAX_CPU_ISA"] == amx.LIMIT and amx.LIMIT in amx.description()


@pytest.mark.parametrize(("advertised", "permitted"), [(False, False), (True, True)])
def test_other_machines_are_left_alone(unset, advertised, permitted):
    unset.setattr(amx, "has_amx", lambda: advertised)
    unset.setattr(amx, "allows_tiles", lambda: permitted)
    amx.limit_onednn()
    assert amx.instruction_limit() is None


@pytest.mark.parametrize("name", amx.VARIABLES)
def test_what_the_user_set_stands(unset, name):
    unset.setattr(amx, "has_amx", lambda: True)
    unset.setattr(amx, "allows_tiles", lambda: False)
    unset.setenv(name, "AVX2")
    amx.limit_onednn()
    assert [os.environ.get(variable) for variable in amx.VARIABLES].count(
        None
    ) == 1 and amx.instruction_limit() == "AVX2"


def test_a_job_decides_for_the_machine_that_it_runs_on(unset, tmp_path):
    """A node of a cluster gets the limit although Snakemake runs on a machine that needs none."""
    script = f"""
import os, sys, types
sys.path.insert(0, {str(SCRIPTS)!r})
from verified.runtime import amx, job
amx.has_amx, amx.allows_tiles = lambda: True, lambda: False
with job.job(types.SimpleNamespace(log=[], rule="any")):
    print(os.environ["ONEDNN_MAX_CPU_ISA"], "torch" in sys.modules)
"""
    bare = {name: value for name, value in os.environ.items() if name != job.PARENT}
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=bare, capture_output=True, text=True, timeout=60
    )
    assert run.stdout == f"{amx.LIMIT} False\n", run.stderr
