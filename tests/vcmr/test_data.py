"""What models are trained on: features, spans, ranked lists with the draws from them, and numbers per query."""

import logging
from dataclasses import replace

import h5py
import numpy as np
import pytest
import torch
from feature_settings import write_arrays
from hypothesis import given, settings
from hypothesis import strategies as st
from planted import CLIPS, TEXT_DIM, TOKENS, VIDEO_DIM, plant, small_model
from refusals import refused

from verified.benchmark.vcmr.data import Queries, Videos, pool, read_moments, span_labels
from verified.benchmark.vcmr.models.hero import Hero
from verified.benchmark.vcmr.models.reloclnet import ReLoCLNet
from verified.benchmark.vcmr.models.xml import XML
from verified.benchmark.vcmr.ranked import Ranked, draw_negatives, read_ranked, write_ranked
from verified.benchmark.vcmr.results import PER_QUERY_FILE, read_per_query, write_per_query
from verified.benchmark.vcmr.search import SearchSettings, search
from verified.benchmark.vcmr.testing import truth_of
from verified.benchmark.vcmr.training import SplitData, train
from verified.io.hdf5 import FeatureFile
from verified.io.jsonl import read_jsonl, write_jsonl


@pytest.fixture
def files(tmp_path):
    return plant(tmp_path, 12, seed=3)


@pytest.fixture(autouse=True)
def logged(caplog):
    logging.getLogger("verified").propagate = True
    caplog.set_level(logging.INFO, logger="verified")
    return caplog


def edit(path, key, array):
    with h5py.File(path, "a") as file:
        del file[key]
        if array is not None:
            file[key] = array


def videos_of(files, context=CLIPS, model=XML):
    return Videos(FeatureFile(files.video), read_moments(files.annotations, "fig").videos, model, context, 1.0)


def test_each_window_of_a_query_is_a_moment_to_learn_from(files):
    rows = read_jsonl(files.annotations)
    rows[4] |= {"windows": [[7.0, 9.0], [1.0, 2.5]], "cog_desc": "coarse"}
    write_jsonl(files.annotations, rows)
    moments = read_moments(files.annotations, "fig")
    learnt = moments.by_window()
    assert len(learnt) == len(moments) + 1 and learnt.spans is None
    assert learnt.desc_id[3:7].tolist() == [rows[n]["desc_id"] for n in (3, 4, 4, 5)]
    assert learnt.time[4:6].tolist() == rows[4]["windows"] and learnt.time[6].tolist() == rows[5]["time"]
    assert learnt.caption[5] == rows[4]["fig_desc"]
    assert truth_of(moments).windows and truth_of(moments).spans[4].tolist() == rows[4]["windows"]
    assert read_moments(files.annotations, "fig-lowest").caption == moments.caption


@pytest.mark.parametrize(
    ("array", "of_video", "of_text"),
    [
        (lambda dim: None, "there", "there"),
        (lambda dim: np.ones((5, dim + 1), np.float16), "[5, 25]", "[5, 21]"),
        (lambda dim: np.full((5, dim), np.nan, np.float16), "finite", "finite"),
        (lambda dim: np.zeros((0, dim), np.float16), "no clips", "no tokens"),
    ],
)
def test_unusable_features_are_named_with_file_and_key(files, array, of_video, of_text):
    edit(files.video, "video03-004", array(VIDEO_DIM))
    with refused("'video03-004'", of_video, file="video-3.h5"):
        videos_of(files).batch(np.arange(12))
    edit(files.text, "3007", array(TEXT_DIM))
    moments = read_moments(files.annotations, "fig")
    with refused("'3007'", of_text, file="text-3.h5"):
        Queries(moments, XML, TOKENS, FeatureFile(files.text)).batch(np.arange(len(moments)))


