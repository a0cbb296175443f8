"""What a workflow's jobs find in their environment, and that what the user has set stands."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

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
PAGES = """
import resource
def faults(): return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
bytearray(8 << 20); before = faults()
for _ in range(10): bytearray(8 << 20)
print(faults() - before)
"""
SEARCH = f"""
import sys
sys.path.insert(0, {str(SCRIPTS)!r})
from verified.__main__ import main
assert main(["search", "a red ball", "--index", "nowhere"]) == 2 and "torch" in sys.modules
"""
HELD = PAGES.replace("bytearray(8 << 20)", "[bytearray(8 << 20) for _ in range(6)]")  # more than glibc keeps by itself


def test_jobs_inherit_it_and_the_user_goes_first():
    environment = {**os.environ, "OMP_WAIT_POLICY": "active"}
    for name in ("KMP_BLOCKTIME", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"):
        environment.pop(name, None)
    run = subprocess.run([sys.executable, "-c", SAY], env=environment, capture_output=True, text=True, timeout=300)
    assert run.stdout == "['active', '0', '33554432', '536870912']\n", run.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's variables")
def test_kept_memory_is_not_fetched_again():
    bare = {name: value for name, value in os.environ.items() if name not in ENVIRONMENT}
    fetched = [
        int(subprocess.run([sys.executable, "-c", PAGES], env=env, capture_output=True, text=True, timeout=300).stdout)
        for env in ({**bare, "MALLOC_TRIM_THRESHOLD_": "0"}, {**bare, **ENVIRONMENT})
    ]
    if fetched[0] < 1000:
        pytest.skip("this C library has no such variables")
    assert fetched[1] < fetched[0] / 10, fetched


def test_a_command_that_computes_takes_it_before_torch_is_loaded():
    bare = {name: value for name, value in os.environ.items() if name not in ENVIRONMENT}
    without, within = (
        subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=300)
        for code, env in ((HELD, bare), (SEARCH + HELD, bare | {"OMP_DISPLAY_ENV": "true"}))
    )
    assert "no index here" in within.stderr and re.search(r"OMP_WAIT_POLICY\s*=\s*'PASSIVE'", within.stderr)
    if int(without.stdout) > 1000:  # else this C library has no such sizes
        assert int(within.stdout) < int(without.stdout) / 10
