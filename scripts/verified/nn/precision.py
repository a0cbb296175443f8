"""Number formats of a network's inner computations."""

import torch


def computing(device: torch.device | str, precision: str) -> torch.autocast:
    """A context that computes in `precision`: float32, or bfloat16 where torch's autocast holds it to be safe."""
    return torch.autocast(torch.device(device).type, torch.bfloat16, enabled=precision == "bfloat16")


def whole(device: torch.device | str) -> torch.autocast:
    """A context inside the other that computes in float32 again: for what small differences decide."""
    return torch.autocast(torch.device(device).type, enabled=False)
