"""The weights that come with the workflow, and their card."""

import torch

from verified.demo.pretrained import SHIPPED
from verified.demo.tiny_evaluator.stem import IMAGE_SIZE, STAGES, TinyStem
from verified.evaluator.checkpoint import load_checkpoint
from verified.evaluator.settings import architecture
from verified.features.video import load_backbone
from verified.io.files import file_digest
from verified.io.jsonl import read_json

CARD = read_json(SHIPPED / "card.json")


def test_the_card_names_every_file_by_its_bytes():
    for name, entry in CARD["files"].items():
        path = SHIPPED / name
        assert (path.stat().st_size, file_digest(path)) == (entry["bytes"], entry["sha256"]), name
    there = {path.relative_to(SHIPPED).as_posix() for path in SHIPPED.rglob("*") if path.is_file()}
    assert there == {*CARD["files"], "card.json", "README.md"}
    assert sum(entry["bytes"] for entry in CARD["files"].values()) < 8_000_000


def test_the_stem_and_the_feature_backbone_are_one_network():
    backbone = load_backbone("small-resnet")
    stem = load_checkpoint(SHIPPED / "evaluator.safetensors").vision.stem.network
    assert all(torch.equal(value, stem.state_dict()[name]) for name, value in backbone._model.state_dict().items())
    assert (backbone.size, backbone.dim) == (IMAGE_SIZE, STAGES[-1])


def test_the_image_network_stays_as_it_was_trained():
    stem = TinyStem(architecture("tiny", 8, 64)).train()
    before = {name: value.clone() for name, value in stem.network.state_dict().items()}
    stem(torch.randn(2, 8, 3, 64, 64)).square().mean().backward()
    assert stem.motion.training and not stem.network.training
    assert all(parameter.grad is None for parameter in stem.network.parameters())
    assert all(torch.equal(before[name], value) for name, value in stem.network.state_dict().items())
