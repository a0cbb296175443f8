"""Cosine of each candidate to its coarse caption by the sentence encoder, for corpora without an evaluator."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from verified.errors import InputError
from verified.nn.sentences import encode


def similarities(
    moments: Iterable[dict], scores: Iterable[dict], sentence_encoder: str, threads: int = 1
) -> Iterator[dict]:
    """Rows ``desc_id, type, candidate, cosine``: a candidate's cosine (-1 to 1) to the coarse caption of its moment.

    `scores` are rows of evaluator/scores/SHARD.jsonl, which include every candidate; the order is the same. Raises
    InputError for scores of another corpus.
    """
    coarse = {moment["desc_id"]: moment["caption"] for moment in moments}
    rows = list(scores)
    if strange := {row["desc_id"] for row in rows} - coarse.keys():
        raise InputError(
            f"a score belongs to moment {min(strange)}, which is not in the corpus", remedy="score the candidates again"
        )
    found = cosines(
        [row["caption"] for row in rows], [coarse[row["desc_id"]] for row in rows], sentence_encoder, threads
    )
    for row, cosine in zip(rows, found):
        yield {**{name: row[name] for name in ("desc_id", "type", "candidate")}, "cosine": round(float(cosine), 6)}


def cosines(captions: Sequence[str], coarse: Sequence[str], sentence_encoder: str, threads: int = 1) -> np.ndarray:
    """[captions] cosine of each caption's sentence vector to that of its coarse caption, from -1 to 1."""
    both = encode([*coarse, *captions], sentence_encoder, threads)
    return (both[: len(captions)] * both[len(captions) :]).sum(axis=1)
