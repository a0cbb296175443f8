"""Sentence embeddings (SentenceBERT): the encoder behind Equations 7–8 and the many-to-many statistics."""

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verified.errors import InputError
from verified.io.files import file_digest
from verified.runtime.progress import Progress

if TYPE_CHECKING:
    from torch import Tensor

    from verified.nn.mini_lm import SentenceEncoder

PACKAGED = "all-MiniLM-L6-v2"
"""Runs without the library that loads all others, whose import alone takes five CPU seconds (see `mini_lm`)."""
BATCH = 128
CHUNK = 16 * BATCH  # captions between two lines of progress


def encode(texts: Sequence[str], source: str = PACKAGED, threads: int = 1) -> np.ndarray:
    """Embeddings of unit length, float32 [texts, dim], on the CPU.

    `source` is the packaged all-MiniLM-L6-v2, a folder, or a hub name. The same text gets the same vector at any
    position in `texts`: each distinct text is encoded once, in an order that depends on the set of texts alone.
    Raises InputError if the model cannot be loaded.
    """
    import torch

    torch.set_num_threads(threads)
    encoder = _packaged_encoder() if source == PACKAGED else _library(source)
    ordered = sorted(set(texts), key=lambda text: (len(text), text))
    if not ordered:
        return np.zeros((0, encoder.dim), np.float32)
    vectors: list[np.ndarray] = []
    progress = Progress("sentence embeddings", len(ordered), "captions", quiet=len(ordered) <= CHUNK)
    for start in range(0, len(ordered), CHUNK):
        chunk = ordered[start : start + CHUNK]
        vectors.append(encoder.vectors(chunk, BATCH))
        progress.step(len(chunk))
    progress.finish()
    row = {text: index for index, text in enumerate(ordered)}
    return np.concatenate(vectors).astype(np.float32)[[row[text] for text in texts]]


def weights_digest(source: str = PACKAGED) -> str:
    """SHA-256 of the encoder's weights: of their file, or of the loaded tensors without a folder."""
    folder = _folder(source)
    for name in ("model.safetensors", "pytorch_model.bin"):
        if folder and (folder / name).is_file():
            return file_digest(folder / name)
    digest = hashlib.sha256()
    for name, tensor in sorted(_library(source).tensors().items()):
        digest.update(name.encode() + tensor.cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def cosines(captions: Sequence[str], others: Sequence[str], source: str, threads: int = 1) -> np.ndarray:
    """[captions] cosine of each caption's vector to that of the other text at its place, from -1 to 1."""
    both = encode([*others, *captions], source, threads)
    return (both[: len(captions)] * both[len(captions) :]).sum(axis=1)


class LibraryEncoder:
    """Any model that sentence-transformers loads from a folder or the hub; see `mini_lm.SentenceEncoder`."""

    def __init__(self, source: str):
        from sentence_transformers import SentenceTransformer

        self._model = SentenceTransformer(source, device="cpu")
        self.dim = int(self._model.get_embedding_dimension() or 0)

    def vectors(self, texts: list[str], batch: int) -> np.ndarray:
        """Float32 [texts, dim] of unit length."""
        return self._model.encode(  # pyright: ignore[reportUnknownMemberType] (of inputs other than texts)
            texts, batch_size=batch, normalize_embeddings=True, show_progress_bar=False
        )

    def tensors(self) -> "dict[str, Tensor]":
        """The weights by name."""
        return self._model.state_dict()


@cache
def _packaged_encoder() -> "SentenceEncoder":
    from verified.nn.mini_lm import SentenceEncoder

    return SentenceEncoder()


@cache
def _library(source: str) -> LibraryEncoder:
    try:
        return LibraryEncoder(str(_folder(source) or source))
    except (OSError, ValueError) as error:
        raise InputError(
            f"the sentence encoder {source!r} cannot be loaded: {error}",
            remedy=f"use {PACKAGED}, which is installed, or a folder that holds the model",
        ) from None


def _folder(source: str) -> Path | None:
    if source == PACKAGED:
        from verified.nn.mini_lm import folder

        return folder()
    return Path(source) if Path(source).is_dir() else None
