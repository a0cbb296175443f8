"""Text token features: the caption's own tokens, without padding, the same for any batch."""

from unittest import mock

import numpy as np
import pytest
from feature_settings import text_features

from verified.features.text import write_text_features
from verified.io.hdf5 import FeatureFile
from verified.nn import mini_lm

SETTINGS = text_features("all-MiniLM-L6-v2", batch=4)
CAPTIONS = [("3", "A red ball moves."), ("10", "a ball"), ("4", "A red ball moves."), ("5", "word " * 900), ("6", "a")]


@pytest.fixture(scope="module")
def features(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "text.h5"
    with mock.patch("verified.features.text.log.warning") as warned:
        assert write_text_features(CAPTIONS, SETTINGS, path) == 5
    assert warned.call_args.args[1] == 1, "one caption reaches the limit"
    return FeatureFile(path)


def test_one_row_per_token_of_the_caption(features):
    assert {name: features.length(name) for name in features} == {"3": 5, "4": 5, "10": 2, "5": 508, "6": 1}
    assert features.dim == 384 and features.attributes["backbone"] == "all-MiniLM-L6-v2"
    assert not features.attributes["special_tokens"]


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
