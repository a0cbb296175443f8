"""Tests that need a GPU: make test-gpu. Without one, each is skipped with the reason.

GPU_TESTS_ON=cpu runs the same code on the CPU at tiny sizes, to try the tests themselves.
"""

import pytest
import torch
from gpu_device import NO_GPU, ON_CPU


@pytest.fixture
def device() -> torch.device:
    """The first GPU, freshly emptied; skips without one."""
    if ON_CPU:
        return torch.device("cpu")
    if not torch.cuda.is_available():
        pytest.skip(NO_GPU)
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    return torch.device("cuda")


@pytest.fixture
def report(capsys):
    """Print a line that is seen whatever pytest captures."""

    def line(text: str) -> None:
        with capsys.disabled():
            name = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
            print(f"\n{name}: {text}")

    return line
