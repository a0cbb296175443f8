"""Text token features: the caption's own tokens, without padding, the same for any batch."""

import numpy as np
import pytest
from feature_settings import text_features

from verified.config.datasets import Spans
from verified.features.embedded import window_scores, windows
from verified.features.text import write_text_features
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


SPANS = Spans(clip_seconds=1.0, min_pred_clips=1, max_pred_clips=3)


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
