"""Environment variables of jobs; values that the user has set win."""

import os
import re
import subprocess
import sys
from pathlib import Path

from verified.runtime.job import ENVIRONMENT

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
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


def test_jobs_inherit_it_and_the_user_goes_first():
    environment = {name: value for name, value in os.environ.items() if name not in ENVIRONMENT}
    run = python(SAY, {**environment, "OMP_WAIT_POLICY": "active"})
    assert run.stdout == f"{['active', *list(ENVIRONMENT.values())[1:]]}\n", run.stderr


def test_bfloat16_computes_in_a_job():
    """Also on a machine that shows AMX and forbids it."""
    bare = {name: value for name, value in os.environ.items() if name not in ENVIRONMENT}
    run = python(BFLOAT16, {**bare, **ENVIRONMENT})
    assert run.returncode == 0, f"exit status {run.returncode}\n{run.stderr}"


def test_a_command_that_computes_takes_it_before_torch_is_loaded():
    bare = {name: value for name, value in os.environ.items() if name not in ENVIRONMENT}
    run = python(CHECK, bare | {"OMP_DISPLAY_ENV": "true"})
    assert "nowhere" in run.stderr and re.search(r"OMP_WAIT_POLICY\s*=\s*'PASSIVE'", run.stderr)


def python(code, environment):
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300)
