"""How much memory and time a GPU took."""

import os

import torch

ON_CPU = os.environ.get("GPU_TESTS_ON") == "cpu"
NO_GPU = "torch finds no CUDA device"


def most_gigabytes() -> float:
    """The most GPU memory that was in use since the test began."""
    return torch.cuda.max_memory_allocated() / 1e9 if torch.cuda.is_available() else 0.0


def wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
