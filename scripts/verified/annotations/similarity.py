"""How close each candidate is to its coarse caption by the sentence encoder, for corpora without an evaluator."""

from collections.abc import Iterable, Iterator

from verified.common.errors import InputError
from verified.common.sentences import encode


def similarities(moments: Iterable[dict], scores: Iterable[dict], model: str, threads: int = 1) -> Iterator[dict]:
    """Rows ``desc_id, type, candidate, cosine``: a candidate's cosine (-1 to 1) to the coarse caption of its moment.

    `scores` are rows of evaluator/scores/SHARD.jsonl, which hold every candidate; their order is kept. Raises
    InputError for scores of another corpus.
    """
    coarse = {moment["desc_id"]: moment["caption"] for moment in moments}
    rows = list(scores)
    if strange := {row["desc_id"] for row in rows} - coarse.keys():
        raise InputError(
            f"a score belongs to moment {min(strange)}, which is not in the corpus", remedy="score the candidates again"
        )
    both = encode([*(coarse[row["desc_id"]] for row in rows), *(row["caption"] for row in rows)], model, threads)
    cosines = (both[: len(rows)] * both[len(rows) :]).sum(axis=1)
    for row, cosine in zip(rows, cosines):
        yield {**{name: row[name] for name in ("desc_id", "type", "candidate")}, "cosine": round(float(cosine), 6)}
