"""What a step frees, the next one uses: a process that keeps freed memory maps it once."""

import subprocess
import sys

import pytest

ALLOCATE = """
import resource
from verified.runtime.freed_memory import keep_freed_memory
keep_freed_memory()
import torch
for rounds in (3, 10):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(rounds):
        [torch.ones(3_000_000) for _ in range(8)]
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's malloc is set, which macOS does not have")
def test_memory_that_was_freed_is_not_mapped_anew():
    mapped_anew = int(subprocess.check_output([sys.executable, "-c", ALLOCATE], text=True))
    assert mapped_anew < 1000  # pages; ten rounds map thousands where freed memory is given back
