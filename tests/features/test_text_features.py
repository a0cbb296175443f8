"""Text token features: the caption's own tokens, without padding, the same for any batch."""

import numpy as np
import pytest
import torch

from verified.common import mini_lm
from verified.common.errors import InputError
from verified.common.hdf5 import FeatureFile
from verified.features.text import caption_rows, load_encoder, write_text_features

SETTINGS = {"text_encoder": "all-MiniLM-L6-v2", "batch": 4}
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
    write_text_features(CAPTIONS, {**SETTINGS, "batch": 1}, tmp_path / "alone.h5")
    alone = FeatureFile(tmp_path / "alone.h5")
    for name in features:
        assert np.allclose(alone[name], features[name], atol=3e-3)  # float16 of values around 1
    assert np.allclose(features["3"], features["4"], atol=3e-3)


def test_the_packaged_encoder_writes_the_bytes_that_transformers_would(features, tmp_path):
    folder = {**SETTINGS, "text_encoder": str(mini_lm.folder())}
    write_text_features(CAPTIONS, folder, tmp_path / "library.h5")
    library = FeatureFile(tmp_path / "library.h5")
    assert all(np.array_equal(library[name], features[name]) for name in features)


def test_features_are_last_hidden_states(features):
    with torch.inference_mode():
        states, special = load_encoder(str(mini_lm.folder()))(["a ball"])
    assert special.tolist() == [[True, False, False, True]]
    assert np.allclose(features["10"], states[0, 1:-1], atol=3e-3)


def test_captions_come_from_the_named_key():
    rows = [{"desc_id": 7, "cog_desc": "coarse", "fig_desc": "fine"}]
    assert caption_rows(rows, "fig_desc") == [("7", "fine")]


def test_unknown_encoder_is_named(tmp_path):
    with pytest.raises(InputError, match="nowhere"):
        write_text_features(CAPTIONS, {"text_encoder": str(tmp_path / "nowhere"), "batch": 4}, tmp_path / "t.h5")
