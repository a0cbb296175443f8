"""Layers that several retrieval models share (TVR family). Parameter names are those of the authors' state dicts.

Shapes: N sequences, S positions, D hidden size. Masks are bool, true for real positions. Where a mask may be a
`Packing`, sequences are its R rows: [R, D] in the place of [N, S, D].

A `Packing` has sequences of unequal length as rows one below the other, so that a training step computes very little on
pads. Linear maps, norms and dropout work on the rows; attention works on groups of sequences of similar length, whose
rows are together. Real positions have the values of padded sequences, except for rounding (a product of fewer rows may
sum in another order) and dropout, which draws for fewer positions.

`BertLayer` is the post-norm transformer layer of BERT, as CONQUER, SQuiDNet and HERO use it:

    A(x) = LN(x + W_o · MultiHead(x W_q, x W_k, x W_v))
    BERT(x) = LN(A(x) + W_2 · GELU(W_1 · A(x)))

Its state-dict keys are those of the original BERT code (``attention.self.query.weight`` … ``output.LayerNorm.bias``),
so published weights load by name. GELU is the exact one (erf). A real position's output depends on real positions
alone, a pad's output on itself and on real positions.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from verified.nn.layers import Dropout, attend

GROUPS = 8
"""More groups have fewer pads and more calls."""


class Packing:
    """Order in which positions of N sequences of S become rows; made from their mask [N, S] on the CPU.

    Sequences are sorted by length and cut into groups; one has as many positions as the longest of its group and
    `reach` more, for a later convolution that reaches so far across the end.
    """

    def __init__(self, mask: Tensor, reach: int = 0):
        self.shape = count, size = mask.shape
        lengths = (mask * torch.arange(1, size + 1)).amax(dim=1)
        order = lengths.argsort(stable=True)
        self.groups, index, positions = [], [], []
        self.members = order.tensor_split(min(GROUPS, count))
        for members in self.members:
            real = torch.arange(min(int(lengths[members[-1]]) + reach, size))
            self.groups.append(mask[members, : len(real)])
            index.append((members[:, None] * size + real).flatten())
            positions.append(real.expand(len(members), -1).flatten())
        self.index, self.positions = torch.cat(index), torch.cat(positions)
        self.pads = torch.cat([~group.flatten() for group in self.groups]).nonzero().squeeze(1)

    def rows(self, x: Tensor) -> Tensor:
        """[N, S, D] → [R, D], zero at pads."""
        return x.flatten(0, 1).index_select(0, self.index).index_fill_(0, self.pads, 0.0)

    def rows_with_pads(self, x: Tensor) -> Tensor:
        """The same with its remaining pads unchanged."""
        return x.flatten(0, 1).index_select(0, self.index)

    def to_padded(self, rows: Tensor) -> Tensor:
        """[R, D] → [N, S, D], zero at positions that were not computed."""
        count, size = self.shape
        empty = rows.new_zeros(count * size, rows.shape[1])
        return empty.index_copy(0, self.index, rows).view(count, size, -1)

    def each_group(self, function: Callable[..., Tensor], *parts: Tensor) -> Tensor:
        """`function` of each group's [n, s, D] of `parts` [R, D] and its mask [n, s], as rows again; → [R, D]."""
        split = zip(*(part.split([group.numel() for group in self.groups]) for part in parts))
        return torch.cat(
            [
                function(*(part.view(*group.shape, -1) for part in of_group), group).flatten(0, 1)
                for of_group, group in zip(split, self.groups)
            ]
        )


MASKED = -10000.0
"""Added to the attention scores of positions that must not be seen."""
WIDE = 2**16
"""Least weights of a linear map from which leaving out pads on the CPU saves more than the additional calls cost."""


def zero_pads(x: Tensor, mask: Tensor) -> Tensor:
    """Zeros behind the last real position; [N, S, D] and [N, S] → [N, S, D].

    First step of every encoder: attention and convolutions see pads, so their values must be constant.
    """
    return x.masked_fill(~mask.unsqueeze(-1), 0.0)


def longest(mask: Tensor) -> int:
    """Largest number of real positions in a row of [N, S]."""
    return int(mask.sum(dim=1).max())


def lay_out(
    x: Tensor, mask: Tensor, packed: bool, reach: int = 0
) -> tuple[Tensor, Tensor | Packing, Callable[[Tensor], Tensor]]:
    """Input of an encoder from [N, S, F] and [N, S], the mask of its layers, and the function that restores its output
    to [N, S, D].

    Packed, that is zero at pads beyond `reach` positions behind the last real one.
    """
    if not packed:
        return zero_pads(x, mask), mask, lambda encoded: encoded
    packing = Packing(mask, reach)
    return packing.rows(x), packing, packing.to_padded


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
    """Adds a row of a learned table per position, then LayerNorm and dropout; [N, S, D] → [N, S, D], or [R, D]."""

    def __init__(self, rows: int, hidden: int, dropout: float):
        super().__init__()
        self.position_embeddings = nn.Embedding(rows, hidden)
        self.LayerNorm = nn.LayerNorm(hidden)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor | Packing | None = None) -> Tensor:
        table = self.position_embeddings
        added = table(mask.positions) if isinstance(mask, Packing) else table.weight[: x.shape[1]]
        return self.dropout(self.LayerNorm(x + added))


