"""Statistics of a grounding data set: Tables 1 and 7, Figures 3, 5 and 6, vocabularies and their overlap.

The paper states no recipe; this one comes closest to the published rows of Charades-STA and ActivityNet Captions.
Moments are cut to their video before their lengths are averaged. Words are spaCy's tokens, punctuation included; the
vocabulary is the distinct tokens, with capitals as written; adjectives, nouns and verbs are the distinct lower-cased
ones tagged ADJ, NOUN and VERB. It gives all language figures of Charades-STA and the vocabulary of ActivityNet
Captions; there, its parts of speech are more than the published ones.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from verified.runtime.progress import Progress

FORK_FROM = 5000
"""Distinct sentences below which more processes cost more than they save."""
PARTS = {"ADJ": "adjectives", "NOUN": "nouns", "VERB": "verbs"}
POSITION_BINS = 50
LONGEST_SECONDS, LONGEST_TOKENS = 60, 60
"""Start of the last bins of the histograms of lengths, which hold all longer ones."""


def vocabulary(texts: Iterable[str], tagger, processes: int = 1, label: str = "language") -> dict:
    """``tokens`` {token: count}, the sets ``adjectives``, ``nouns``, ``verbs``, and ``lengths`` {tokens of
    a sentence: sentences}. Each distinct text is tagged once."""
    counts = Counter(texts)
    tokens, lengths = Counter(), Counter()
    words_by_tag: dict[str, set[str]] = {name: set() for name in PARTS.values()}
    progress = Progress(label, len(counts), "distinct sentences")
    pipe = tagger.pipe(list(counts), n_process=processes if len(counts) >= FORK_FROM else 1, batch_size=256)
    for times, document in zip(counts.values(), pipe, strict=True):
        length = 0
        for token in document:
            if token.is_space:
                continue
            length += 1
            tokens[token.text] += times
            if token.pos_ in PARTS:
                words_by_tag[PARTS[token.pos_]].add(token.lower_)
        lengths[length] += times
        progress.step()
    progress.finish()
    return {"tokens": tokens, "lengths": lengths, **words_by_tag}


def describe(rows: Sequence[dict], words: Mapping) -> dict:
    """The figures of one row of Table 1, and histograms; `rows` are checked, `words` their `vocabulary`.

    hours, minutes per video, seconds per moment, queries, words per query, tokens, adjectives, nouns, verbs,
    vocabulary; ``coverage``: mean of moment length by video length; ``word_deviation``; ``frequent`` {times: words that
    occur more often}; ``histograms``: of start and end by video length, of moments in seconds, of sentences in tokens.
    """
    if not rows:
        return {"videos": 0, "queries": 0}
    durations = {row["movie"]: row["duration"] for row in rows}
    start, end, whole = (np.array([row[key] for row in rows]) for key in ("start", "end", "duration"))
    lengths = end - start
    sizes = np.repeat(list(words["lengths"]), list(words["lengths"].values()))
    tokens = int(sizes.sum())
    return {
        "videos": len(durations),
        "hours": sum(durations.values()) / 3600,
        "minutes": sum(durations.values()) / 60 / len(durations),
        "seconds": float(lengths.mean()),
        "queries": len(rows),
        "words": tokens / len(rows),
        "tokens": tokens,
        **{name: len(words[name]) for name in PARTS.values()},
        "vocabulary": len(words["tokens"]),
        "coverage": float((lengths / whole).mean()),
        "word_deviation": float(sizes.std()),
        "frequent": {str(limit): sum(count > limit for count in words["tokens"].values()) for limit in (50, 1000)},
        "histograms": {
            "start": _histogram(start / whole, 1.0 / POSITION_BINS, POSITION_BINS),
            "end": _histogram(end / whole, 1.0 / POSITION_BINS, POSITION_BINS),
            "seconds": _histogram(lengths, 1.0, LONGEST_SECONDS),
            "tokens": _histogram(sizes, 1.0, LONGEST_TOKENS),
        },
    }


def _histogram(values: np.ndarray, width: float, bins: int) -> dict:
    """Counts of equal bins from 0; the last one holds all that is beyond."""
    bins_of = np.minimum((values / width + 1e-9).astype(int), bins - 1)
    return {"width": width, "counts": np.bincount(bins_of, minlength=bins).tolist()}


def overlap(train: Mapping[str, int], other: Mapping[str, int]) -> dict:
    """Overlap of two vocabularies {word: count} (appendix A.1.1): ``shared`` words and their share of the other one's;
    words of either that the other lacks, and their share of its tokens."""
    shared = train.keys() & other.keys()
    unseen, unused = other.keys() - shared, train.keys() - shared
    return {
        "shared": len(shared),
        "shared_share": len(shared) / len(other) if other else None,
        "unseen": len(unseen),
        "unseen_tokens_share": sum(other[word] for word in unseen) / max(1, sum(other.values())),
        "train_only": len(unused),
        "train_only_tokens_share": sum(train[word] for word in unused) / max(1, sum(train.values())),
    }


def merge_vocabularies(vocabularies: Iterable[Mapping]) -> dict:
    """The vocabulary of several sets of sentences together."""
    together: dict = {"tokens": Counter(), "lengths": Counter(), **{name: set() for name in PARTS.values()}}
    for words in vocabularies:
        together["tokens"] += words["tokens"]
        together["lengths"] += words["lengths"]
        for name in PARTS.values():
            together[name] |= words[name]
    return together


def measure_splits(rows: Sequence[dict], tagger, processes: int = 1) -> dict:
    """`describe` of ``all`` rows, of ``train`` and of ``val/test`` (if they exist), and their ``overlap``."""
    groups = {
        "train": [row for row in rows if row["split"] == "train"],
        "val/test": [row for row in rows if row["split"] != "train"],
    }
    groups = {name: group for name, group in groups.items() if group}
    words = {
        name: vocabulary((row["sentence"] for row in group), tagger, processes, name) for name, group in groups.items()
    }
    measures = {"all": describe(rows, merge_vocabularies(words.values()))}
    measures |= {name: describe(group, words[name]) for name, group in groups.items()}
    if len(groups) == 2:
        measures["overlap"] = overlap(words["train"]["tokens"], words["val/test"]["tokens"])
    measures["splits"] = {
        split: {
            "videos": len({row["movie"] for row in rows if row["split"] == split}),
            "queries": sum(row["split"] == split for row in rows),
        }
        for split in ("train", "val", "test")
    }
    return measures
