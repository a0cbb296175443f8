"""Text token features of captions by a transformers encoder (supplement B.1)."""

import logging
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from verified.config.features import Features
from verified.errors import InputError
from verified.io.files import Spool
from verified.io.hdf5 import write_features
from verified.nn import mini_lm
from verified.nn.layers import visible_device
from verified.runtime.progress import track

log = logging.getLogger("verified")

PACKAGED = mini_lm.NAME


def write_text_features(
    captions: list[tuple[str, str]], settings: Features, output: str | Path, weights: tuple[str, str] | None = None
) -> int:
    """Write float16 [tokens, dim] per desc_id; returns the number of captions.

    `captions` are (desc_id, text) pairs; `weights`, if the encoder was fetched, names its folder and commit. Features
    are the encoder's last hidden states of the caption's tokens: padding and the special tokens at both ends are
    omitted (models add them if they need some). Captions that reach the encoder's limit are cut off there and counted;
    the shorter limits of retrieval models (30 tokens in XML) are applied by the models. Equal captions are encoded
    once. Raises InputError if the encoder cannot be loaded.
    """
    source, commit = weights or (settings.text_encoder, "")
    encoder = load_encoder(source)
    texts = sorted({text for _, text in captions}, key=lambda text: (len(text), text))
    cut = 0
    with Spool(Path(output).parent) as spool:  # in memory ActivityNet's would take 4 GB
        encoded = _encode(texts, encoder, settings.batch)
        for text, array, whole in track(encoded, "text features", len(texts), "captions"):
            spool.add(text, array.astype(np.float16).tobytes())
            cut += not whole
        if cut:
            log.warning("text features: %d distinct captions reach the encoder's limit and may be cut off", cut)
        attributes = {"backbone": settings.text_encoder, "dim": encoder.dim, "special_tokens": False}
        attributes |= {"revision": commit} if commit else {}
        arrays = ((name, np.frombuffer(spool[text], np.float16).reshape(-1, encoder.dim)) for name, text in captions)
        return write_features(output, attributes, ((name, array, {}) for name, array in arrays))


class LibraryTokens:
    """An encoder that transformers loads from a folder or the hub: roberta-base, or a CLIP with its projection."""

    def __init__(self, source: str):
        from transformers import AutoModel, AutoTokenizer

        from verified.features.encoders import joint_kind

        self._device = visible_device()
        self._tokenizer = AutoTokenizer.from_pretrained(source)
        kind = joint_kind(source)
        if kind not in ("", "clip"):
            raise ValueError(f"it is a {kind} model, which no retrieval model reads captions of")
        model = AutoModel.from_pretrained(source).eval()
        config = model.config
        model, self._projection = (model.text_model, model.text_projection) if kind else (model, nn.Identity())
        self._model = model.to(self._device)
        self._projection.to(self._device)
        self.dim = config.projection_dim if kind else config.hidden_size
        # RoBERTa's positions begin behind its padding index, so it takes two tokens fewer than its table has rows.
        positions = config.text_config.max_position_embeddings if kind else config.max_position_embeddings - 2
        self.limit = min(self._tokenizer.model_max_length, positions)

    def __call__(self, texts: list[str]) -> tuple[Tensor, Tensor]:
        """Last hidden states [N, L, dim], and which tokens are special or padding [N, L]."""
        tokens = self._tokenizer(
            texts,
            padding=True,
            truncation=True,
            max_length=self.limit,
            return_special_tokens_mask=True,
            return_tensors="pt",
        )
        special = tokens.pop("special_tokens_mask").bool() | ~tokens["attention_mask"].bool()
        return self._projection(self._model(**tokens.to(self._device)).last_hidden_state).cpu(), special


class PackagedTokens:
    """The packaged encoder, without transformers; see LibraryTokens."""

    def __init__(self):
        self._device = visible_device()
        self._network = mini_lm.load_network().to(self._device)
        self.dim, self.limit = mini_lm.SIZE.width, mini_lm.SIZE.positions - 2
        self._tokeniser = mini_lm.load_tokeniser(self.limit)

    def __call__(self, texts: list[str]) -> tuple[Tensor, Tensor]:
        ids, mask, special = mini_lm.batch_of(texts, self._tokeniser)
        return self._network(ids.to(self._device), mask.to(self._device)).cpu(), special


TokenEncoder = LibraryTokens | PackagedTokens


def load_encoder(name: str) -> TokenEncoder:
    """The packaged all-MiniLM-L6-v2, a folder, or a hub name such as roberta-base or a CLIP."""
    try:
        return PackagedTokens() if name == PACKAGED else LibraryTokens(name)
    except (OSError, ValueError) as error:
        raise InputError(
            f"the text encoder {name!r} cannot be loaded: {error}",
            remedy=f"use {PACKAGED}, which is installed, a folder that holds the model, or a hub name",
        ) from None


def encode_caption(text: str, encoder: TokenEncoder) -> np.ndarray:
    """Token features of one caption as `write_text_features` writes them, float16 [tokens, dim]."""
    [(_, states, _)] = _encode([text], encoder, 1)
    return states.astype(np.float16)


@torch.inference_mode()
def _encode(texts: list[str], encoder: TokenEncoder, batch: int) -> Iterator[tuple[str, np.ndarray, bool]]:
    """Yield (text, float32 [tokens, dim], whether the whole text is in it)."""
    for start in range(0, len(texts), batch):
        batch_texts = texts[start : start + batch]
        hidden, special = encoder(batch_texts)
        for text, states, drop in zip(batch_texts, hidden, special, strict=True):
            of_text = ~drop
            if not of_text.any():
                of_text[0] = True  # a caption of no known token still gets its first special token
            yield text, states[of_text].numpy(), int(of_text.sum()) < encoder.limit - 2
