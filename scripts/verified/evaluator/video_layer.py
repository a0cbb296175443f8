"""The pre-norm transformer layer of UMT's video encoder, with separate branches so that stochastic depth can drop one.

    x + W_o · MultiHead(LN(x))        keys without a bias
    x + W_2 · GELU(W_1 · LN(x))

Parameters are named as in transformers' VideoMAE, whose layer is the same (`tests/evaluator/test_layers.py`) but takes
two seconds to import.
"""

from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention

from verified.evaluator.architecture import Architecture


class Dense(nn.Module):
    """A linear map under the key ``dense``; [..., in] → [..., out]."""

    def __init__(self, size_in: int, size_out: int):
        super().__init__()
        self.dense = nn.Linear(size_in, size_out)

    def forward(self, x: Tensor) -> Tensor:
        return self.dense(x)


class TokenAttention(nn.Module):
    """Every token attends to every token of all frames; [B, N, width] → [B, N, width], without the output map."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width)

    def forward(self, tokens: Tensor) -> Tensor:
        key, value, query = (
            projection(tokens).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for projection in (self.key, self.value, self.query)
        )
        read = scaled_dot_product_attention(query, key, value, scale=query.shape[-1] ** -0.5)
        return read.transpose(1, 2).flatten(2)


class VideoAttention(nn.Module):
    """Attention and its output map; [B, N, width] → [B, N, width]."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.attention = TokenAttention(width, heads)
        self.output = Dense(width, width)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.output(self.attention(tokens))


class VideoLayer(nn.Module):
    """One layer; the caller adds each branch to the tokens that it was given."""

    def __init__(self, size: Architecture):
        super().__init__()
        width = size.vision_width
        self.attention = VideoAttention(width, size.vision_heads)
        self.intermediate = Dense(width, size.vision_feedforward)
        self.output = Dense(size.vision_feedforward, width)
        self.layernorm_before = nn.LayerNorm(width, eps=1e-6)
        self.layernorm_after = nn.LayerNorm(width, eps=1e-6)

    def attend(self, tokens: Tensor) -> Tensor:
        """The first branch; [B, N, width] → [B, N, width]."""
        return self.attention(self.layernorm_before(tokens))

    def feed_forward(self, tokens: Tensor) -> Tensor:
        """The second branch; [B, N, width] → [B, N, width]."""
        return self.output(gelu(self.intermediate(self.layernorm_after(tokens))))
