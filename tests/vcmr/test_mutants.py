"""The conformance kit finds out models that are broken on purpose, and has nothing to say against whole ones."""

from dataclasses import make_dataclass, replace

import pytest
from mutants import ALL, MUTATIONS, killed_by, mutants
from mutants.blind import BLIND, HONEST
from mutants.kinds import losing
from mutants.registry import mutant as make_mutant

from verified.benchmark.vcmr.conformance import CHECKS, failures
from verified.benchmark.vcmr.registry import model_class

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
