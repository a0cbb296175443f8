"""GCNeXt's start from a published checkpoint, by the official names."""

import pytest
import torch

from verified.io.files import file_digest
from verified_longform.grid import Grid
from verified_longform.vlg_checkpoint import warm_start
from verified_longform.vlg_net import VLGNet, VLGSettings

pytestmark = pytest.mark.slow

SIZE = {"video_dim": 6, "query_dim": 5, "hidden": 8, "query_hidden": 8, "clips": 8, "groups": 2, "per_group": 2}


def _model(**changes):
    torch.manual_seed(0)
    return VLGNet(VLGSettings(**{**SIZE, "blocks": 3, "neighbours": 2, **changes}), Grid(window=16, clips=8).anchors)


@pytest.mark.parametrize(
    "prefix, semantic",
    [("module.backbone1.2.", "sconvs."), ("module.x_1d_b.2.", "fconvs."), ("context_aggregator.0.", "sconvs.")],
)
def test_every_pass_has_the_published_block_and_nothing_else_changes(tmp_path, prefix, semantic):
    model, untouched = _model(), _model().state_dict()
    torch.manual_seed(1)
    block = {name: torch.randn_like(value) for name, value in model.context_aggregator[0].state_dict().items()}
    named = {prefix + name.replace("sconvs.", semantic): value for name, value in block.items()}
    torch.save({"state_dict": {**named, "module.other.weight": torch.ones(2)}}, tmp_path / "gtad.pth.tar")
    facts = warm_start(model, tmp_path / "gtad.pth.tar")
    assert (facts["taken"], facts["not_taken"]) == (12, 1)
    assert facts["sha256"] == file_digest(tmp_path / "gtad.pth.tar")
    for name, value in model.state_dict().items():
        own = name.split(".", 2)
        wanted = block[own[2]] if own[0] == "context_aggregator" else untouched[name]
        assert torch.equal(value, wanted), name
