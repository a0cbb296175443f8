"""VLG-Net against the outputs of the authors' code."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from verified_longform.grid import Grid
from verified_longform.vlg_net import VLGNet, VLGSettings, anchor_loss, scaled_targets

FIXTURES = Path(__file__).parent / "fixtures"
GRID = Grid(window=32, clips=16, pooling_counts=(3, 2, 1))
TINY = VLGSettings(24, 24, 32, 20, 16, blocks=3, neighbours=3, match_neighbours=5, groups=4, per_group=4, stack=3)


@pytest.fixture(scope="module")
def stored():
    file = np.load(FIXTURES / "vlg_tiny.npz")
    return {key: torch.from_numpy(np.array(file[key])) for key in file}


@pytest.fixture(scope="module")
def net(stored):
    return _filled(VLGNet(TINY, GRID.anchors), stored)


def _filled(model: VLGNet, stored: dict) -> VLGNet:
    weights = {key[3:]: value for key, value in stored.items() if key.startswith("w::")}
    weights.pop("pos2d_encoder.pos2d")
    model.load_state_dict(weights)
    return model.eval()


def _on_anchors(grid_map: torch.Tensor) -> torch.Tensor:
    first, end = torch.from_numpy(GRID.anchors).T
    return grid_map[..., first, end - 1]


@torch.no_grad()
def test_every_step_equals_the_official_code(net, stored):
    words = torch.arange(9) < stored["wordlens"][:, None]
    video, query = net.encode_video(stored["feats"]), net.encode_query(stored["queries"])
    fused_video, fused_query = net.clip_level_fusion(video, query, words)
    for ours, name in (
        (video, "video_encoded"),
        (query, "language_encoded"),
        (fused_video, "fused_video"),
        (fused_query, "fused_language"),
    ):
        assert (ours - stored[name]).abs().max() < 1e-5, name
    table = stored["w::pos2d_encoder.pos2d"][0]
    assert (net.positions - _on_anchors(table)).abs().max() < 1e-6


def test_logits_and_loss_equal_the_official_code(net, stored):
    logits = net(stored["feats"], stored["queries"], stored["wordlens"])
    assert (logits - _on_anchors(stored["score_logits"])).abs().max() < 1e-5
    assert (logits.sigmoid() - _on_anchors(stored["scores_masked"])).abs().max() < 1e-5
    loss = anchor_loss(logits, scaled_targets(_on_anchors(stored["targets_iou"])))
    assert loss.item() == pytest.approx(stored["loss"].item(), abs=1e-5)


def test_the_sentence_behind_the_pooling_gets_no_gradient_as_published(net, stored):
    net.zero_grad()
    net(stored["feats"], stored["queries"], stored["wordlens"]).sum().backward()
    pooling = net.masked_attention_pooling
    assert pooling.conv1d_lang.weight.grad.abs().max() < 1e-5
    assert pooling.conv1d.weight.grad[:, 32:].abs().max() > 1e-3


def test_gathering_matters_and_the_correct_one_fetches_the_neighbours(stored):
    from verified_longform.vlg_net import gather, nearest

    correct = _filled(VLGNet(replace(TINY, gather="correct"), GRID.anchors), stored)
    with torch.no_grad():
        logits = correct(stored["feats"], stored["queries"], stored["wordlens"])
    assert (logits - _on_anchors(stored["score_logits"])).abs().max() > 1e-2
    x = torch.randn(2, 5, 7, generator=torch.Generator().manual_seed(0))
    _, index = nearest(x, 3)
    assert (index[:, :, 0] == torch.arange(7)).all()  # itself is the nearest
    assert torch.equal(gather(x, index, "correct")[1, :, 4, 2], x[1, :, index[1, 4, 2]])


def test_the_published_size():
    model = VLGNet(VLGSettings(), Grid().anchors)
    assert sum(weights.numel() for weights in model.parameters()) == 5_330_435
