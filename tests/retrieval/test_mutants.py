"""The conformance kit finds out models that are broken on purpose, and has nothing to say against whole ones."""

from dataclasses import replace

import pytest
from mutants import ALL, MUTATIONS, killed_by, some_mutants
from mutants.table import BEGIN, END, PAGE

from verified.retrieval.conformance import CHECKS, failures
from verified.retrieval.registry import model_class

MUTANTS = list(some_mutants())


def test_the_mutants_are_many_and_spread_over_the_five_models():
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


def test_the_page_lists_every_mutation_and_no_survivor():
    table = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    assert [row.split(" | ")[0] for row in table.splitlines() if row.startswith("| ")][1:] == [
        f"| {entry.what}" for entry in MUTATIONS
    ]
    assert "survives" not in table
