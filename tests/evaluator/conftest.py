"""The parity fixture: the authors' modules at a tiny size, run once with seeded weights (see its README)."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from verified.evaluator.model import NoiseEvaluator
from verified.evaluator.settings import Architecture
from verified.evaluator.umt import rename

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "umt-evaluator"


SIZES = {
    **{"img": "image_size", "patch": "patch_size", "vd": "vision_width", "vdepth": "vision_layers"},
    **{"vheads": "vision_heads", "td": "text_width", "fusion": "text_layers", "theads": "text_heads"},
    **{"tint": "text_feedforward", "vocab": "vocabulary", "maxpos": "text_positions", "embed": "embedding"},
}
"""Their name of a size, and ours."""


def fixture_size(frames: int) -> Architecture:
    config = json.loads((FOLDER / "config.json").read_text())
    derived = {"vision_feedforward": 4 * config["vd"], "fusion_layers": config["tlayers"] - config["fusion"]}
    sizes = {ours: config[theirs] for theirs, ours in SIZES.items()}
    return Architecture(size="fixture", frames=frames, **derived, **sizes)


def fixture_weights() -> dict[str, torch.Tensor]:
    stored = np.load(FOLDER / "weights.npz")
    return {name.removeprefix("w::"): torch.from_numpy(stored[name]) for name in stored}


def fixture_model(frames: int) -> NoiseEvaluator:
    size = fixture_size(frames)
    model = NoiseEvaluator(size).eval()
    renamed, _, unknown = rename(fixture_weights(), size.text_layers)
    assert unknown == []
    model.load_state_dict(renamed)
    return model


@pytest.fixture(scope="session")
def io() -> dict[str, torch.Tensor]:
    stored = np.load(FOLDER / "io.npz")
    return {name: torch.from_numpy(stored[name]) for name in stored}


@pytest.fixture(scope="session")
def four_frames() -> NoiseEvaluator:
    return fixture_model(4)


@pytest.fixture(scope="session")
def six_frames() -> NoiseEvaluator:
    return fixture_model(6)


@pytest.fixture(scope="session")
def verified() -> tuple[dict[str, torch.Tensor], dict]:
    """Inputs and worked values of Equations 9 to 11."""
    stored = np.load(FOLDER / "verified_inputs.npz")
    expected = json.loads((FOLDER / "verified_expected.json").read_text())
    return {name: torch.from_numpy(stored[name]) for name in stored}, expected


@pytest.fixture
def umt_weights() -> dict[str, torch.Tensor]:
    return fixture_weights()


@pytest.fixture(scope="session")
def umt_size():
    return fixture_size
