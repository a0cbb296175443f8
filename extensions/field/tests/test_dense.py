"""Dense retrieval without training: lists, files, the test of a split by an embedder that knows brightness."""

import json
from pathlib import Path

import numpy as np
import pytest
from refusals import refused

from verified.benchmark.lists import NO_VIDEO
from verified.benchmark.tiou import tiou
from verified.benchmark.vcmr.results import read_metrics
from verified.benchmark.vcmr.submission import read_submission
from verified.config import load
from verified.config.datasets import Spans
from verified.config.generation import Generation
from verified.demo.source import write_video
from verified.io.hdf5 import FeatureFile
from verified.lmm.request import Reply
from verified.lmm.session import Session
from verified.lmm.tasks.embedding import EMBEDDING, vector_text
from verified_field.config import Rows
from verified_field.dense import dense_lists, write_embedded
from verified_field.dense import test_dense as rank_dense
from verified_field.embedded import piece_calls, pieces, window_scores, windows

SPANS = Spans(clip_seconds=1.0, min_pred_clips=1, max_pred_clips=3, nms_threshold=0.6)


class Brightness:
    """Engine of the role `embed`: a frame by its brightness, a text by the words bright and dark."""

    name, model, revision = "openai", "brightness", ""

    def answer(self, requests):
        for request in requests:
            if request.frames is not None:
                share = float(request.frames.mean()) / 255
                yield Reply(vector_text([share - 0.5, 0.05]))
            elif "unknown" in request.prompt:
                yield Reply("", "blocked", "filter")
            else:
                yield Reply(vector_text([1.0 if "bright" in request.prompt else -1.0, 0.0]))


def brightness_session(folder: Path, **embed: object) -> Session:
    """A session whose role `embed` is answered by brightness."""
    settings = {"engine": "openai", "model": "brightness", "base_url": "http://127.0.0.1:9", **embed}
    generation = Generation.model_validate({"ledger": str(folder / "ledger"), "embed": settings})
    return Session(generation, 0, (EMBEDDING,), {"embed": Brightness()})


def bright_between(path: Path, seconds: float, start: float, end: float, fps: int = 8) -> dict:
    """Write a dark video that is bright from `start` to `end`; its row of videos.jsonl."""
    times = np.arange(int(seconds * fps)) / fps
    levels = np.where((times >= start) & (times < end), 235, 20).astype(np.uint8)
    write_video(path, np.broadcast_to(levels[:, None, None, None], (len(levels), 32, 48, 3)), fps)
    size = {"width": 48, "height": 32, "duration": seconds, "sha256": f"digest of {path.name}"}
    return {"video": path.stem, "path": str(path), **size}


def unit(values):
    return values / np.linalg.norm(values, axis=-1, keepdims=True)


def test_windows_are_all_runs_of_the_lengths_that_spans_allow():
    assert windows(3, 1.0, SPANS).tolist() == [[0, 1], [1, 2], [2, 3], [0, 2], [1, 3], [0, 3]]
    assert windows(4, 2.0, SPANS).tolist() == [[0, 1], [1, 2], [2, 3], [3, 4], [0, 2], [1, 3], [2, 4]]
    assert windows(2, 1.0, SPANS.model_copy(update={"min_pred_clips": 4, "max_pred_clips": 9})).tolist() == [[0, 2]]
    longer = SPANS.model_copy(update={"clip_seconds": 2.0, "max_pred_clips": 2})
    assert windows(4, 1.0, longer).tolist() == [[0, 2], [1, 3], [2, 4], [0, 3], [1, 4], [0, 4]]
    assert pieces(5.5, 2.0) == [(0, 2), (2, 4), (4, 5.5)] and len(pieces(4.0, 2.0)) == 2


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
    assert lists["VR"].video[:, 0].tolist() == [0, 1, 2, 3, 4]
    for found in (lists["VCMR"], lists["SVMR"]):
        assert found.video[:, 0].tolist() == [0, 1, 2, 3, 4]
        assert ((found.start[:, 0] >= 4) & (found.end[:, 0] <= 6)).all()  # both clips are the query: all three tie
        assert (found.end[found.video == 4] <= 11.5).all()
        for query in range(5):
            kept = found.video[query] != NO_VIDEO
            spans = np.column_stack([found.video[query], found.start[query], found.end[query]])[kept]
            start, end = spans[:, 1], spans[:, 2]
            met = tiou(start[:, None], end[:, None], start, end) * (spans[:, :1] == spans[:, 0])
            assert (met[~np.eye(len(spans), dtype=bool)] <= SPANS.nms_threshold).all()
    assert (lists["SVMR"].video[(lists["SVMR"].video != NO_VIDEO)] == np.repeat(own, lists["SVMR"].counts())).all()


