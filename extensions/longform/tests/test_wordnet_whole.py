"""WordNet 3.0 whole, as Debian's package wordnet-base has it: METEOR and the uniqueness of real sentences.

`make test-real` installs the package where it may; VERIFIED_WORDNET names another folder.
"""

import os
from itertools import combinations
from pathlib import Path

import pytest
from running import PROJECT

from verified.io.jsonl import read_jsonl
from verified_longform.uniqueness import measure_uniqueness
from verified_longform.wordnet import load_wordnet

nltk = pytest.importorskip("nltk.translate.meteor_score")
FOLDER = Path(os.environ.get("VERIFIED_WORDNET", "/usr/share/wordnet"))
CAPTIONS = PROJECT / "tests" / "fixtures" / "agreement" / "real-captions.jsonl"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no WordNet in {FOLDER}: apt-get install wordnet-base"),
]


@pytest.fixture(scope="module")
def wordnet():
    return load_wordnet(str(FOLDER))


def test_uniqueness_of_real_sentences_is_that_of_all_pairs(wordnet):
    """Of sentences that say the same in other words, none is unique; of the rest, what METEOR of all pairs says."""
    sentences = [text for row in read_jsonl(CAPTIONS) for text in (row["coarse"], *row["true"], *row["false"])]
    sentences += ["the car drives along the road", "the auto drives along the road"]
    # NLTK looks up what is left of a word after stemming: an auto is a car, an automobile ("automobil") is not.
    tokens = [sentence.lower().split() for sentence in sentences]
    highest = [0.0] * len(sentences)
    for first, second in combinations(range(len(sentences)), 2):
        for one, other in ((first, second), (second, first)):
            score = nltk.single_meteor_score(tokens[one], tokens[other], wordnet=wordnet)
            highest[first], highest[second] = max(highest[first], score), max(highest[second], score)
    assert highest[-1] == highest[-2] > 0.9
    measured = measure_uniqueness({"all": sentences}, str(FOLDER))
    for threshold, share in measured["unique"].items():
        unique = sum(score < float(threshold) for score in highest)
        assert share == pytest.approx(100 * unique / len(sentences), abs=0.01)
