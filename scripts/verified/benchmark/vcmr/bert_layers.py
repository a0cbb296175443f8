"""The post-norm transformer layer of BERT, as CONQUER, SQuiDNet and HERO use it.

    A(x) = LN(x + W_o · MultiHead(x W_q, x W_k, x W_v))
    BERT(x) = LN(A(x) + W_2 · GELU(W_1 · A(x)))

State-dict keys are those of the original BERT code (``attention.self.query.weight`` … ``output.LayerNorm.bias``), so
published weights load by name. GELU is the exact one (erf). Masks are bool, true for real positions; a real position's
output depends on real positions alone, a pad's output on itself and on real positions.
"""

import torch.nn.functional as F
from torch import Tensor, nn

from verified.benchmark.vcmr.layers import AttentionBlock, ResidualOutput


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
