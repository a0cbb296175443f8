"""What a workflow's jobs find in their environment, and that what the user has set stands."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
SAY = f"""
import os, subprocess, sys
sys.path.insert(0, {str(SCRIPTS)!r})
from verified.common.job import ENVIRONMENT, announce_parent
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


def test_jobs_inherit_it_and_the_user_goes_first():
    environment = {**os.environ, "OMP_WAIT_POLICY": "active"}
    for name in ("KMP_BLOCKTIME", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"):
        environment.pop(name, None)
    run = subprocess.run([sys.executable, "-c", SAY], env=environment, capture_output=True, text=True, timeout=60)
    assert run.stdout == "['active', '0', '33554432', '536870912']\n", run.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's variables")
def test_kept_memory_is_not_fetched_again():
    from verified.common.job import ENVIRONMENT

    bare = {name: value for name, value in os.environ.items() if name not in ENVIRONMENT}
    fetched = [
        int(subprocess.run([sys.executable, "-c", PAGES], env=env, capture_output=True, text=True, timeout=60).stdout)
        for env in ({**bare, "MALLOC_TRIM_THRESHOLD_": "0"}, {**bare, **ENVIRONMENT})
    ]
    if fetched[0] < 1000:
        pytest.skip("this C library has no such variables")
    assert fetched[1] < fetched[0] / 10, fetched
