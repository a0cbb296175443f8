"""The post-norm transformer layer of BERT, as CONQUER, SQuiDNet and HERO use it.

    A(x) = LN(x + W_o · MultiHead(x W_q, x W_k, x W_v))
    BERT(x) = LN(A(x) + W_2 · GELU(W_1 · A(x)))

State-dict keys are those of the original BERT code (``attention.self.query.weight`` … ``output.LayerNorm.bias``), so
that published weights load by name. GELU is the exact one (erf).
"""

from torch import Tensor, nn
from torch.nn import functional

from verified.retrieval.layers import AttentionBlock


class FeedForward(nn.Module):
    """The first half of the feed-forward sub-layer: Linear(hidden → width) and GELU."""

    def __init__(self, hidden: int, width: int):
        super().__init__()
        self.dense = nn.Linear(hidden, width)

    def forward(self, x: Tensor) -> Tensor:
        return functional.gelu(self.dense(x))


class Residual(nn.Module):
    """LN(residual + dropout(Linear(x)))."""

    def __init__(self, width: int, hidden: int, dropout: float, eps: float):
        super().__init__()
        self.dense = nn.Linear(width, hidden)
        self.LayerNorm = nn.LayerNorm(hidden, eps=eps)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, residual: Tensor) -> Tensor:
        return self.LayerNorm(residual + self.dropout(self.dense(x)))
