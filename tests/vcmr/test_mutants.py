"""The conformance kit finds out models that are broken on purpose, and has nothing to say against whole ones."""

from dataclasses import make_dataclass, replace

import pytest
from mutants import ALL, MUTATIONS, killed_by, some_mutants
from mutants.blind import HONEST
from mutants.blind import MUTATIONS as BLIND
from mutants.kinds import losing
from mutants.registry import Mutant
from mutants.registry import mutant as make_mutant
from mutants.table import PAGE, marks

from verified.benchmark.vcmr.conformance import CHECKS, failures
from verified.benchmark.vcmr.registry import model_class

MUTANTS = list(some_mutants())


def test_the_mutants_are_many_and_spread_over_the_six_models():
    assert len(MUTANTS) >= 80
    assert min(sum(mutant.model == model for mutant in MUTANTS) for model in ALL) >= 10


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


# One for each rule of the kit that people who had not read it showed to be missing, in a quick model.
NAMED = {
    "decoding adds one clip too few": ("hero", "round_trip"),
    "decoding adds one clip too many": ("conquer", "round_trip"),
    "unit vectors are normalised over the clips": ("xml", "padding"),
    "clips are standardised over time: a video of one clip is NaN": ("xml", "shapes"),
    "weights overflow to infinity": ("xml", "weights"),
    "query vectors are rounded to float16": ("reloclnet", "precision"),
    "the end's branch is detached": ("xml", "gradients"),
    "a seed is fixed when a model is built": ("xml", "determinism"),
    "a mean of the training's videos is no part of the state": ("xml", "state"),
    "the last clip is hidden from attention": ("xml", "attention"),
    "the start's loss counts pads": ("late_span", "pads"),
    "start logits go through exp and log": ("hero", "shapes"),
    "encoded videos are cached by their first clip": ("late_span", "batch_mates"),
    "queries are compared with a bank of all earlier ones": ("xml", "repetition"),
    "weights are rounded to whole numbers": ("conquer", "weights"),
    "NumPy's global state is seeded": ("reloclnet", "repetition"),
    "Python's global state is drawn from": ("hero", "determinism"),
    "the given generator is seeded anew at each step": ("conquer", "determinism"),
    "the option margin is ignored": ("reloclnet", "options"),
    "the step is ignored where negatives become hard": ("hero", "options"),
}


@pytest.mark.parametrize("name", NAMED)
def test_a_blind_mutant_is_found_out_by_its_rule(name):
    model, check = NAMED[name]
    mutation = next(mutation for mutation in BLIND if mutation.name == name)
    assert dict(failures(mutation.of(model), only=(check,)))[check]


@pytest.mark.parametrize("model", ALL)
@pytest.mark.parametrize("what", ["clips attend to pads that are filtered", "tokens attend to pads that are filtered"])
def test_a_mask_that_is_missing_behind_the_filter_of_pads_is_found_out_in_every_model(model, what):
    entry = next(entry for entry in MUTATIONS if entry.what == what)
    assert dict(failures(make_mutant(entry, model).cls, only=("padding",)))["padding"]


def test_weights_that_overflow_are_no_leak():
    overflowing = next(mutation for mutation in BLIND if mutation.name == "weights overflow to infinity")
    reason = dict(failures(overflowing.of("xml"), only=("no_leak",)))["no_leak"]
    assert "not finite" in reason and "true video" not in reason


def test_an_option_that_changes_no_number_is_one_that_the_model_names():
    base = model_class("xml")
    config = make_dataclass("Config", [("at_once", int, 64)], bases=(base.Config,), frozen=True, kw_only=True)
    told = {"Config": config, "technical_options": ("at_once",)}
    assert "'at_once'" in dict(failures(type("Told", (base,), {"Config": config}), only=("options",)))["options"]
    assert dict(failures(type("Told", (base,), told), only=("options",))) == {"options": None}


@pytest.mark.slow
def test_most_blind_mutants_are_found_out():
    broken = [
        Mutant(model := mutation.models[turn % len(mutation.models)], mutation.name, mutation.of(model))
        for turn, mutation in enumerate(BLIND)
        if not mutation.arguable
    ][::4]
    missed = [mutant.what for mutant in broken if killed_by(mutant) is None]
    assert len(missed) <= 0.1 * len(broken), missed


@pytest.mark.slow
@pytest.mark.parametrize("turn", range(0, len(HONEST), 2), ids=lambda turn: HONEST[turn].name)
def test_an_honest_variant_is_not_reported(turn):
    variant = HONEST[turn]
    model = variant.of(variant.models[turn % len(variant.models)])
    assert dict(failures(model)) == dict.fromkeys(CHECKS)


def test_the_page_lists_every_mutation_and_no_survivor():
    begin, end = marks("own")
    table = PAGE.read_text(encoding="utf-8").partition(begin)[2].partition(end)[0]
    assert [row.split(" | ")[0] for row in table.splitlines() if row.startswith("| ")][1:] == [
        f"| {entry.what}" for entry in MUTATIONS
    ]
    assert "survives" not in table and "·" not in table
