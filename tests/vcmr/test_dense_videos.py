"""Vectors of videos: pieces, files, the test of a split, questions and movies, by an embedder that knows brightness."""

import json

import numpy as np
import pytest
from brightness import bright_between, brightness_session
from refusals import refused

from verified.benchmark.rextime.vectors import ground_by_vectors
from verified.benchmark.vcmr.data import feature_width
from verified.benchmark.vcmr.dense import test_dense as rank_dense
from verified.benchmark.vcmr.results import read_metrics
from verified.benchmark.vcmr.submission import read_submission
from verified.config.datasets import Spans
from verified.features.embedded import pieces, write_embedded, write_embedded_captions
from verified.io.hdf5 import FeatureFile
from verified_longform.embedded import spread, write_embedded_movies

SPANS = Spans(clip_seconds=1.0, min_pred_clips=1, max_pred_clips=3)


@pytest.fixture
def videos(tmp_path):
    rows = [bright_between(tmp_path / f"v{n}.mp4", 6.0, n + 1, n + 3) for n in range(3)]
    return {row["video"]: row for row in rows}


def test_pieces_cover_a_video():
    assert pieces(2.5, 1.0) == [(0.0, 1.0), (1.0, 2.0), (2.0, 2.5)]
    assert pieces(2.0, 1.0) == [(0.0, 1.0), (1.0, 2.0)] and pieces(0.2, 1.0) == [(0.0, 0.2)]


@pytest.mark.parametrize("shows", [{}, {"shows": "clips", "clip_frames": 3}])
def test_vectors_are_written_once_and_rank_a_split(tmp_path, videos, shows):
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
    outputs = tuple(str(tmp_path / name) for name in ("submission.json.gz", "metrics.json", "per_query.npz"))
    facts = {
        "model": "dense",
        "trained_on": "untrained",
        "tested_on": "fig",
        "seed": 0,
        "dataset": "d",
        "split": "test",
    }
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


def test_captions_have_one_vector_that_models_read_as_a_token(tmp_path):
    captions = [("1", "bright"), ("2", "dark"), ("3", "bright")]
    with brightness_session(tmp_path) as session:
        assert write_embedded_captions(captions, session, tmp_path / "text.h5") == 3
        assert session.outcome_counts()["embed/vector"]["calls"] == 3
        with refused("4"):
            write_embedded_captions([("4", "unknown")], session, tmp_path / "lost.h5")
    features = FeatureFile(tmp_path / "text.h5")
    assert features["1"].shape == (1, 2) and np.linalg.norm(features["2"]) == pytest.approx(2**0.5, abs=1e-3)
    assert feature_width(features) == 2 and np.array_equal(features["1"], features["3"])


def test_questions_are_grounded_in_their_own_videos(tmp_path, videos):
    asked = [("q0", "v0", "when is it bright?"), ("q1", "v2", "when is it bright?"), ("q2", "v1", "unknown")]
    rows = [{"qid": qid, "vid": video, "query": query, "duration": 6.0} for qid, video, query in asked]
    with brightness_session(tmp_path) as session:
        found = ground_by_vectors(rows, videos, SPANS, session)
    for qid, start in (("q0", 1.0), ("q1", 3.0)):
        window = found[qid].window
        assert start <= window[0] < window[1] <= start + 2
    assert found["q2"].window == (0.0, 6.0)


def test_movies_have_a_vector_for_every_frame_of_the_grid(tmp_path, videos):
    assert spread(np.eye(3), 2.5, 2.0, 1.0).argmax(axis=1).tolist() == [0, 0, 1, 1, 2]
    rows = [{"id": "a", "movie": "v0", "sentence": "bright"}, {"id": "b", "movie": "v1", "sentence": "dark"}]
    with brightness_session(tmp_path) as session:
        write_embedded_movies(videos, rows, 2.0, session, tmp_path / "frames.h5", tmp_path / "sentences.h5")
    frames, sentences = FeatureFile(tmp_path / "frames.h5"), FeatureFile(tmp_path / "sentences.h5")
    assert frames["v0"].shape == (12, 2) and sentences["b"].shape == (1, 2)
    near = frames["v0"] @ sentences["a"][0]
    assert (near > 0).tolist() == [False] * 2 + [True] * 4 + [False] * 6
