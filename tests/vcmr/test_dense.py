"""Dense retrieval without training: windows, their cosines, lists, and a row beside trained models."""

import numpy as np
import pytest

from verified.benchmark.intervals import compare_paired
from verified.benchmark.lists import NO_VIDEO
from verified.benchmark.vcmr.dense import dense_lists, window_scores, windows
from verified.config import load
from verified.config.datasets import Spans

SPANS = Spans(clip_seconds=1.0, min_pred_clips=1, max_pred_clips=3, nms_threshold=0.6)


def unit(values):
    return values / np.linalg.norm(values, axis=-1, keepdims=True)


def test_windows_are_all_runs_of_the_lengths_that_spans_allow():
    assert windows(3, 1.0, SPANS).tolist() == [[0, 1], [1, 2], [2, 3], [0, 2], [1, 3], [0, 3]]
    assert windows(4, 2.0, SPANS).tolist() == [[0, 1], [1, 2], [2, 3], [3, 4], [0, 2], [1, 3], [2, 4]]
    assert windows(2, 1.0, SPANS.model_copy(update={"min_pred_clips": 4, "max_pred_clips": 9})).tolist() == [[0, 2]]


def test_scores_are_cosines_of_mean_vectors():
    rng = np.random.default_rng(0)
    vectors, queries = unit(rng.normal(size=(6, 5))), unit(rng.normal(size=(4, 5)))
    vectors[2] = 0
    spans = windows(6, 1.0, SPANS)
    scores = window_scores(vectors, queries, spans)
    for number, (first, last) in enumerate(spans):
        mean = vectors[first:last].mean(axis=0)
        if first == 2 and last == 3:
            assert (scores[:, number] == -2).all()
        else:
            assert scores[:, number] == pytest.approx(queries @ mean / np.linalg.norm(mean))


def test_a_planted_moment_is_found_and_lists_hold_no_overlaps():
    rng = np.random.default_rng(1)
    videos = [unit(rng.normal(size=(12, 16))) for _ in range(5)]
    queries, own = unit(rng.normal(size=(5, 16))), np.arange(5)
    for number, video in enumerate(videos):
        video[4:6] = queries[number]
    durations = [12.0, 12.0, 12.0, 12.0, 11.5]
    lists = dense_lists(queries, videos, durations, own, 1.0, SPANS)
    assert lists.vr.video[:, 0].tolist() == [0, 1, 2, 3, 4]
    for found in (lists.vcmr, lists.svmr):
        assert found.video[:, 0].tolist() == [0, 1, 2, 3, 4]
        assert ((found.start[:, 0] >= 4) & (found.end[:, 0] <= 6)).all()  # both clips are the query: all three tie
        assert (found.end[found.video == 4] <= 11.5).all()
        for query in range(5):
            kept = found.video[query] != NO_VIDEO
            spans = np.column_stack([found.video[query], found.start[query], found.end[query]])[kept]
            assert len(np.unique(spans, axis=0)) == len(spans)
    assert (lists.svmr.video[(lists.svmr.video != NO_VIDEO)] == np.repeat(own, lists.svmr.counts())).all()


def test_a_query_without_a_vector_answers_nothing():
    videos = [unit(np.random.default_rng(2).normal(size=(4, 3))) for _ in range(2)]
    queries = np.array([[0.0, 0, 0], [1, 0, 0]])
    lists = dense_lists(queries, videos, [4.0, 4.0], np.array([0, 1]), 1.0, SPANS)
    assert [found.counts()[0] for found in (lists.vcmr, lists.svmr, lists.vr)] == [0, 0, 0]
    assert lists.vr.counts()[1] == 2


def test_what_was_not_trained_brings_no_noise_of_training():
    rng = np.random.default_rng(4)
    trained, fixed = 100 * (rng.random((3, 80)) < 0.6), 100 * (rng.random((1, 80)) < 0.3)
    videos = np.repeat(np.arange(20), 4)
    assert compare_paired(trained, fixed, videos).p is None
    found = compare_paired(trained, fixed, videos, trained=(True, False))
    assert found.p is not None and found.p < 0.05 and found.trainings == 3
    turned = compare_paired(fixed, trained, videos, trained=(False, True))
    assert (turned.value, turned.low, turned.high) == pytest.approx((-found.value, -found.high, -found.low))
    copies = compare_paired(trained, np.repeat(fixed, 3, axis=0), videos)
    assert found.high - found.low == pytest.approx(copies.high - copies.low, rel=0.05)
    assert compare_paired(fixed, 100 - fixed, videos, trained=(False, False)).trainings is None


def test_rows_by_vectors_need_a_model_that_sees():
    demo = {"datasets": {"demo": {"title": "D", "source": {"kind": "demo", "videos": 12, "seconds": 10}}}}
    for generation in ({}, {"embed": {"engine": "sentence-transformers", "model": "x", "shows": "nothing"}}):
        with pytest.raises(Exception, match="dense"):
            load({**demo, "generation": generation, "retrieval": {"dense": True}})
    assert load({**demo, "generation": {"embed": {}}, "retrieval": {"dense": True}}).retrieval.dense
    with pytest.raises(Exception, match="text_encoder"):
        load({**demo, "features": {"text_encoder": "embed"}})
    with pytest.raises(Exception, match="hero"):
        both = {"generation": {"embed": {}}, "features": {"text_encoder": "embed"}}
        load({**demo, **both, "retrieval": {"models": ["hero"]}})
