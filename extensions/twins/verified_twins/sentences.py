"""Twins of sentences: the perturbed caption, and variants of a sentence by rules."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

DO = {"VBZ": "does not", "VBP": "do not", "VBD": "did not"}
"""Tag of a finite verb (Penn Treebank) → its negation."""
OPPOSITES = (
    *(("appear", "disappear"), ("appears", "disappears"), ("enter", "leave"), ("enters", "leaves")),
    *(("open", "close"), ("opens", "closes"), ("opening", "closing"), ("rise", "fall"), ("rises", "falls")),
    *(("grow", "shrink"), ("grows", "shrinks"), ("expand", "shrink"), ("expands", "shrinks"), ("bigger", "smaller")),
    *(("up", "down"), ("upwards", "downwards"), ("forwards", "backwards"), ("before", "after"), ("start", "stop")),
    *(("starts", "stops"), ("clockwise", "counterclockwise"), ("faster", "slower")),
    *(("to the left", "to the right"), ("from the left", "from the right"), ("puts on", "takes off")),
    *(("put on", "take off"), ("picks up", "puts down"), ("pick up", "put down"), ("walks in", "walks out")),
)
"""Words with an opposite when a video runs backwards, or in a mirror of its motion."""
REVERSED = {old: new for word, other in reversed(OPPOSITES) for old, new in ((word, other), (other, word))}
_WORDS = re.compile(rf"\b({'|'.join(sorted(map(re.escape, REVERSED), key=len, reverse=True))})\b", re.IGNORECASE)

Tagger = Callable[[str], Iterable[Any]]
"""A sentence → its tokens, as spaCy has them: `tag_`, `lemma_`, `text`, `idx`."""


def negate(sentence: str, tagger: Tagger) -> str | None:
    """`sentence` with its first finite verb negated; None without one, or if it is already negative."""
    if re.search(r"\b(not|no|never|nothing|nobody)\b|n't\b", sentence, re.IGNORECASE):
        return None
    for token in tagger(sentence):
        end = token.idx + len(token.text)
        if token.tag_ == "MD" or (token.tag_ in DO and token.lemma_ == "be"):
            return f"{sentence[:end]} not{sentence[end:]}"
        if token.tag_ in DO:
            return f"{sentence[: token.idx]}{DO[token.tag_]} {token.lemma_}{sentence[end:]}"
    return None


def reverse(sentence: str) -> str | None:
    """`sentence` with every word that has an opposite in time or direction replaced by it; None without any."""

    def opposite(match: re.Match[str]) -> str:
        word = REVERSED[match[0].lower()]
        return word.capitalize() if match[0][0].isupper() else word

    changed = _WORDS.sub(opposite, sentence)
    return changed if changed != sentence else None


def twins_of(rows: Sequence[dict], perturbed: Iterable[dict], tagger: Tagger, kinds: Iterable[str]) -> dict[str, dict]:
    """{kind: {desc_id: twin}} of the coarse captions of `rows` (`desc_id`, `cog_desc`), those that have one.

    `perturbed`: rows of perturbations, whose `selected` twins are used.
    """
    selected = {row["desc_id"]: row["selected"] for row in perturbed}
    makers: dict[str, Callable[[dict], str | None]] = {
        "statics": lambda row: selected.get(row["desc_id"], {}).get("statics"),
        "dynamics": lambda row: selected.get(row["desc_id"], {}).get("dynamics"),
        "negated": lambda row: negate(row["cog_desc"], tagger),
        "reversed": lambda row: reverse(row["cog_desc"]),
    }
    made = {kind: {row["desc_id"]: makers[kind](row) for row in rows} for kind in kinds}
    return {kind: {desc_id: twin for desc_id, twin in twins.items() if twin} for kind, twins in made.items()}
