"""What holds of the models together: sizes, labels, precision of cosines, and that they learn."""

import json
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from planted import check_learning, plant
from refusals import refused
from vcmr_golden import FOLDER

from verified.benchmark.vcmr.contract import exclusive_end, inclusive_end, inclusive_end_two_clips
from verified.benchmark.vcmr.data import pool
from verified.benchmark.vcmr.jobs import (
    possible_runs,
    search_values,
    settings_digest,
    testing_inputs,
    training_priority,
    training_settings,
)
from verified.benchmark.vcmr.registry import model_class
from verified.benchmark.vcmr.scoring import max_over_clips, unit
from verified.config import load
from verified.nn.layers import computing

SIZES = [
    ("xml", {"context_clips": 48}, 1_868_810, "xml_video_charades_hidden256"),
    ("xml", {"context_clips": 30}, 1_864_202, "xml_video_didemo_hidden256"),
    ("xml", {"context_clips": 240}, 1_917_962, "xml_video_anet_hidden256"),
    ("reloclnet", {"context_clips": 48}, 4_672_394, None),
    ("reloclnet", {"context_clips": 30}, 4_665_482, None),
    ("reloclnet", {"context_clips": 240}, 4_746_122, None),
    ("reloclnet", {"context_clips": 128}, None, "reloclnet_video_sub_hidden384"),
    ("hero", {"context_clips": 100, "vocabulary": 50272}, 110_371_338, "hero_vcmr_vfeat2048"),
    ("conquer", {"context_clips": 100}, 45_208_064, "conquer_visual_general"),
    ("conquer", {"context_clips": 100}, 45_208_064, "conquer_visual_sub_general"),
    ("conquer", {"context_clips": 100, "video_head": True}, 55_351_936, "conquer_visual_exclusive"),
    ("conquer", {"context_clips": 240}, 45_208_064 + 140 * 768, None),
    ("squidnet", {"context_clips": 100}, 48_251_008, "squidnet_moment_video"),
]
"""Model, sizes beside clips of 2048 and tokens of 768 numbers, parameters, state dict in state_dict_shapes.json."""


@pytest.mark.parametrize(("name", "sizes", "count", "layout"), SIZES)
def test_parameters_and_layout_are_the_official_ones(name, sizes, count, layout):
    cls = model_class(name)
    with torch.device("meta"):
        model = cls(cls.Config(video_dim=2048, text_dim=768, **sizes))
    assert count in (None, sum(value.numel() for value in model.parameters()))
    if layout:
        shapes = json.loads((FOLDER / "state_dict_shapes.json").read_text(encoding="utf-8"))[layout]
        official = model.from_official({key: torch.empty(shape, device="meta") for key, shape in shapes.items()})
        ours = {key: value.shape for key, value in model.state_dict().items()}
        assert {key: value.shape for key, value in official.items()} == ours


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_cosines_are_float32_in_either(precision):
    generator = torch.Generator().manual_seed(0)
    queries, clips = (torch.randn(shape, generator=generator) for shape in ((8, 64), (6, 10, 64)))
    mask = torch.ones(6, 10, dtype=torch.bool)
    truth = max_over_clips(unit(queries), unit(clips), mask)
    with computing("cpu", precision):
        product = queries @ queries.T
        cosines = max_over_clips(unit(queries), unit(clips), mask)
    assert product.dtype == (torch.bfloat16 if precision == "bfloat16" else torch.float32)
    assert cosines.dtype == torch.float32
    torch.testing.assert_close(cosines, truth, rtol=0, atol=1e-6)


FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "vcmr"


def labels_file():
    return json.loads((FIXTURES / "labels_masks_sampling.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", labels_file()["labels"], ids=lambda case: str(case["ts"]))
def test_labels_are_the_official_ones(case):
    arguments = (*case["ts"], case["clip_length"], case["n_clips"])
    assert list(exclusive_end(*arguments)) == case["xml"] == case["reloclnet"]
    assert list(inclusive_end(*arguments)) == case["conquer"]
    assert list(inclusive_end_two_clips(*arguments)) == case["hero"]


@pytest.mark.parametrize("case", labels_file()["uniform_feature_sampling"], ids=lambda case: str(case["n_clips"]))
def test_long_videos_are_pooled_as_officially(case):
    clips = np.arange(case["n_clips"], dtype=np.float32)[:, None]
    np.testing.assert_allclose(pool(clips, case["max_len"])[:, 0], case["output"])


@pytest.fixture(scope="module")
def splits(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    return plant(folder, 48, seed=1), plant(folder, 20, seed=2)


@pytest.mark.parametrize("name, epochs", [("xml", 12), ("reloclnet", 12), ("hero", 16)])
def test_a_small_model_finds_planted_words_in_unseen_videos(name, epochs, splits, tmp_path):
    check_learning(name, epochs, splits, tmp_path)


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
