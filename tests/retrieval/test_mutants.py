"""The conformance kit finds out models that are broken on purpose, and has nothing to say against whole ones."""

from dataclasses import replace

import pytest
from mutants import ALL, MUTATIONS, killed_by, some_mutants
from mutants.blind import HONEST
from mutants.blind import MUTATIONS as BLIND
from mutants.registry import Mutant
from mutants.table import PAGE, marks

from verified.retrieval.conformance import CHECKS, failures
from verified.retrieval.registry import model_class

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
}


@pytest.mark.parametrize("name", NAMED)
def test_a_blind_mutant_is_found_out_by_its_rule(name):
    model, check = NAMED[name]
    mutation = next(mutation for mutation in BLIND if mutation.name == name)
    assert dict(failures(mutation.of(model), only=(check,)))[check]


@pytest.mark.slow
def test_most_blind_mutants_are_found_out():
    broken = [
        Mutant(model := mutation.models[turn % len(mutation.models)], mutation.name, mutation.of(model))
        for turn, mutation in enumerate(BLIND)
        if not mutation.arguable
    ][::4]
    missed = [mutant.what for mutant in broken if killed_by(mutant) is None]
    assert len(missed) <= 0.2 * len(broken), missed


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
    assert "survives" not in table
