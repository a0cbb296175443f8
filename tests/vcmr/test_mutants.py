"""The conformance kit finds out models that are broken on purpose, and reports no honest one."""

from dataclasses import make_dataclass, replace

import pytest
from mutants import BROKEN, EXAMPLE, HONEST, filtered_pads, reading
from torch import nn

from verified.benchmark.vcmr.conformance import CHECKS, failures
from verified.benchmark.vcmr.layers import zero_pads
from verified.benchmark.vcmr.registry import model_class, model_of_file
from verified.benchmark.vcmr.scoring import unit

ALL = ("xml", "reloclnet", "hero", "conquer", "squidnet")


TRAINED = ("overfitting", "options")
"""Checks that take seconds, as they train."""


def marked(variant):
    return pytest.param(variant, id=variant.name, marks=[pytest.mark.slow] if variant.check in TRAINED else [])


@pytest.mark.filterwarnings("ignore:std\\(\\)")
@pytest.mark.parametrize("variant", map(marked, BROKEN))
def test_a_broken_model_is_found_out_by_its_check(variant):
    found = dict(failures(variant.cls(), only=(variant.check,)))[variant.check]
    assert found and variant.reason in found


@pytest.mark.slow
@pytest.mark.parametrize("variant", HONEST, ids=lambda variant: variant.name)
def test_an_honest_model_is_not_reported(variant):
    assert dict(failures(variant.cls())) == dict.fromkeys(CHECKS)


@pytest.mark.slow
def test_conquer_with_its_exclusive_head_passes():
    base = model_class("conquer")
    exclusive = type("Exclusive", (base,), {"recipe": replace(base.recipe, negatives=3)})
    assert dict(failures(exclusive, options={"video_head": True})) == dict.fromkeys(CHECKS)


class Convolved(model_of_file(EXAMPLE)):
    """The bias of the projection is in the pads when the convolution reads them."""

    def __init__(self, config):
        super().__init__(config)
        self.over_time = nn.Conv1d(config.hidden, config.hidden, 3, padding=1)

    def encode_videos(self, video, mask):
        clips = self.video(zero_pads(video, mask))
        clips = clips + self.over_time(clips.transpose(1, 2)).transpose(1, 2)  # scores are those of other clips
        return {"unit": unit(clips), "clips": clips, "mask": mask}


def test_a_bias_in_pads_is_found_out_by_a_video_that_fills_its_context():
    found = dict(failures(Convolved, only=("padding",)))["padding"]
    assert found and "start: changes where videos that fill their context" in found


@pytest.mark.parametrize("model", ALL)
@pytest.mark.parametrize("side", ["videos", "queries"])
def test_a_mask_that_is_missing_behind_the_filter_of_pads_is_found_out_in_every_model(model, side):
    base = model_class(model)
    forgetful = type("Forgetful", (base,), reading(side, filtered_pads)(base))
    assert dict(failures(forgetful, only=("padding",)))["padding"]


def test_weights_that_overflow_are_no_leak():
    overflowing = next(variant for variant in BROKEN if variant.name == "weights overflow to infinity")
    reason = dict(failures(overflowing.cls(), only=("no_leak",)))["no_leak"]
    assert "not finite" in reason and "true video" not in reason


def test_an_option_that_changes_no_number_is_one_that_the_model_names():
    base = model_class("xml")
    config = make_dataclass("Config", [("at_once", int, 64)], bases=(base.Config,), frozen=True, kw_only=True)
    told = {"Config": config, "technical_options": ("at_once",)}
    assert "'at_once'" in dict(failures(type("Told", (base,), {"Config": config}), only=("options",)))["options"]
    assert dict(failures(type("Told", (base,), told), only=("options",))) == {"options": None}
