"""BERT's embeddings and layers, under the names of the published weights.

    A(x) = LN(x + dropout(W_o · MultiHead(x)))
    BERT(x) = LN(A(x) + dropout(W_2 · GELU(W_1 · A(x))))

transformers has the same layers, but importing it costs every job two CPU seconds. Weights from one seed, outputs and
gradients are byte-equal to the library's (`tests/nn/test_bert.py`).
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention

TYPES = 2
"""Rows of the table of token types; every token here is of the first."""


@dataclass(frozen=True)
class BertSize:
    """Numbers that decide shapes, the share that dropout drops while training, and epsilon of every LayerNorm."""

    width: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    dropout: float = 0.1
    eps: float = 1e-12
    padding: int = 0


def key_mask(mask: Tensor) -> Tensor:
    """[N, L] of ones and zeros → boolean [N, 1, 1, L] for attention: padded words are masked."""
    return mask.bool()[:, None, None, :]


class BertEmbeddings(nn.Module):
    """Words, their type and their position; token ids [N, L] → [N, L, width]."""

    def __init__(self, size: BertSize):
        super().__init__()
        self.word_embeddings = nn.Embedding(size.vocabulary, size.width, padding_idx=size.padding)
        self.position_embeddings = nn.Embedding(size.positions, size.width)
        self.token_type_embeddings = nn.Embedding(TYPES, size.width)
        self.LayerNorm = nn.LayerNorm(size.width, eps=size.eps)
        self.dropout = nn.Dropout(size.dropout)

    def forward(self, ids: Tensor) -> Tensor:
        positions = torch.arange(ids.shape[1], device=ids.device)[None]
        words = self.word_embeddings(ids) + self.token_type_embeddings(torch.zeros_like(ids))
        return self.dropout(self.LayerNorm(words + self.position_embeddings(positions)))


class HeadedAttention(nn.Module):
    """Multi-head attention of states to themselves, without the output map."""

    def __init__(self, size: BertSize):
        super().__init__()
        self.heads = size.heads
        self.head_width = size.width // size.heads
        self.query = nn.Linear(size.width, size.width)
        self.key = nn.Linear(size.width, size.width)
        self.value = nn.Linear(size.width, size.width)
        self.dropout = nn.Dropout(size.dropout)

    def split_heads(self, states: Tensor) -> Tensor:
        """[N, L, width] → [N, heads, L, width / heads]."""
        return torch.unflatten(states, -1, (self.heads, self.head_width)).transpose(1, 2)

    def forward(self, states: Tensor, keys: Tensor | None) -> Tensor:
        """[N, L, width] and a mask that broadcasts to [N, 1, L, L], or None without mask → [N, L, width]."""
        query, key, value = (self.split_heads(projection(states)) for projection in (self.query, self.key, self.value))
        dropout = self.dropout.p if self.training else 0.0
        scale = self.head_width**-0.5
        read = scaled_dot_product_attention(query, key, value, attn_mask=keys, dropout_p=dropout, scale=scale)
        return read.transpose(1, 2).flatten(2)


class Residual(nn.Module):
    """LN(residual + dropout(W x)); [..., in] and [..., width] → [..., width]."""

    def __init__(self, size_in: int, width: int, eps: float, dropout: nn.Dropout):
        super().__init__()
        self.dense = nn.Linear(size_in, width)
        self.LayerNorm = nn.LayerNorm(width, eps=eps)
        self.dropout = dropout

    def forward(self, x: Tensor, residual: Tensor) -> Tensor:
        return self.LayerNorm(self.dropout(self.dense(x)) + residual)


class BertAttention(nn.Module):
    """A(x); [N, L, width] → [N, L, width]."""

    def __init__(self, size: BertSize):
        super().__init__()
        self.self = HeadedAttention(size)
        self.output = Residual(size.width, size.width, size.eps, nn.Dropout(size.dropout))

    def forward(self, states: Tensor, keys: Tensor | None) -> Tensor:
        return self.output(self.self(states, keys), states)


class Widened(nn.Module):
    """GELU(W x), the exact GELU; [..., width] → [..., feed_forward]."""

    def __init__(self, width: int, feed_forward: int):
        super().__init__()
        self.dense = nn.Linear(width, feed_forward)

    def forward(self, x: Tensor) -> Tensor:
        return gelu(self.dense(x))


class BertLayer(nn.Module):
    """One layer; [N, L, width] and a mask as HeadedAttention takes it → [N, L, width]."""

    def __init__(self, size: BertSize):
        super().__init__()
        self.attention = BertAttention(size)
        self.intermediate = Widened(size.width, size.feed_forward)
        self.output = Residual(size.feed_forward, size.width, size.eps, nn.Dropout(size.dropout))

    def forward(self, states: Tensor, keys: Tensor | None) -> Tensor:
        return self.feed_forward(self.attention(states, keys))

    def feed_forward(self, states: Tensor) -> Tensor:
        """The second half of the layer: LN(x + dropout(W_2 · GELU(W_1 x)))."""
        return self.output(self.intermediate(states), states)