def test_a_query_without_a_vector_answers_nothing():
    videos = [unit(np.random.default_rng(2).normal(size=(4, 3))) for _ in range(2)]
    queries = np.array([[0.0, 0, 0], [1, 0, 0]])
    lists = dense_lists(queries, videos, [4.0, 4.0], np.array([0, 1]), 1.0, SPANS)
    assert [found.counts()[0] for found in (lists["VCMR"], lists["SVMR"], lists["VR"])] == [0, 0, 0]
    assert lists["VR"].counts()[1] == 2


@pytest.mark.parametrize("shows", [{}, {"shows": "clips", "clip_frames": 3}])
def test_vectors_are_written_once_and_rank_a_split(tmp_path, shows):
    rows = [bright_between(tmp_path / f"v{n}.mp4", 6.0, n + 1, n + 3) for n in range(3)]
    videos = {row["video"]: row for row in rows}
    test = tmp_path / "test.jsonl"
    with test.open("w") as out:
        for number, video in enumerate(videos):
            moment = {"desc_id": number, "video": video, "duration": 6.0, "time": [number + 1.0, number + 3.0]}
            said = {"cog_desc": "it is bright", "fig_desc": f"bright, number {number}", "fig_desc_score": 0.5}
            out.write(json.dumps({**moment, **said}) + "\n")
    with brightness_session(tmp_path, **shows) as session:
        counts = write_embedded(videos, session.settings.embed, session, tmp_path / "vectors.h5")
        assert counts == {"videos": 3, "pieces": 18, "without_vector": 0}
        assert FeatureFile(tmp_path / "vectors.h5")["v0"].shape == (6, 2)
        calls = piece_calls(videos, session.settings.embed, session)
        assert {call.request.slots["kind"] for _, call in calls} == {"clip" if shows else "frame"}
    outputs = tuple(str(tmp_path / name) for name in ("submission.json.gz", "metrics.json", "per_query.npz"))
    facts = {"model": "dense", "trained_on": "untrained", "tested_on": "fig", "seed": 0}
    facts |= {"dataset": "d", "split": "test"}
    with brightness_session(tmp_path, **shows) as session:
        rank_dense(str(test), videos, [str(tmp_path / "vectors.h5")], session, SPANS, facts, outputs)
    metrics = read_metrics(outputs[1])
    assert metrics["metrics"]["SVMR"]["0.5/r5"] == 100 and metrics["queries_without_vector"] == 0
    rows = read_submission(outputs[0]).tasks["SVMR"][0]
    assert 1 <= rows[0, 1] < rows[0, 2] <= 3
    with brightness_session(tmp_path, **shows) as session, refused("v2"):
        only = {video: row for video, row in videos.items() if video != "v2"}
        write_embedded(only, session.settings.embed, session, tmp_path / "fewer.h5")
        rank_dense(str(test), videos, [str(tmp_path / "fewer.h5")], session, SPANS, facts, outputs)


def test_rows_by_vectors_need_a_model_that_sees():
    demo = {"datasets": {"demo": {"title": "D", "source": {"kind": "demo", "videos": 12, "seconds": 10}}}}
    for generation in ({}, {"embed": {"shows": "nothing"}}):
        with refused("dense"):
            load({**demo, "generation": generation, "field": {"dense": True}})
    assert load({**demo, "generation": {"embed": {}}, "field": {"dense": True}}).section(Rows).dense
