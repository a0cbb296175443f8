"""Grounding models find planted words in videos that they have not seen."""

from dataclasses import replace

import pytest
import torch
from planted import check_learning, plant, small_model

from verified.benchmark.vcmr.search import SearchSettings
from verified.benchmark.vcmr.training import Run, train


@pytest.fixture(scope="module")
def splits(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    return plant(folder, 48, seed=1), plant(folder, 20, seed=2)


def test_univtg_finds_planted_words_in_unseen_videos(splits, tmp_path):
    check_learning("univtg", 20, splits, tmp_path)


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
