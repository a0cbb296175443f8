"""The rendered demo: same seed, same bytes; the weights that come with it."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

from verified.demo.caption_facts import agreement, caption_facts
from verified.demo.pretrained import SHIPPED
from verified.demo.source import render_demo
from verified.demo.tiny_evaluator.stem import TinyStem
from verified.evaluator.settings import architecture
from verified.io.files import file_digest
from verified.io.jsonl import read_json, read_jsonl
from verified.io.video import iterate_frames

SOURCE = {"kind": "demo", "videos": 6, "seconds": 6, "fps": 8, "size": 64, "train_share": 0.5, "val_share": 0.3}


def render(folder: Path, seed: int = 5, processes: int = 1, **changes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    files = folder / "rendered.jsonl", folder / "truth.jsonl"
    render_demo(SOURCE | changes, seed, folder / "videos", *files, processes)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Path:
    return render(tmp_path_factory.mktemp("demo"))


def test_the_same_seed_gives_the_same_bytes_in_any_number_of_processes(demo, tmp_path):
    assert contents(render(tmp_path, processes=3)) == contents(demo)


def test_cuts_of_the_truth_are_the_jumps_in_the_frames_and_shares_of_splits_are_kept(demo):
    splits = Counter({row["video"]: row["split"] for row in read_jsonl(demo / "rendered.jsonl")}.values())
    assert splits == {"train": 3, "val": 2, "test": 1}
    for row in read_jsonl(demo / "truth.jsonl"):
        frames = np.stack([frame for _, frame in iterate_frames(demo / "videos" / f"{row['video']}.mp4")])
        border = frames[:, :, [0, -1]].mean(axis=(1, 2))  # nothing but background is ever at the border
        jumps = np.flatnonzero(np.abs(np.diff(border, axis=0)).max(axis=1) > 25) + 1
        assert [jump / 8 for jump in jumps] == row["cuts"]


def test_agreement_judges_what_is_stated():
    scenes = [
        {"background": "sand", "pan": None, "bystander": None},
        {"background": "sky", "pan": "left", "bystander": {"shape": "box", "colour": "blue"}},
    ]
    truth = {"shape": "ball", "colour": "red", "texture": "plain", "count": 1, "motion": "grows", "scenes": scenes}
    truth |= dict.fromkeys(("size", "direction", "speed"))
    said = caption_facts("a large blue ball grows to the left over sand, as a blue box stands by")
    right, wrong = ("shape", "count", "motion", "background", "bystander"), ("colour", "direction")
    assert agreement(said, truth) == dict.fromkeys(right, True) | dict.fromkeys(wrong, False)
    said = caption_facts("a ball grows on the water, as a red box stands by, and the camera pans to the right")
    assert [agreement(said, truth)[name] for name in ("background", "bystander", "pan")] == [False] * 3


CARD = read_json(SHIPPED / "card.json")


def test_the_card_names_every_file_by_its_bytes():
    for name, entry in CARD["files"].items():
        path = SHIPPED / name
        assert (path.stat().st_size, file_digest(path)) == (entry["bytes"], entry["sha256"]), name
    there = {path.relative_to(SHIPPED).as_posix() for path in SHIPPED.rglob("*") if path.is_file()}
    assert there == {*CARD["files"], "card.json", "README.md"}
    assert sum(entry["bytes"] for entry in CARD["files"].values()) < 8_000_000


def test_the_image_network_stays_as_it_was_trained():
    stem = TinyStem(architecture("tiny", 8, 64)).train()
    before = {name: value.clone() for name, value in stem.network.state_dict().items()}
    stem(torch.randn(2, 8, 3, 64, 64)).square().mean().backward()
    assert stem.motion.training and not stem.network.training
    assert all(parameter.grad is None for parameter in stem.network.parameters())
    assert all(torch.equal(before[name], value) for name, value in stem.network.state_dict().items())
