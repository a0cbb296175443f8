"""Sentence embeddings (SentenceBERT): the encoder behind Equations 7–8 and the many-to-many statistics."""

import hashlib
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verified.errors import InputError
from verified.io.files import file_digest
from verified.runtime.progress import Progress

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

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
    vectors_of = _vectors_of(source)
    ordered = sorted(set(texts), key=lambda text: (len(text), text)) or [""]
    vectors: list[np.ndarray] = []
    progress = Progress("sentence embeddings", len(ordered), "captions", quiet=len(ordered) <= CHUNK)
    for start in range(0, len(ordered), CHUNK):
        chunk = ordered[start : start + CHUNK]
        vectors.append(vectors_of(chunk))
        progress.step(len(chunk))
    progress.finish()
    row = {text: index for index, text in enumerate(ordered)}
    return np.concatenate(vectors).astype(np.float32)[np.array([row[text] for text in texts], int)]


def weights_digest(source: str = PACKAGED) -> str:
    """SHA-256 of the encoder's weights: of their file, or of the loaded tensors without a folder."""
    folder = _folder(source)
    for name in ("model.safetensors", "pytorch_model.bin"):
        if folder and (folder / name).is_file():
            return file_digest(folder / name)
    digest = hashlib.sha256()
    for name, tensor in sorted(_library(source).state_dict().items()):
        digest.update(name.encode() + tensor.cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def cosines(captions: Sequence[str], others: Sequence[str], source: str, threads: int = 1) -> np.ndarray:
    """[captions] cosine of each caption's vector to that of the other text at its place, from -1 to 1."""
    both = encode([*others, *captions], source, threads)
    return (both[: len(captions)] * both[len(captions) :]).sum(axis=1)


@cache
def _vectors_of(source: str) -> Callable[[list[str]], np.ndarray]:
    """A function from texts to vectors of unit length, float32 [texts, dim]."""
    if source != PACKAGED:
        encode_texts = _library(source).encode  # pyright: ignore[reportUnknownMemberType] (of inputs other than texts)
        return partial(encode_texts, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False)
    from verified.nn.mini_lm import SentenceEncoder

    return partial(SentenceEncoder().vectors, batch=BATCH)


@cache
def _library(source: str) -> "SentenceTransformer":
    """Any model that sentence-transformers loads from a folder or the hub."""
    from sentence_transformers import SentenceTransformer

    try:
        return SentenceTransformer(str(_folder(source) or source), device="cpu")
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
