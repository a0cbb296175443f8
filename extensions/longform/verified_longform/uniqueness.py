"""Share of a movie's sentences that are unique by METEOR (appendix A.1.2): NLTK's METEOR, every pair, in several
processes.

A sentence is unique if METEOR with each other sentence of its movie stays below a threshold. The pairs of a movie, some
175,000 for 590 sentences, are processed in blocks of rows. Most cannot reach the lowest threshold: METEOR is at most
the weighted mean of precision and recall, and a word finds a partner only if the two are equal, share a stem or share a
synset. This bound, a matrix product, leaves few pairs to METEOR itself; the result is the same.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np

from verified_longform.wordnet import load_wordnet, wordnet_digest

THRESHOLDS = (0.9, 0.99)
BLOCK = 64
ALPHA = 0.9
"""METEOR's weight of precision against recall in NLTK."""


@dataclass(frozen=True)
class _Sentences:
    """Sentences as rows for the bound: words in order of the movie's vocabulary."""

    holds: np.ndarray
    """[sentences, words], how often a word occurs in a sentence."""
    served: np.ndarray
    """[sentences, words], 1 for words of a hypothesis that some word of the sentence serves."""
    serving: np.ndarray
    """[sentences, words], 1 for words of a reference that some word of the sentence serves."""
    sizes: np.ndarray
    """[sentences], words of each."""

    def __getitem__(self, rows: slice) -> "_Sentences":
        return _Sentences(self.holds[rows], self.served[rows], self.serving[rows], self.sizes[rows])


def movie_scores(sentences: Sequence[str], wordnet, floor: float = THRESHOLDS[0]) -> list[float]:
    """Highest METEOR of each sentence with another of the movie, where it reaches `floor`; 0 where it stays below.

    METEOR is not symmetric: of a pair, the larger of both directions counts.
    """
    from nltk.translate.meteor_score import single_meteor_score

    tokens = [sentence.lower().split() for sentence in sentences]
    best = [0.0] * len(tokens)
    for first, second in _candidates(tokens, wordnet, floor):
        pairs = ((first, second), (second, first))
        score = max(single_meteor_score(tokens[one], tokens[other], wordnet=wordnet) for one, other in pairs)
        for sentence_number in (first, second):
            best[sentence_number] = max(best[sentence_number], score)
    return [score if score >= floor else 0.0 for score in best]


def _candidates(tokens: Sequence[Sequence[str]], wordnet, floor: float) -> Iterator[tuple[int, int]]:
    """Pairs (first < second) whose METEOR may reach `floor`."""
    words = sorted({word for sentence in tokens for word in sentence})
    columns = {word: number for number, word in enumerate(words)}
    partners = _partners(words, columns, wordnet)
    holds = np.zeros((len(tokens), len(words)), np.float32)
    for row, sentence in enumerate(tokens):
        for word in sentence:
            holds[row, columns[word]] += 1
    served = (holds @ partners > 0).astype(np.float32)
    serving = (holds @ partners.T > 0).astype(np.float32)
    movie = _Sentences(holds, served, serving, holds.sum(axis=1))
    for begin in range(0, len(tokens), BLOCK):
        bound = _upper_bound(movie[begin : begin + BLOCK], movie)
        for row, column in zip(*np.nonzero(bound >= floor - 1e-6), strict=True):
            if begin + row < column:
                yield int(begin + row), int(column)


def _upper_bound(some: _Sentences, movie: _Sentences) -> np.ndarray:
    """Upper bound of METEOR [some, all of the movie], of both directions."""

    def fmean(matches: np.ndarray, hypothesis: np.ndarray, reference: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            precision, recall = matches / hypothesis, matches / reference
            value = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
        return np.nan_to_num(value)

    forward = fmean(
        np.minimum(some.served @ movie.holds.T, some.holds @ movie.serving.T),
        movie.sizes[None],
        np.maximum(some.sizes, 1)[:, None],
    )
    backward = fmean(
        np.minimum(some.holds @ movie.served.T, some.serving @ movie.holds.T),
        some.sizes[:, None],
        np.maximum(movie.sizes, 1)[None],
    )
    return np.maximum(forward, backward)


def _partners(words: list[str], columns: dict[str, int], wordnet) -> np.ndarray:
    """[reference word, hypothesis word]: 1 where NLTK's METEOR may match the two."""
    from nltk.stem.porter import PorterStemmer

    stem = PorterStemmer().stem
    stems: dict[str, list[int]] = {}
    for word in words:
        stems.setdefault(stem(word), []).append(columns[word])
    partners = np.eye(len(words), dtype=np.float32)
    for numbers in stems.values():
        partners[np.ix_(numbers, numbers)] = 1
    for word in words:  # a hypothesis word's synonyms are looked up
        for synset in wordnet.synsets(word):
            for lemma in synset.lemmas():
                if lemma.name() in columns:
                    partners[columns[lemma.name()], columns[word]] = 1
    return partners


def measure_uniqueness(movies: dict[str, list[str]], folder: str, processes: int = 1) -> dict:
    """Share of unique sentences by threshold over all movies, in percent; movies go to `processes` processes."""
    digest = wordnet_digest(folder)
    work = [(sentences, folder) for sentences in movies.values()]
    if processes > 1 and len(work) > 1:
        with ProcessPoolExecutor(processes) as pool:
            scored = list(pool.map(_scores_of, work))
    else:
        scored = [_scores_of(one) for one in work]
    scores = np.array([score for of_movie in scored for score in of_movie])
    return {
        "sentences": len(scores),
        "movies": len(movies),
        "wordnet_sha256": digest,
        "unique": {str(limit): float(100 * (scores < limit).mean()) if len(scores) else None for limit in THRESHOLDS},
    }


def _scores_of(work: tuple[list[str], str]) -> list[float]:
    sentences, folder = work
    return movie_scores(sentences, load_wordnet(folder))
