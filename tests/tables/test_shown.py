"""What of a configuration the tables depend on."""

from verified.config import load
from verified.tables.shown import Shown, select_shown

DEMO = {"title": "Demo", "source": {"kind": "demo"}}


def settings(**values: object) -> Shown:
    return select_shown(load({"datasets": {"demo": DEMO}, **values}))


def test_tables_depend_on_what_they_show_and_on_nothing_else():
    first = settings()
    costs_time_alone = {"retrieval": {"threads": 7}, "generation": {"llm": {"api_slots": 3}}, "features": {"batch": 2}}
    assert settings(**costs_time_alone) == first
    for values in (
        {"seed": 1},
        {"datasets": {"demo": {**DEMO, "title": "Other"}}},
        {"retrieval": {"models": ["hero"]}},
        {"generation": {"llm": {"model": "another"}}},
        {"evaluator": {"hard_negatives": "own"}},
        {"annotations": {"choose_by": "random"}},
    ):
        assert settings(**values) != first


def test_data_sets_that_only_teach_the_evaluator_are_not_shown():
    both = {"demo": DEMO, "other": {**DEMO, "title": "Other"}}
    assert list(settings(datasets=both, tables=["other"]).datasets) == ["other"]
