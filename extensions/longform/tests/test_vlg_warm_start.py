"""GCNeXt's start from a published checkpoint, by the official names."""

import numpy as np
import pytest
import torch

from verified.io.files import file_digest
from verified.io.hdf5 import write_features
from verified.io.jsonl import write_jsonl
from verified.nn import checkpoint
from verified_longform.config import VlgNet
from verified_longform.experiment import train_vlg_net
from verified_longform.grid import Grid
from verified_longform.vlg_checkpoint import FORM, warm_start
from verified_longform.vlg_net import VLGNet, VLGSettings

pytestmark = pytest.mark.slow

SIZE = {"video_dim": 6, "query_dim": 5, "hidden": 8, "query_hidden": 8, "clips": 8, "groups": 2, "per_group": 2}


def _model(**changes):
    torch.manual_seed(0)
    return VLGNet(VLGSettings(**{**SIZE, "blocks": 3, "neighbours": 2, **changes}), Grid(window=16, clips=8).anchors)


def _block(model):
    torch.manual_seed(1)
    return {name: torch.randn_like(value) for name, value in model.context_aggregator[0].state_dict().items()}


@pytest.mark.parametrize(
    "prefix, semantic",
    [("module.backbone1.2.", "sconvs."), ("module.x_1d_b.2.", "fconvs."), ("context_aggregator.0.", "sconvs.")],
)
def test_every_pass_has_the_published_block_and_nothing_else_changes(tmp_path, prefix, semantic):
    model, untouched = _model(), _model().state_dict()
    block = _block(model)
    named = {prefix + name.replace("sconvs.", semantic): value for name, value in block.items()}
    torch.save({"state_dict": {**named, "module.other.weight": torch.ones(2)}}, tmp_path / "gtad.pth.tar")
    facts = warm_start(model, tmp_path / "gtad.pth.tar")
    assert (facts["taken"], facts["not_taken"]) == (12, 1)
    assert facts["sha256"] == file_digest(tmp_path / "gtad.pth.tar")
    for name, value in model.state_dict().items():
        own = name.split(".", 2)
        wanted = block[own[2]] if own[0] == "context_aggregator" else untouched[name]
        assert torch.equal(value, wanted), name


def test_the_trained_checkpoint_states_where_it_started(tmp_path):
    random = np.random.default_rng(0)
    shapes = {"frames": ("m", (60, 6)), "tokens": ("q", (4, 5))}
    for kind, (key, shape) in shapes.items():
        items = [(key, random.normal(size=shape).astype(np.float16), {})]
        write_features(tmp_path / f"{kind}.h5", {"backbone": "b", "dim": shape[1], "fps": 2.0}, items)
    row = {"id": "q", "movie": "m", "sentence": "s", "duration": 30.0, "start": 4.0, "end": 7.0, "split": "train"}
    write_jsonl(tmp_path / "rows.jsonl", [row])
    files = {kind: str(tmp_path / f"{kind}.h5") for kind in shapes}
    mixture = {"own": {"share": 1.0, "split": "train", "rows": str(tmp_path / "rows.jsonl"), **files}}
    sizes = {"hidden": 16, "blocks": 2, "groups": 2, "neighbours": 2, "stack": 2, "gather": "correct"}
    settings = VlgNet(**sizes, epochs=1, batch=2, learning_rate=1e-12, warm_start=str(tmp_path / "gtad.pth.tar"))
    grid = Grid(fps=2.0, window=16, clips=8, pooling_counts=(3,))
    block = _block(VLGNet(VLGSettings(6, 5, 16, 16, 8, blocks=1, groups=2), grid.anchors))
    torch.save({f"module.backbone1.2.{name}": value for name, value in block.items()}, settings.warm_start)
    train_vlg_net(mixture, grid, settings, 0, tmp_path / "checkpoint.safetensors", "code")
    tensors, header = checkpoint.load(tmp_path / "checkpoint.safetensors", FORM)
    assert header["warm_start"]["sha256"] == file_digest(settings.warm_start) and header["warm_start"]["taken"] == 12
    for name, value in block.items():
        assert torch.allclose(tensors[f"context_aggregator.1.{name}"], value, atol=1e-6)
