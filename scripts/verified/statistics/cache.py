"""Cache of measures of captions, `results/statistics`, shared by all configurations, and files of caption embeddings.

Outputs of rules belong to one configuration. Another configuration, with other settings or more splits, reads the same
files of annotations, whose sentence vectors and parts of speech take minutes. So the measures on the captions of one
kind in one file are a cache entry, named by a digest of everything that decides its bytes. Its own format has a
checksum, so it needs no seal: it is rebuilt when missing or damaged, and may be removed at any time.

A file of embeddings has one vector per distinct text, with the encoder's name and weights hash.
"""

import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from verified.errors import InputError
from verified.io.array_file import read_arrays
from verified.io.files import atomic_path
from verified.runtime.lock_file import exclusive

SHARED = Path("results", "statistics")
KINDS = ("cog_desc", "fig_desc")
"""Keys of the captions of a row, coarse and fine."""

log = logging.getLogger("verified")
Value = TypeVar("Value")
Entry = TypeVar("Entry")


def caption_lists(rows: Iterable[dict], key: str) -> dict[str, list[str]]:
    """The captions ``row[key]`` of each split, both in the order of `rows`; splits without any are omitted."""
    lists: dict[str, list[str]] = {}
    for row in rows:
        if key in row:
            lists.setdefault(row["split"], []).append(row[key])
    return lists


def place(kind: str, ending: str, **decided_by: object) -> Path:
    """Path of the entry of a kind (``vectors``, ``words``) for these JSON values."""
    text = json.dumps(decided_by, sort_keys=True)
    return SHARED / f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:32]}{ending}"


def ensure_entry(
    path: Path, make: Callable[[], Value], write: Callable[[Path, Value], None], read: Callable[[Path], Entry]
) -> tuple[Entry, bool]:
    """What `read` finds in `path`, after ``write(path, make())`` if it is missing or damaged; whether that was needed.

    `read` raises OSError, ValueError or InputError for those. Jobs of several runs may make the same entry at once.
    """
    try:
        return read(path), False
    except (OSError, ValueError, InputError) as error:
        if path.exists():
            log.warning("%s: %s; it is measured again", path, error)
    value = make()
    with exclusive(path.parent / ".lock"):
        write(path, value)
    return read(path), True


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
    """Vectors of captions looked up by text; `encoder` and `weights` name their model."""

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
