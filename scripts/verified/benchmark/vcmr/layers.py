"""Layers that several retrieval models share (TVR family). Parameter names are those of the authors' state dicts.

Shapes: N sequences, S positions, D hidden size. Masks are bool, true for real positions.

`BertLayer` is the post-norm transformer layer of BERT, as CONQUER, SQuiDNet and HERO use it:

    A(x) = LN(x + W_o · MultiHead(x W_q, x W_k, x W_v))
    BERT(x) = LN(A(x) + W_2 · GELU(W_1 · A(x)))

Its state-dict keys are those of the original BERT code (``attention.self.query.weight`` … ``output.LayerNorm.bias``),
so published weights load by name. GELU is the exact one (erf). A real position's output depends on real positions
alone, a pad's output on itself and on real positions.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from verified.nn import bert
from verified.nn.layers import Dropout, attend

MASKED = -10000.0
"""Added to the attention scores of positions that must not be seen."""


def zero_pads(x: Tensor, mask: Tensor) -> Tensor:
    """Zeros behind the last real position; [N, S, D] and [N, S] → [N, S, D].

    First step of every encoder: attention and convolutions see pads, so their values must be constant.
    """
    return torch.where(mask.unsqueeze(-1), x, 0.0)


def longest(mask: Tensor) -> int:
    """Largest number of real positions in a row of [N, S]."""
    return int(mask.sum(dim=1).max())


def to_longest(x: Tensor, mask: Tensor, pads: int = 0) -> tuple[Tensor, Tensor]:
    """[N, S, …] and [N, S] without the positions that are pads in every row, but for the first `pads` of these."""
    length = longest(mask) + pads
    return x[:, :length], mask[:, :length]


class InputProjection(nn.Module):
    """LayerNorm → dropout → Linear → ReLU; [..., in] → [..., out]. Keys ``LayerNorm`` and ``net.1``."""

    def __init__(self, size_in: int, size_out: int, dropout: float, relu: bool = True):
        super().__init__()
        self.LayerNorm = nn.LayerNorm(size_in)
        self.net = nn.Sequential(Dropout(dropout), nn.Linear(size_in, size_out))
        self.relu = relu

    def forward(self, x: Tensor) -> Tensor:
        x = self.net(self.LayerNorm(x))
        return F.relu(x) if self.relu else x


class LearnedPositions(nn.Module):
    """Adds a row of a learned table per position, then LayerNorm and dropout; [N, S, D] → [N, S, D]."""

    def __init__(self, rows: int, hidden: int, dropout: float):
        super().__init__()
        self.position_embeddings = nn.Embedding(rows, hidden)
        self.LayerNorm = nn.LayerNorm(hidden)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        return self.dropout(self.LayerNorm(x + self.position_embeddings.weight[: x.shape[1]]))


class SelfAttention(nn.Module):
    """Multi-head attention with biased query, key and value maps and no output map; [N, S, D] → [N, S, D].

    `mask` is [N, S] (keys), [N, S, S] (pairs) or [N, heads, S, S] (pairs by head). Hidden positions get −10000 instead
    of −inf, so a fully masked row attends to all positions equally, as in the official code.
    """

    def __init__(self, hidden: int, heads: int, dropout: float):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(hidden, hidden)
        self.key = nn.Linear(hidden, hidden)
        self.value = nn.Linear(hidden, hidden)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        n, s, hidden = x.shape
        query, key, value = (
            projection(x).view(n, s, self.heads, hidden // self.heads).transpose(1, 2)
            for projection in (self.query, self.key, self.value)
        )
        added = (~mask).to(query.dtype) * MASKED
        if mask.dim() < 4:
            added = added[:, None, None, :] if mask.dim() == 2 else added[:, None]
        return attend(query, key, value, self.dropout, added).transpose(1, 2).reshape(n, s, hidden)


class AttentionBlock(nn.Module):
    """Block A: self-attention → Linear → dropout → residual → LayerNorm, without a feed-forward part."""

    def __init__(self, hidden: int, heads: int, dropout: float, eps: float = 1e-5):
        super().__init__()
        self.self = SelfAttention(hidden, heads, dropout)
        self.output = bert.Residual(hidden, hidden, eps, Dropout(dropout))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        return self.output(self.self(x, mask), x)


def attention_pooling(tokens: Tensor, scores: Tensor, mask: Tensor) -> Tensor:
    """Weighted sum over positions by a masked softmax of `scores`; [N, S, D] and [N, S] → [N, D]."""
    weights = torch.softmax(scores.masked_fill(~mask, -1e10), dim=1)
    return torch.einsum("ns,nsd->nd", weights, tokens)


def initialise(model: nn.Module) -> None:
    """Linear and embedding weights from N(0, 0.02), biases 0, LayerNorm 1 and 0; convolutions as PyTorch makes them."""
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, 0.0, 0.02)
        elif isinstance(module, nn.LayerNorm):
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)


class BertLayer(bert.BertLayer):
    """One layer; [N, S, D] and a mask [N, S] → [N, S, D]. `eps` is that of both LayerNorms."""

    def __init__(self, hidden: int, heads: int, feed_forward: int, dropout: float, eps: float = 1e-5):
        nn.Module.__init__(self)
        self.attention = AttentionBlock(hidden, heads, dropout, eps)
        self.intermediate = bert.Widened(hidden, feed_forward)
        self.output = bert.Residual(feed_forward, hidden, eps, Dropout(dropout))


class BertEncoder(nn.Module):
    """A stack of layers under the key ``layer.N``; [N, S, D] and [N, S] → [N, S, D]."""

    def __init__(self, layers: int, hidden: int, heads: int, feed_forward: int, dropout: float, eps: float = 1e-5):
        super().__init__()
        self.layer = nn.ModuleList(BertLayer(hidden, heads, feed_forward, dropout, eps) for _ in range(layers))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        for layer in self.layer:
            x = layer(x, mask)
        return x
