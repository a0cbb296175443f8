"""One-stage models find planted words in videos that they have not seen."""

from dataclasses import replace

import pytest
import torch
from planted import plant, small_model

from verified.benchmark.vcmr.search import SearchSettings
from verified.benchmark.vcmr.training import Run, train


@pytest.fixture(scope="module")
def splits(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    return plant(folder, 48, seed=1), plant(folder, 20, seed=2)


@pytest.mark.parametrize("name, epochs", [("xml", 12), ("reloclnet", 12), ("hero", 16), ("univtg", 20)])
def test_a_small_model_finds_planted_words_in_unseen_videos(name, epochs, splits, tmp_path):
    torch.manual_seed(0)
    model = small_model(name)
    learn, unseen = (files.split(type(model)) for files in splits)
    recipe = replace(model.recipe, epochs=epochs, steps=None, batch=16, learning_rate=2e-3)
    searching = SearchSettings(min_pred_clips=1, max_pred_clips=12, quiet=True)
    result = train(model, learn, unseen, recipe, searching, Run(3, tmp_path / "log.jsonl"))
    best = result.history[result.epoch]
    assert result.history[-1]["total"] < 0.6 * result.history[0]["total"]
    assert best["VR/r1"] > 30  # by chance 5
    assert best["SVMR/0.5/r1"] > 40  # by chance about 15


@pytest.mark.night
def test_cg_detr_finds_the_moments_of_planted_words_in_unseen_videos(splits, tmp_path):
    torch.manual_seed(0)
    model = small_model("cg_detr", windows=10)
    learn, unseen = (files.split(type(model)) for files in splits)
    recipe = replace(model.recipe, epochs=50, batch=12, learning_rate=1e-3, clip_norm=1.0, selection_videos=99)
    searching = SearchSettings(min_pred_clips=1, max_pred_clips=12, quiet=True)
    history = train(model, learn, unseen, recipe, searching, Run(3, tmp_path / "log.jsonl")).history
    assert history[-1]["total"] < 0.6 * history[0]["total"]
    assert history[-1]["span"] < 0.7 * history[0]["span"]
    assert history[-1]["SVMR/0.5/r1"] > 40, history[-1]  # by chance about 15, in the first epoch 22
    assert history[-1]["VR/r10"] > 70  # by chance 50
