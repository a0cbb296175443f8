"""Uniqueness by METEOR: the bound changes nothing, thresholds, and a missing WordNet is said."""

from itertools import permutations
from types import SimpleNamespace

import pytest
from refusals import refused

from verified_longform.uniqueness import measure_uniqueness, movie_scores

nltk = pytest.importorskip("nltk.translate.meteor_score")


class SmallWordNet:
    """Synonyms of three words, in the reader's manner."""

    groups = ({"car", "auto"}, {"quick", "fast"}, {"runs", "runs_fast"})

    def synsets(self, word):
        return [
            SimpleNamespace(lemmas=lambda group=group: [SimpleNamespace(name=lambda name=name: name) for name in group])
            for group in self.groups
            if word in group
        ]


SENTENCES = [
    "the quick car runs down the long road today",
    "the fast auto runs down the long road today",
    "the quick car runs down the long road today",
    "a dog sleeps",
    "a dog slept",
    "she walks home alone tonight",
    "walking home alone tonight she",
    "the quick cars run down the long road today",
    "nothing like the others at all",
    "",
    "a dog sleeps beside the long road today and the quick car runs",
]


@pytest.mark.parametrize("floor", [0.9, 0.5])
def test_scores_are_those_of_every_pair(floor):
    wordnet = SmallWordNet()
    tokens = [sentence.split() for sentence in SENTENCES]
    best = [0.0] * len(tokens)
    for first, second in permutations(range(len(tokens)), 2):
        score = nltk.single_meteor_score(tokens[first], tokens[second], wordnet=wordnet)
        for row in (first, second):
            best[row] = max(best[row], score)
    expected = [score if score >= floor else 0.0 for score in best]
    assert movie_scores(SENTENCES, wordnet, floor) == pytest.approx(expected)
    assert max(expected) > 0.95 and min(expected) == 0


def test_without_wordnet_the_error_says_what_to_do(tmp_path):
    with refused("data.noun", "WordNet", "NLTK", remedy=True):
        measure_uniqueness({"f": ["a", "b"]}, str(tmp_path))
