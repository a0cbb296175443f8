"""The weights that come with the workflow: made by its rules, as their card says, from a separate corpus."""

import random

import pytest
import torch
from running import PROJECT, snakemake

from verified.demo.pretrained import SHIPPED
from verified.demo.pretrained.card import EVENTS, grade
from verified.demo.scenes import draw_event, make_scenes
from verified.demo.tiny_evaluator.pretrain import synthetic_item
from verified.demo.tiny_evaluator.stem import IMAGE_SIZE, STAGES
from verified.evaluator.checkpoint import load_checkpoint, read_header
from verified.features.video import load_backbone
from verified.io.files import file_digest
from verified.io.jsonl import read_json, read_jsonl
from verified.runtime.seeds import derive_seed

CARD = read_json(SHIPPED / "card.json")


def test_the_card_names_every_file_by_its_bytes():
    for name, entry in CARD["files"].items():
        path = SHIPPED / name
        assert (path.stat().st_size, file_digest(path)) == (entry["bytes"], entry["sha256"]), name
    there = {path.relative_to(SHIPPED).as_posix() for path in SHIPPED.rglob("*") if path.is_file()}
    assert there == {*CARD["files"], "card.json", "README.md"}
    assert sum(entry["bytes"] for entry in CARD["files"].values()) < 8_000_000


def test_the_evaluator_is_as_good_as_its_card_says():
    grades = CARD["evaluator"]["auroc"]
    assert grades["static"]["z1"] >= 0.9 and grades["dynamic"]["z1"] >= 0.95
    again = grade(load_checkpoint(SHIPPED / "evaluator.safetensors"), CARD["seed"], 20)
    for kind in grades:
        assert again[kind]["z1"] == pytest.approx(grades[kind]["z1"], abs=0.1)
    assert CARD["evaluator"]["unseen events"] == EVENTS


def test_the_stem_and_the_feature_backbone_are_one_network():
    backbone = load_backbone("small-resnet")
    stem = load_checkpoint(SHIPPED / "evaluator.safetensors").vision.stem.network
    assert all(torch.equal(value, stem.state_dict()[name]) for name, value in backbone._model.state_dict().items())
    assert (backbone.size, backbone.dim) == (IMAGE_SIZE, STAGES[-1])


@pytest.mark.parametrize("seed", [CARD["seed"], 7])
def test_no_event_of_the_demo_is_seen_in_pre_training(seed):
    """One draws under three names: some hundred events of each, and no event of one in another."""

    def looks(event):
        return repr((event.shape, event.colour, event.texture, event.placed))

    def apart(name):
        return {looks(draw_event(random.Random(derive_seed(seed, name, number)), 0, 80, 8)) for number in range(300)}

    demo = {looks(event) for video in range(60) for event in make_scenes(seed, f"demo-{video:04d}", 20, 8).events}
    clips, frames = apart("separate world of the evaluator"), apart("labelled frames of the separate world")
    assert min(len(demo), len(clips), len(frames)) > 290
    assert not (demo & clips or demo & frames or clips & frames)


@pytest.mark.night
def test_the_rules_make_all_of_it(tmp_path):
    small = ["backbone_frames=128", "backbone_batch=16", "pretrain_clips=48", "pretrain_batch=8"]
    run = snakemake(
        tmp_path,
        "--cores",
        "1",
        "pretrained",
        "--config",
        f"evaluator={{{', '.join(small).replace('=', ': ')}}}",
        config=PROJECT / "config" / "pretrained.yaml",
    )
    assert run.returncode == 0, run.stdout[-3000:]
    built = tmp_path / "results" / "pretrained"
    card = read_json(built / "card.json")
    assert set(card) == set(CARD) and set(card["files"]) == set(CARD["files"])
    checkpoint = built / "evaluator" / "demo" / "pretrained.safetensors"
    assert card["files"]["evaluator.safetensors"]["sha256"] == file_digest(checkpoint)
    assert "48 clips" in read_header(checkpoint)[1]
    assert read_jsonl(built / "image-backbone.log.jsonl")[-1]["step"] == 7
    assert synthetic_item(card["seed"], 0, 8, 32, 1).caption
