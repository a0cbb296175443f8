"""A model that proposes windows whole, broken in each way that the contract forbids."""

import pytest
import torch

from verified.benchmark.vcmr.conformance import failures
from verified.benchmark.vcmr.registry import model_class


def changed(**parts):
    """UniVTG with other windows beside the same starts and ends, or with other properties."""
    base = model_class("univtg")
    return type("Changed", (base,), parts)


def moved(change):
    def span_logits(self, *arguments):
        spans = model_class("univtg").span_logits(self, *arguments)
        return spans._replace(windows=None if change is None else change(spans.windows))

    return {"span_logits": span_logits}


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        (moved(None), "windows given is False"),
        ({"proposes": False}, "windows given is True"),
        (moved(lambda windows: windows[..., [1, 0, 2]]), "begins after its end"),
        (moved(lambda windows: windows + torch.tensor([0.0, 1.0, 0.0])), "outside its video"),
        (moved(lambda windows: windows * torch.tensor([1.0, 1.0, 3.0])), "from 0 to 1"),
        (moved(lambda windows: windows * torch.tensor([1.0, 1.0, 0.0])), "no window of a positive score"),
        (moved(lambda windows: windows * torch.tensor([0.5, 1.0, 1.0])), "start is not what"),
        (moved(lambda windows: windows[..., :2]), "not [P, W, 3]"),
    ],
)
def test_windows_that_break_the_contract_are_found_out(parts, reason):
    assert reason in dict(failures(changed(**parts), only=("windows",)))["windows"]
