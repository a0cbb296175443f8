"""Text token features: the caption's own tokens, without padding, the same for any batch."""

import weakref

import numpy as np
import pytest
from brightness import brightness_session
from feature_settings import text_features
from refusals import refused

from verified.benchmark.vcmr.data import feature_width
from verified.config import load
from verified.config.datasets import Spans
from verified.features.embedded import pieces, window_scores, windows, write_embedded_captions
from verified.features.text import encode_caption, load_encoder, write_text_features
from verified.io.hdf5 import FeatureFile
from verified.nn import mini_lm

SETTINGS = text_features("all-MiniLM-L6-v2", batch=4)
CAPTIONS = [("3", "A red ball moves."), ("10", "a ball"), ("4", "A red ball moves."), ("5", "word " * 900), ("6", "a")]


@pytest.fixture(scope="module")
def features(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "text.h5"
    assert write_text_features(CAPTIONS, SETTINGS, path) == 5
    return FeatureFile(path)


def test_one_row_per_token_of_the_caption(features):
    assert {name: features.length(name) for name in features} == {"3": 5, "4": 5, "10": 2, "5": 508, "6": 1}
    assert features.dim == 384 and features.attributes["backbone"] == "all-MiniLM-L6-v2"


def test_batch_mates_do_not_matter(features, tmp_path):
    write_text_features(CAPTIONS, text_features("all-MiniLM-L6-v2", batch=1), tmp_path / "alone.h5")
    alone = FeatureFile(tmp_path / "alone.h5")
    for name in features:
        assert np.allclose(alone[name], features[name], atol=3e-3)  # float16 of values around 1
    assert np.allclose(features["3"], features["4"], atol=3e-3)


def test_the_packaged_encoder_writes_the_bytes_that_transformers_would(features, tmp_path):
    folder = text_features(str(mini_lm.folder()), batch=4)
    write_text_features(CAPTIONS, folder, tmp_path / "library.h5")
    library = FeatureFile(tmp_path / "library.h5")
    assert all(np.array_equal(library[name], features[name]) for name in features)


def test_no_caption_stays_in_memory(tmp_path, monkeypatch):
    """ActivityNet's captions would take 4 GB: what is encoded is on disk before the next batch is."""
    encoder = load_encoder(SETTINGS.text_encoder)
    alive = weakref.WeakSet()

    class Counting:
        dim, limit = encoder.dim, encoder.limit

        def __call__(self, texts):
            assert len(alive) <= 2, "states of earlier batches are still held"
            hidden, special = encoder(texts)
            alive.add(hidden)
            return hidden, special

    monkeypatch.setattr("verified.features.text.load_encoder", lambda name: Counting())
    captions = [(str(number), f"a ball number {number}") for number in range(40)]
    assert write_text_features(captions, SETTINGS, tmp_path / "t.h5") == 40
    assert [path.name for path in tmp_path.iterdir()] == ["t.h5"]
    written = FeatureFile(tmp_path / "t.h5")
    assert np.allclose(written["7"], encode_caption("a ball number 7", encoder), atol=3e-3)


SPANS = Spans(clip_seconds=1.0, min_pred_clips=1, max_pred_clips=3)


def unit(values):
    return values / np.linalg.norm(values, axis=-1, keepdims=True)


def test_pieces_cover_a_video():
    assert pieces(2.5, 1.0) == [(0.0, 1.0), (1.0, 2.0), (2.0, 2.5)]
    assert pieces(2.0, 1.0) == [(0.0, 1.0), (1.0, 2.0)] and pieces(0.2, 1.0) == [(0.0, 0.2)]


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


def test_text_features_by_vectors_need_a_model_and_have_no_tokens():
    demo = {"datasets": {"demo": {"title": "D", "source": {"kind": "demo", "videos": 12, "seconds": 10}}}}
    with refused("text_encoder"):
        load({**demo, "features": {"text_encoder": "embed"}})
    with refused("hero"):
        both = {"generation": {"embed": {}}, "features": {"text_encoder": "embed"}}
        load({**demo, **both, "retrieval": {"models": ["hero"]}})