def test_a_second_stream_stands_behind_the_first_for_models_that_read_one(files, tmp_path):
    names, draw = read_moments(files.annotations, "fig").videos, np.random.default_rng(4)
    first = FeatureFile(files.video)
    second = {name: draw.normal(size=(first.length(name), 7)).astype(np.float32) for name in names}
    second[names[2]][1] = 0  # nothing is said
    write_arrays(tmp_path / "second.h5", second, dim=7)
    reader, given = type("Reader", (XML,), {"second_stream": True}), FeatureFile(tmp_path / "second.h5")
    clips, mask = Videos(first, names, reader, CLIPS, 1.0, second=given).batch([2, 5])
    plain = Videos(first, names, XML, CLIPS, 1.0, second=given)
    assert plain.dim == VIDEO_DIM and torch.equal(clips[..., :VIDEO_DIM], plain.batch([2, 5])[0])
    assert clips.shape == (2, CLIPS, VIDEO_DIM + 7) and not clips[0, 1, VIDEO_DIM:].any() and not clips[~mask].any()
    unit = second[names[5]] / np.linalg.norm(second[names[5]], axis=1, keepdims=True)
    assert np.allclose(clips[1, mask[1], VIDEO_DIM:], unit, atol=1e-4)
    with refused("Reader", "second.h5"):
        Videos(first, names, reader, CLIPS, 1.0)
    write_arrays(tmp_path / "short.h5", {**second, names[4]: second[names[4]][:-1]}, dim=7)
    with refused(names[4], f"{len(second[names[4]])} in", file="short.h5"):
        Videos(first, names, reader, CLIPS, 1.0, second=FeatureFile(tmp_path / "short.h5"))


def test_a_video_longer_than_the_context_is_cut_or_pooled_and_counted(files, logged):
    long = np.arange(40, dtype=np.float32)[:, None] * np.ones((1, VIDEO_DIM), np.float32)
    edit(files.video, "video03-000", long)
    cut, pooled = videos_of(files), videos_of(files, model=ReLoCLNet)
    assert cut.clips[0] == pooled.clips[0] == CLIPS
    assert cut.clip_seconds[0] == 1.0 and pooled.clip_seconds[0] == 40 / CLIPS
    assert "1 of 12 videos are longer than 16 clips and are cut" in logged.text
    assert "are pooled" in logged.text
    assert pool(long, CLIPS)[[0, 1, 2, 3, -1], 0].tolist() == [0.5, 3, 6, 8.5, 38]
    moments = read_moments(files.annotations, "fig")
    labels = [span_labels(ReLoCLNet, moments, videos)[moments.video > 0] for videos in (cut, pooled)]
    assert np.array_equal(*labels)


def test_captions_are_cut_at_their_end(files):
    moments = read_moments(files.annotations, "fig")
    queries = Queries(moments, Hero, 3, ids=lambda captions: [[1, 2, 3, 4] for _ in captions])
    assert queries.batch([0])[0].tolist() == [[1, 2, 3]]


def test_padding_is_zero_and_rows_are_normalised(files):
    clips, mask = videos_of(files).batch(np.arange(12))
    assert clips.shape == (12, CLIPS, VIDEO_DIM)
    assert (clips[~mask] == 0).all()
    assert np.allclose(clips[mask].norm(dim=1), 1.0, atol=1e-3)
    raw, _ = videos_of(files, model=Hero).batch(np.arange(12))
    assert raw[mask].norm(dim=1).max() > 2


def test_spans_behind_the_last_clip_are_clamped_and_counted(files, logged):
    rows = read_jsonl(files.annotations)
    rows[0]["time"], rows[1]["time"] = [2.0, 99.0], [50.0, 60.0]
    write_jsonl(files.annotations, rows)
    moments, videos = read_moments(files.annotations, "fig"), videos_of(files)
    labels = span_labels(XML, moments, videos)
    last = videos.clips[moments.video[0]] - 1
    assert labels[0].tolist() == [2, last] and labels[1].tolist() == [last, last]
    assert "2 of 36 spans end after the last clip and are clamped to it" in logged.text


