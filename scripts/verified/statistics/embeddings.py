"""Captions of annotation files by split, and files of their sentence vectors: one per distinct text."""

import hashlib
import os
from collections.abc import Iterable, Sequence

import numpy as np

from verified.errors import InputError
from verified.io.array_file import read_arrays
from verified.io.files import atomic_path
from verified.nn.sentences import encode

KINDS = ("cog_desc", "fig_desc")
"""Keys of the captions of a row, coarse and fine."""


def caption_lists(rows: Iterable[dict], key: str) -> dict[str, list[str]]:
    """The captions ``row[key]`` of each split, both in the order of `rows`; splits without any are omitted."""
    lists: dict[str, list[str]] = {}
    for row in rows:
        if key in row:
            lists.setdefault(row["split"], []).append(row[key])
    return lists


def text_digest(text: str) -> bytes:
    """The key of a text: SHA-256 of its UTF-8 bytes."""
    return hashlib.sha256(text.encode("utf-8")).digest()


def encode_lists(lists: Iterable[list[str]], source: str, threads: int = 1) -> tuple[list[str], np.ndarray]:
    """Distinct texts of lists of captions in the order of first appearance, and their vectors of unit length, float32
    [texts, dim].

    `source` is the model that `encode` loads. A list's vectors depend on the list alone: its batches are separate, as
    padding changes the last digit. A text of several lists has the vector of the first.
    """
    by_text: dict[str, np.ndarray] = {}
    for captions in lists:
        texts = sorted(set(captions))
        vector_of = dict(zip(texts, encode(texts, source, threads)))
        by_text |= {text: vector_of[text] for text in dict.fromkeys(captions) if text not in by_text}
    return list(by_text), np.stack([*by_text.values()]) if by_text else encode([], source, threads)


def write_embeddings(
    path: str | os.PathLike, texts: Sequence[str], vectors: np.ndarray, encoder: str, weights: str
) -> None:
    """Write vectors [texts, dim] of distinct texts as float32; `weights` is the encoder's hash."""
    keys = np.frombuffer(b"".join(map(text_digest, texts)), np.uint8).reshape(len(texts), 32)
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        np.savez(
            file, keys=keys, vectors=vectors.astype(np.float32), encoder=np.array(encoder), weights=np.array(weights)
        )


class Embeddings:
    """Vectors of captions looked up by text; `encoder` and `weights` name their model."""

    def __init__(self, path: str | os.PathLike):
        arrays = read_arrays(path, "delete it and run again")
        self.vectors = arrays["vectors"]
        self.encoder, self.weights = str(arrays["encoder"]), str(arrays["weights"])
        self.rows = {key.tobytes(): row for row, key in enumerate(arrays["keys"])}

    def lookup(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors float32 [texts, dim] in the order of `texts`. Raises InputError for a text that is not there."""
        try:
            rows = [self.rows[text_digest(text)] for text in texts]
        except KeyError:
            raise InputError("the embeddings are of other captions", remedy="delete them and run again") from None
        return self.vectors[rows]
