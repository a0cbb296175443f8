"""Which files and settings the retrieval jobs have."""

from functools import partial
from types import SimpleNamespace

from refusals import refused

from verified.benchmark.vcmr.jobs import (
    possible_runs,
    search_values,
    settings_digest,
    testing_inputs,
    training_priority,
    training_settings,
)
from verified.config import load

testing_inputs.__test__ = False
RUNS = [("xml", "cog", "fig"), ("xml", "fig-lowest", "fig"), ("conquer", "fig", "fig")]


def configured(**retrieval):
    released = {"kind": "released", "collection": "charades-fig", "splits": ["train", "test"]}
    spans = {"selection_split": "held-out", "held_out_share": 0.1}
    return load(
        {
            "name": "test",
            "datasets": {
                "demo": {"title": "Demo", "source": {"kind": "demo"}},
                "bare": {"title": "Bare", "source": released, "spans": spans},
                "given": {"title": "Given", "source": {**released, "features_dir": "data/features"}, "spans": spans},
            },
            "retrieval": retrieval,
        }
    )


def run(**more):
    return SimpleNamespace(dataset="test/demo", model="xml", trained_on="fig", tested_on="cog", seed="7", **more)


def test_xml_is_trained_first_where_other_models_wait_for_its_lists():
    waiting, alone = (
        partial(training_priority, configured(models=models)) for models in (["xml", "squidnet"], ["xml", "hero"])
    )
    other = run()
    other.model = "squidnet"
    assert waiting(run()) > waiting(other) > 0
    assert alone(run()) == alone(other)


def test_runs_need_features_and_captions_of_their_kind():
    settings = configured()
    assert possible_runs(settings, "demo", RUNS) == RUNS
    assert possible_runs(settings, "bare", RUNS) == []
    assert possible_runs(settings, "given", RUNS) == [RUNS[0], RUNS[2]]


def test_a_training_depends_on_its_own_models_settings_alone():
    first = configured(models=["xml", "hero"], training={"hero": {"epochs": 3}})
    second = configured(models=["xml"], training={"xml": {"batch": 16, "options": {"hidden": 64}}})
    assert training_settings(first, run())["recipe"] == {}
    assert training_settings(second, run())["recipe"] == {"batch": 16}
    assert training_settings(second, run())["options"] == {"hidden": 64}
    assert training_settings(first, run()) == training_settings(configured(), run())


def test_the_digest_of_settings_tells_trainings_apart_that_must_not_be_averaged():
    def digest(model: str = "hero", **retrieval) -> str:
        return settings_digest(configured(**retrieval), SimpleNamespace(**{**vars(run()), "model": model}))

    of_hero = {"training": {"hero": {"epochs": 3}}}
    assert digest() == digest(seeds=[1, 2], memory_mb=999, threads=3, training={"xml": {"epochs": 3}})
    assert len({digest(), digest(**of_hero), digest(training={"hero": {"learning_rate": 0.5}})}) == 3
    assert digest() != digest(searched_videos=7)
    assert digest("conquer") != digest("conquer", training={"xml": {"epochs": 3}})  # it learns from XML's lists
    assert digest("conquer") == digest("conquer", **of_hero)


def test_official_padding_makes_other_trainings_and_the_default_none():
    assert "padding" not in search_values(configured(padding="context"), "demo")
    assert search_values(configured(padding="official"), "demo")["padding"] == "official"
    with refused("padding", "'batch'", remedy=True):
        configured(padding="batch")


def test_given_features_are_normalised_as_officially_and_our_own_in_float32():
    assert {name: search_values(configured(), name)["feature_cast"] for name in ("demo", "given")} == {
        "demo": "float32",
        "given": "official",
    }
    for cast in ("float32", "official"):
        settings = configured(feature_cast=cast)
        assert {search_values(settings, name)["feature_cast"] for name in ("demo", "given")} == {cast}
