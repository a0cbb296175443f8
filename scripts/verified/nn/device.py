"""Device of a job."""

import torch


def visible_device() -> str:
    """``cuda`` where this process sees a GPU, else ``cpu``. A job sees those that it asked for (runtime.gpu_leases)."""
    return "cuda" if torch.cuda.is_available() else "cpu"
