"""What a step frees, the next one uses: a process that keeps freed memory maps it once."""

import subprocess
import sys

import pytest

ALLOCATE = """
import resource, sys
from verified.runtime.freed_memory import keep_freed_memory
if sys.argv[1] == "kept":
    keep_freed_memory()
import torch
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(3):
    [torch.ones(3_000_000) for _ in range(8)]
before = faults()
for _ in range(10):
    [torch.ones(3_000_000) for _ in range(8)]
print(faults() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's malloc is set, which macOS does not have")
def test_memory_that_was_freed_is_not_mapped_anew():
    faults = {
        way: int(subprocess.check_output([sys.executable, "-c", ALLOCATE, way], text=True)) for way in ("plain", "kept")
    }
    assert faults["kept"] < faults["plain"] / 10
