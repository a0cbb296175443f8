"""Rank texts by the words that they share with a query: BM25 (Robertson and Zaragoza, 2009)."""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

K1, B = 1.2, 0.75
"""Saturation of repeated words, and how far long texts are marked down: the usual values."""
WORD = re.compile(r"\w+")


class Words:
    """Texts, indexed by word."""

    def __init__(self, texts: Sequence[str]):
        counts = [Counter(words_of(text)) for text in texts]
        lengths = np.array([count.total() for count in counts], np.float64)
        shortening = K1 * (1 - B + B * lengths / max(lengths.mean(), 1.0)) if len(texts) else lengths
        rows: dict[str, list[tuple[int, int]]] = {}
        for row, count in enumerate(counts):
            for word, times in count.items():
                rows.setdefault(word, []).append((row, times))
        self._texts = len(texts)
        self._found: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        for word, pairs in rows.items():
            where, times = np.array(pairs).T
            self._found[word] = where, times * (K1 + 1) / (times + shortening[where])

    def scores(self, query: str) -> np.ndarray:
        """[texts] float64 from 0 to 1: BM25 divided by its limit for a text of nothing but the query's words, repeated
        endlessly. A word in no text counts too, as the rarest of all."""
        scores, most = np.zeros(self._texts), 0.0
        for word in set(words_of(query)):
            where, saturated = self._found.get(word, (np.zeros(0, int), np.zeros(0)))
            rarity = np.log(1 + (self._texts - len(where) + 0.5) / (len(where) + 0.5))
            scores[where] += rarity * saturated
            most += rarity * (K1 + 1)
        return scores / most if most else scores


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return WORD.findall(text.casefold())
