"""Two-stage models through training and search: their lists, and the queries that lists leave out."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from planted import plant, small_model

from verified.benchmark.vcmr.ranked import Ranked
from verified.benchmark.vcmr.search import SearchSettings, search
from verified.benchmark.vcmr.training import Run, SplitData, train

SEARCHING = SearchSettings(min_pred_clips=1, max_pred_clips=10, quiet=True)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return plant(tmp_path_factory.mktemp("planted"), 12, seed=6)


def listed(files, model, kept, without=()) -> SplitData:
    """The split with random lists of `kept` videos; the queries in `without` do not have their own among them."""
    split = files.split(type(model))
    draw = np.random.default_rng(1)
    order = np.stack([draw.permutation(12)[:kept] for _ in split.moments.desc_id])
    for query, true_video in enumerate(split.moments.video):
        others = order[query][order[query] != true_video]
        order[query] = np.append(others, 99)[:kept] if query in without else np.insert(others, 1, true_video)[:kept]
        if query in without and (order[query] == 99).any():
            order[query][order[query] == 99] = next(v for v in range(12) if v != true_video and v not in others)
    cosine = np.tile(np.linspace(0.9, 0.1, kept, dtype=np.float32), (len(order), 1))
    split.ranked = Ranked(split.moments.desc_id, order, cosine, split.moments.videos)
    return split


@pytest.mark.parametrize("name", ["conquer", "squidnet"])
def test_queries_outside_their_list_are_left_out_of_training_and_counted(name, files, tmp_path):
    torch.manual_seed(0)
    model = small_model(name)
    split = listed(files, model, kept=8, without={2, 5, 30})
    recipe = replace(model.recipe, steps=2, batch=8, negatives=2)
    result = train(model, split, split, recipe, SEARCHING, Run(5, tmp_path / "log.jsonl"))
    assert result.left_out == 3
    assert np.isfinite(result.history[0]["total"])


@pytest.mark.parametrize("name", ["conquer", "squidnet"])
def test_lists_of_vr_hold_the_external_videos_in_the_models_order(name, files):
    model = small_model(name)
    split = listed(files, model, kept=5, without={0})
    lists = search(model, split.videos, split.queries, split.moments, SEARCHING, split.ranked)
    assert (np.sort(lists.vr.video, axis=1) == np.sort(split.ranked.video, axis=1)).all()
    assert (np.diff(lists.vr.score, axis=1) <= 0).all()
    if not model.rescores:
        assert (lists.vr.video == split.ranked.video).all()
        np.testing.assert_allclose(lists.vr.score, np.exp(20 * split.ranked.cosine), rtol=1e-5)
    else:
        np.testing.assert_allclose(lists.vr.score.sum(axis=1), 1.0, rtol=1e-4)
    shown = lists.vcmr.video[lists.vcmr.video >= 0]
    assert np.isin(shown, split.ranked.video).all()
    assert split.moments.video[0] not in lists.vcmr.video[0]
    assert (lists.svmr.video[0][lists.svmr.video[0] >= 0] == split.moments.video[0]).all()
