"""Ranked lists, the training draws of two-stage models from them, and numbers per query."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from planted import plant, small_model
from refusals import refused

from verified.benchmark.vcmr.ranked import Ranked, draw_negatives, read_ranked, write_ranked
from verified.benchmark.vcmr.results import PER_QUERY_FILE, read_per_query, write_per_query
from verified.benchmark.vcmr.search import SearchSettings, search
from verified.benchmark.vcmr.training import Run, SplitData, train

VIDEOS = [f"v{i}" for i in range(9)]


def ranked(seed=0):
    draw = np.random.default_rng(seed)
    order = np.stack([draw.permutation(9) for _ in range(6)])
    cosine = -np.sort(-draw.uniform(-1, 1, (6, 9)).astype(np.float32), axis=1)
    return Ranked(np.arange(6) * 10, order, cosine, VIDEOS)


def test_lists_are_read_back_in_the_numbering_of_another_corpus(tmp_path):
    lists = ranked()
    write_ranked(tmp_path / "a.h5", {"train": lists})
    write_ranked(tmp_path / "b.h5", {"train": lists})
    assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "b.h5").read_bytes()
    other = ["w", *reversed(VIDEOS)]
    read = read_ranked(tmp_path / "a.h5", "train", other)
    assert [other[i] for i in read.video[2]] == [VIDEOS[i] for i in lists.video[2]]
    assert (read.cosine == lists.cosine).all() and (read.desc_id == lists.desc_id).all()
    assert (read.rank_of(lists.desc_id, read.video[:, 2]) == 2).all()
    for kind, scores in (("cosine", lists.cosine), ("exp", np.exp(20 * lists.cosine))):
        first, score = read_ranked(tmp_path / "a.h5", "train", other, kind).rows(lists.desc_id[[2]], 4)
        assert first.tolist() == read.video[[2], :4].tolist()
        np.testing.assert_allclose(score, scores[[2], :4], rtol=1e-5)


@settings(max_examples=50, deadline=None)
@given(count=st.integers(0, 5), pool=st.integers(1, 12), seed=st.integers(0, 99))
def test_negatives_are_distinct_near_the_truth_and_never_it(count, pool, seed):
    lists = ranked(seed=seed)
    places = np.random.default_rng(seed).integers(0, 9, 6)
    truth = lists.video[np.arange(6), places]
    draws = [
        draw_negatives(lists, lists.desc_id, truth, count, pool, torch.Generator().manual_seed(seed)) for _ in range(2)
    ]
    assert (draws[0] == draws[1]).all()
    for query, drawn in enumerate(draws[0]):
        assert len(set(drawn)) == count and truth[query] not in drawn
        allowed = [video for video in lists.video[query] if video != truth[query]]
        assert set(drawn) <= set(allowed[: max(places[query] + pool, count)])


def test_negatives_reach_from_the_first_video_to_the_pool_behind_the_truth():
    lists = ranked()
    generator = torch.Generator().manual_seed(3)
    draws = [draw_negatives(lists, lists.desc_id, lists.video[:, 4], 2, 3, generator)[1] for _ in range(60)]
    assert {*np.concatenate(draws)} == {*lists.video[1, :4], *lists.video[1, 5:8]}


def test_hits_and_shares_are_read_as_they_were_written(tmp_path):
    hits, shares = np.array([True, False, True]), np.array([0.5, 0.0, 1.0])
    write_per_query(
        tmp_path / PER_QUERY_FILE, np.array([3, 1, 2]), ["b", "a", "a"], {"VCMR/0.5/r1": hits, "VCMR/mIoU": shares}
    )
    read = read_per_query([tmp_path])
    assert read.desc_id.tolist() == [1, 2, 3] and read.video.tolist() == ["a", "a", "b"]
    assert read.values["VCMR/0.5/r1"].tolist() == [[0.0, 1.0, 1.0]]
    assert read.values["VCMR/mIoU"].tolist() == [[0.0, 1.0, 0.5]]


SEARCHING = SearchSettings(min_pred_clips=1, max_pred_clips=10, quiet=True)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return plant(tmp_path_factory.mktemp("planted"), 12, seed=6)


def listed(files, model, length, without=()) -> SplitData:
    """The split with random lists of `length` videos each; those of the queries in `without` lack their own video."""
    split = files.split(type(model))
    draw = np.random.default_rng(1)
    order = np.stack([draw.permutation(12)[:length] for _ in split.moments.desc_id])
    for query, true_video in enumerate(split.moments.video):
        others = order[query][order[query] != true_video]
        listed = np.append(others, 99) if query in without else np.insert(others, query % 3, true_video)
        order[query] = listed[:length]
        if query in without and (order[query] == 99).any():
            order[query][order[query] == 99] = next(v for v in range(12) if v != true_video and v not in others)
    cosine = np.tile(np.linspace(0.9, 0.1, length, dtype=np.float32), (len(order), 1))
    split.ranked = Ranked(split.moments.desc_id, order, cosine, split.moments.videos)
    return split


@pytest.mark.parametrize("name", ["conquer", "squidnet"])
def test_queries_outside_their_list_are_left_out_of_training_and_counted(name, files, tmp_path, monkeypatch):
    torch.manual_seed(0)
    model = small_model(name)
    split = listed(files, model, length=8, without={2, 5, 30})
    queries, of_model = split.queries.batch(np.arange(36))[0], type(model).losses

    def losses(self, batch, **more):
        same = (queries[None, :, : batch.query.shape[1]] == batch.query[:, None]).flatten(2).all(dim=2)
        own = split.videos.batch(split.moments.video[same.int().argmax(dim=1).numpy()])[0]
        assert torch.equal(batch.video[:, 0], own), "the true video is the first"
        return of_model(self, batch, **more)

    monkeypatch.setattr(type(model), "losses", losses)
    recipe = replace(model.recipe, steps=2, batch=8, negatives=2)
    result = train(model, split, split, recipe, SEARCHING, Run(5, tmp_path / "log.jsonl"))
    assert result.left_out == 3
    assert np.isfinite(result.history[0]["total"]) and len(result.history) == 1
    with refused("8", remedy=True):
        train(model, split, split, replace(recipe, negatives=8), SEARCHING, Run(5, tmp_path / "log.jsonl"))


@pytest.mark.parametrize("name", ["conquer", "squidnet"])
def test_lists_of_vr_hold_the_external_videos_in_the_models_order(name, files):
    model = small_model(name)
    split = listed(files, model, length=5, without={0})
    lists = search(model, split.videos, split.queries, split.moments, SEARCHING, split.ranked)
    assert (np.sort(lists.vr.video, axis=1) == np.sort(split.ranked.video, axis=1)).all()
    assert (np.diff(lists.vr.score, axis=1) <= 0).all()
    if not model.rescores:
        assert (lists.vr.video == split.ranked.video).all()
        np.testing.assert_allclose(lists.vr.score, np.exp(20 * split.ranked.cosine), rtol=1e-5)
    else:
        np.testing.assert_allclose(lists.vr.score.sum(axis=1), 1.0, rtol=1e-4)
        assert not (lists.vr.video == split.ranked.video).all()
    shown = lists.vcmr.video[lists.vcmr.video >= 0]
    assert np.isin(shown, split.ranked.video).all()
    assert split.moments.video[0] not in lists.vcmr.video[0]
    assert (lists.svmr.video[0][lists.svmr.video[0] >= 0] == split.moments.video[0]).all()
    own = replace(split.ranked, video=split.moments.video[:, None], cosine=split.ranked.cosine[:, :1])
    alone = search(model, split.videos, split.queries, split.moments, SEARCHING, own).vcmr
    assert (lists.svmr.start == alone.start).all() and (lists.svmr.end == alone.end).all()
