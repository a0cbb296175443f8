"""Text token features: the caption's own tokens, without padding, the same for any batch."""

import weakref

import numpy as np
import pytest
import torch
from feature_settings import text_features

from verified.errors import InputError
from verified.features.text import caption_rows, encode_caption, load_encoder, write_text_features
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
        write_text_features(CAPTIONS, text_features(str(tmp_path / "nowhere"), batch=4), tmp_path / "t.h5")


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
