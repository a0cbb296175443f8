"""The packaged encoder against the libraries that load it from its folder: the same bytes, without their import."""

import numpy as np
import pytest

from verified.benchmark.vcmr.data import load_tokeniser
from verified.nn.mini_lm import folder
from verified.nn.sentences import encode, weights_digest

CAPTIONS = [
    "a ball",
    "A person is cooking on a stove, stirring.",
    "two large red balls hop up and down beside a small striped box before a dark green wall",
    "naïve café 日本",
    "[SEP] is no end",
    "?",
    "word " * 400,
    *(f"a person number {number} opens the door" for number in range(150)),
]


@pytest.mark.slow  # the library takes long to import
def test_sentence_vectors_are_those_of_sentence_transformers():
    ours, theirs = encode(CAPTIONS), encode(CAPTIONS, str(folder()))
    assert ours.dtype == np.float32 and np.array_equal(ours, theirs)
    assert np.linalg.norm(ours, axis=1) == pytest.approx(1, abs=1e-6)
    assert encode([]).shape == (0, 384) and weights_digest() == weights_digest(str(folder()))


def test_token_ids_are_those_of_transformers():
    ours, theirs = load_tokeniser("all-MiniLM-L6-v2"), load_tokeniser(str(folder()))
    assert (ours.vocabulary, ours.cls_id) == (theirs.vocabulary, theirs.cls_id)
    assert ours(CAPTIONS) == theirs(CAPTIONS)
