"""The conformance kit finds out models that are broken on purpose, and has nothing to say against whole ones."""

from dataclasses import make_dataclass, replace
from pathlib import Path

import pytest
import torch
from mutants import ALL, MUTATIONS, killed_by, mutants
from mutants.blind import BLIND, HONEST
from mutants.kinds import losing
from mutants.registry import mutant as make_mutant
from torch import nn

from verified.benchmark.vcmr.conformance import CHECKS, failures
from verified.benchmark.vcmr.layers import zero_pads
from verified.benchmark.vcmr.registry import model_class, model_of_file
from verified.benchmark.vcmr.scoring import unit

pytestmark = pytest.mark.slow

MUTANTS = list(mutants())


@pytest.mark.filterwarnings("ignore:std\\(\\)")
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.model}: {mutant.what}")
def test_a_mutant_is_found_out(mutant):
    assert killed_by(mutant) is not None


def test_conquer_with_its_exclusive_head_passes():
    base = model_class("conquer")
    exclusive = type("Exclusive", (base,), {"recipe": replace(base.recipe, negatives=3)})
    assert dict(failures(exclusive, options={"video_head": True})) == dict.fromkeys(CHECKS)


def test_a_loss_that_counts_the_pads_of_queries_is_found_out():
    """Training pads queries to the longest of their batch."""
    counting = losing(lambda losses, batch, epoch: 0.01 * batch.query_mask.float().mean() * losses["total"])
    base = model_class("xml")
    model = type("Counting", (base,), counting(base))
    assert "queries are padded further" in (dict(failures(model, only=("padding",)))["padding"] or "")


@pytest.mark.parametrize("variant", BLIND, ids=lambda variant: variant.name)
def test_a_blind_mutant_is_found_out_by_its_rule(variant):
    assert dict(failures(variant.cls(), only=(variant.check,)))[variant.check]


@pytest.mark.parametrize("variant", HONEST, ids=lambda variant: variant.name)
def test_an_honest_variant_is_not_reported(variant):
    assert dict(failures(variant.cls())) == dict.fromkeys(CHECKS)


POOLING = model_of_file(Path(__file__).parents[2] / "examples" / "mean_pooling.py")


class Positions(POOLING):
    def __init__(self, config):
        super().__init__(config)
        self.position = nn.Embedding(config.context_clips, config.hidden)

    def encode_videos(self, video, mask):
        clips = self.video(zero_pads(video, mask)) + self.position.weight[: video.shape[1]]
        return {"unit": unit(clips), "clips": clips, "mask": mask}


class Normalised(POOLING):
    def __init__(self, config):
        super().__init__(config)
        self.norm = nn.BatchNorm1d(config.video_dim)

    def encode_videos(self, video, mask):
        clips = torch.zeros_like(video)
        clips[mask] = self.norm(video[mask])
        return super().encode_videos(clips, mask)


class RunningMean(POOLING):
    def __init__(self, config):
        super().__init__(config)
        self.register_buffer("mean", torch.zeros(config.video_dim))

    def encode_videos(self, video, mask):
        if self.training:
            self.mean.lerp_(video[mask].mean(0).to(self.mean), 0.1)
        return super().encode_videos(zero_pads(video - self.mean, mask), mask)


@pytest.mark.parametrize("model", [Positions, Normalised, RunningMean])
def test_learned_positions_and_running_statistics_are_not_reported(model):
    assert dict(failures(model)) == dict.fromkeys(CHECKS)


class Convolved(POOLING):
    """The bias of the projection is in the pads when the convolution reads them."""

    def __init__(self, config):
        super().__init__(config)
        self.over_time = nn.Conv1d(config.hidden, config.hidden, 3, padding=1)

    def encode_videos(self, video, mask):
        clips = self.over_time(self.video(zero_pads(video, mask)).transpose(1, 2)).transpose(1, 2)
        return {"unit": unit(clips), "clips": clips, "mask": mask}


def test_a_bias_in_pads_is_found_out_by_a_video_that_fills_its_context():
    assert "fill their context" in (dict(failures(Convolved, only=("padding",)))["padding"] or "")


@pytest.mark.parametrize("model", ALL)
@pytest.mark.parametrize("what", ["clips attend to pads that are filtered", "tokens attend to pads that are filtered"])
def test_a_mask_that_is_missing_behind_the_filter_of_pads_is_found_out_in_every_model(model, what):
    entry = next(entry for entry in MUTATIONS if entry.what == what)
    assert dict(failures(make_mutant(entry, model).cls, only=("padding",)))["padding"]


def test_weights_that_overflow_are_no_leak():
    overflowing = next(variant for variant in BLIND if variant.name == "weights overflow to infinity")
    reason = dict(failures(overflowing.cls(), only=("no_leak",)))["no_leak"]
    assert "not finite" in reason and "true video" not in reason


def test_an_option_that_changes_no_number_is_one_that_the_model_names():
    base = model_class("xml")
    config = make_dataclass("Config", [("at_once", int, 64)], bases=(base.Config,), frozen=True, kw_only=True)
    told = {"Config": config, "technical_options": ("at_once",)}
    assert "'at_once'" in dict(failures(type("Told", (base,), {"Config": config}), only=("options",)))["options"]
    assert dict(failures(type("Told", (base,), told), only=("options",))) == {"options": None}