class SelfAttention(nn.Module):
    """Multi-head attention with biased query, key and value maps and no output map; [N, S, D] → [N, S, D].

    `mask` is [N, S] (keys), [N, S, S] (pairs), [N, heads, S, S] (pairs by head) or a packing. Hidden positions get
    −10000 instead of −inf, so a fully masked row attends to all positions equally, as in the official code.
    """

    def __init__(self, hidden: int, heads: int, dropout: float):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(hidden, hidden)
        self.key = nn.Linear(hidden, hidden)
        self.value = nn.Linear(hidden, hidden)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor | Packing) -> Tensor:
        query, key, value = (projection(x) for projection in (self.query, self.key, self.value))
        if isinstance(mask, Packing):
            return mask.each_group(self.attend, query, key, value)
        return self.attend(query, key, value, mask)

    def attend(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
        """Attention in each head, from the outputs of the three maps; [N, S, D] and twice [N, K, D] → [N, S, D]."""
        n, s, hidden = query.shape
        q, k, v = (part.view(n, -1, self.heads, hidden // self.heads).transpose(1, 2) for part in (query, key, value))
        added = (~mask).to(q.dtype) * MASKED
        if mask.dim() < 4:
            added = added[:, None, None, :] if mask.dim() == 2 else added[:, None]
        return attend(q, k, v, self.dropout, added).transpose(1, 2).reshape(n, s, hidden)


class ResidualOutput(nn.Module):
    """Linear → dropout → residual → LayerNorm. Keys ``dense`` and ``LayerNorm``."""

    def __init__(self, size_in: int, hidden: int, dropout: float, eps: float = 1e-5):
        super().__init__()
        self.dense = nn.Linear(size_in, hidden)
        self.LayerNorm = nn.LayerNorm(hidden, eps=eps)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, residual: Tensor) -> Tensor:
        return self.LayerNorm(self.dropout(self.dense(x)) + residual)


class AttentionBlock(nn.Module):
    """Block A: self-attention → Linear → dropout → residual → LayerNorm, without a feed-forward part."""

    def __init__(self, hidden: int, heads: int, dropout: float, eps: float = 1e-5):
        super().__init__()
        self.self = SelfAttention(hidden, heads, dropout)
        self.output = ResidualOutput(hidden, hidden, dropout, eps)

    def forward(self, x: Tensor, mask: Tensor | Packing) -> Tensor:
        return self.output(self.self(x, mask), x)


def attention_pooling(tokens: Tensor, scores: Tensor, mask: Tensor) -> Tensor:
    """Weighted sum over positions by a masked softmax of `scores`; [N, S, D] and [N, S] → [N, D]."""
    weights = torch.softmax(scores.masked_fill(~mask, -1e10), dim=1)
    return torch.einsum("ns,nsd->nd", weights, tokens)


def initialise(model: nn.Module, deviation: float = 0.02) -> None:
    """Linear and embedding weights from N(0, 0.02), biases 0, LayerNorm 1 and 0; convolutions as PyTorch makes them."""
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, 0.0, deviation)
        elif isinstance(module, nn.LayerNorm):
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)


class Intermediate(nn.Module):
    """Linear(hidden → width) and GELU."""

    def __init__(self, hidden: int, width: int):
        super().__init__()
        self.dense = nn.Linear(hidden, width)

    def forward(self, x: Tensor) -> Tensor:
        return F.gelu(self.dense(x))


class BertLayer(nn.Module):
    """One layer; [N, S, D] and a mask [N, S] → [N, S, D]. `eps` is that of both LayerNorms."""

    def __init__(self, hidden: int, heads: int, feed_forward: int, dropout: float, eps: float = 1e-5):
        super().__init__()
        self.attention = AttentionBlock(hidden, heads, dropout, eps)
        self.intermediate = Intermediate(hidden, feed_forward)
        self.output = ResidualOutput(feed_forward, hidden, dropout, eps)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        x = self.attention(x, mask)
        return self.output(self.intermediate(x), x)


class BertEncoder(nn.Module):
    """A stack of layers under the key ``layer.N``; [N, S, D] and [N, S] → [N, S, D]."""

    def __init__(self, layers: int, hidden: int, heads: int, feed_forward: int, dropout: float, eps: float = 1e-5):
        super().__init__()
        self.layer = nn.ModuleList(BertLayer(hidden, heads, feed_forward, dropout, eps) for _ in range(layers))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        for layer in self.layer:
            x = layer(x, mask)
        return x