def test_the_official_cast_normalises_in_the_files_own_format(files):
    stored = np.random.default_rng(3).normal(0, 3, (9, VIDEO_DIM)).astype(np.float16)
    edit(files.video, "video03-000", stored)
    names = read_moments(files.annotations, "fig").videos
    official, early = (
        Videos(FeatureFile(files.video), names, XML, CLIPS, 1.0, cast=cast) for cast in ("official", "float32")
    )
    half = stored / (np.sqrt((stored * stored).sum(axis=1, keepdims=True, dtype=np.float16)) + np.float16(1e-5))
    normalised = official.batch([0])[0][0, :9].numpy()
    assert normalised.dtype == np.float32 and np.array_equal(normalised, half.astype(np.float32))
    assert not np.array_equal(normalised, early.batch([0])[0][0, :9].numpy())
    edit(files.text, "3000", stored[:5, :TEXT_DIM])
    moments = read_moments(files.annotations, "fig")
    casts = [
        Queries(moments, XML, TOKENS, FeatureFile(files.text), cast=cast).batch([0])[0].numpy()
        for cast in ("official", "float32")
    ]
    assert not np.array_equal(*casts)


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
def planted_files(tmp_path_factory):
    return plant(tmp_path_factory.mktemp("planted"), 12, seed=6)


def listed(planted_files, model, length, without=()) -> SplitData:
    """The split with random lists of `length` videos each; those of the queries in `without` lack their own video."""
    split = planted_files.split(type(model))
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
def test_queries_outside_their_list_are_left_out_of_training_and_counted(name, planted_files, tmp_path, monkeypatch):
    torch.manual_seed(0)
    model = small_model(name)
    split = listed(planted_files, model, length=8, without={2, 5, 30})
    queries, of_model = split.queries.batch(np.arange(36))[0], type(model).losses

    def losses(self, batch, **more):
        same = (queries[None, :, : batch.query.shape[1]] == batch.query[:, None]).flatten(2).all(dim=2)
        own = split.videos.batch(split.moments.video[same.int().argmax(dim=1).numpy()])[0]
        assert torch.equal(batch.video[:, 0], own), "the true video is the first"
        return of_model(self, batch, **more)

    monkeypatch.setattr(type(model), "losses", losses)
    recipe = replace(model.recipe, steps=2, batch=8, negatives=2)
    result = train(model, split, split, recipe, SEARCHING, 5, tmp_path / "log.jsonl")
    assert result.left_out == 3
    assert np.isfinite(result.history[0]["total"]) and len(result.history) == 1
    with refused("8", remedy=True):
        train(model, split, split, replace(recipe, negatives=8), SEARCHING, 5, tmp_path / "log.jsonl")


@pytest.mark.parametrize("name", ["conquer", "squidnet"])
def test_lists_of_vr_hold_the_external_videos_in_the_models_order(name, planted_files):
    model = small_model(name)
    split = listed(planted_files, model, length=5, without={0})
    lists = search(model, split.videos, split.queries, split.moments, SEARCHING, split.ranked)
    assert (np.sort(lists["VR"].video, axis=1) == np.sort(split.ranked.video, axis=1)).all()
    assert (np.diff(lists["VR"].score, axis=1) <= 0).all()
    if not model.rescores:
        assert (lists["VR"].video == split.ranked.video).all()
        np.testing.assert_allclose(lists["VR"].score, np.exp(20 * split.ranked.cosine), rtol=1e-5)
    else:
        np.testing.assert_allclose(lists["VR"].score.sum(axis=1), 1.0, rtol=1e-4)
        assert not (lists["VR"].video == split.ranked.video).all()
    shown = lists["VCMR"].video[lists["VCMR"].video >= 0]
    assert np.isin(shown, split.ranked.video).all()
    assert split.moments.video[0] not in lists["VCMR"].video[0]
    assert (lists["SVMR"].video[0][lists["SVMR"].video[0] >= 0] == split.moments.video[0]).all()
    own = replace(split.ranked, video=split.moments.video[:, None], cosine=split.ranked.cosine[:, :1])
    alone = search(model, split.videos, split.queries, split.moments, SEARCHING, own)["VCMR"]
    assert (lists["SVMR"].start == alone.start).all() and (lists["SVMR"].end == alone.end).all()
