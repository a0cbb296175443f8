"""Cache of caption embeddings on disk: one vector per distinct text, with the encoder's name and weights hash."""

import hashlib
import os
from collections.abc import Iterable, Sequence

import numpy as np

from verified.errors import InputError
from verified.io.array_file import read_arrays
from verified.io.files import atomic_path


def text_digest(text: str) -> bytes:
    """The key of a text: SHA-256 of its UTF-8 bytes."""
    return hashlib.sha256(text.encode("utf-8")).digest()


def distinct(texts: Iterable[str]) -> list[str]:
    """Each text once, in the order of first appearance."""
    return list(dict.fromkeys(texts))


def write_embeddings(
    path: str | os.PathLike, texts: Sequence[str], vectors: np.ndarray, encoder: str, weights: str, dtype: str
) -> None:
    """Write vectors [texts, dim] of distinct texts as `dtype` (float32 or float16); `weights` is the encoder's hash."""
    keys = np.frombuffer(b"".join(map(text_digest, texts)), np.uint8).reshape(len(texts), 32)
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        np.savez(file, keys=keys, vectors=vectors.astype(dtype), encoder=np.array(encoder), weights=np.array(weights))


class Embeddings:
    """Vectors of captions looked up by text; `encoder` and `weights` say what made them."""

    def __init__(self, path: str | os.PathLike):
        """Raises InputError if the file is not one of ours."""
        arrays = read_arrays(path, "delete it and run again")
        try:
            keys, self.vectors = arrays["keys"], arrays["vectors"]
            self.encoder, self.weights = str(arrays["encoder"]), str(arrays["weights"])
        except KeyError as error:
            raise InputError(
                f"not a file of embeddings: no {error}", file=path, remedy="delete it and run again"
            ) from None
        if self.vectors.ndim != 2 or self.vectors.dtype.kind != "f" or len(keys) != len(self.vectors):
            raise InputError(
                f"{len(keys)} keys for vectors {list(self.vectors.shape)}", file=path, remedy="delete it and run again"
            )
        self.rows = {key.tobytes(): row for row, key in enumerate(keys)}

    def lookup(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors float32 [texts, dim] in the order of `texts`. Raises InputError for a text that is not there."""
        try:
            rows = [self.rows[text_digest(text)] for text in texts]
        except KeyError:
            raise InputError("the embeddings are of other captions", remedy="delete them and run again") from None
        return self.vectors[rows].astype(np.float32)
