"""The video encoder: joint space-time attention over the patches of all frames (UMT, ViT-L/16).

Its transformer layer is pre-norm, with separate branches so that stochastic depth can drop one:

    x + W_o · MultiHead(LN(x))        keys without a bias
    x + W_2 · GELU(W_1 · LN(x))

Parameters are named as in transformers' VideoMAE, whose layer is the same
(`tests/evaluator/test_umt_parity.py`) but takes two seconds to import.
"""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint

from verified.demo.tiny_evaluator.stem import TinyStem
from verified.evaluator.settings import Architecture
from verified.nn.layers import Layers


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


MEAN = (0.485, 0.456, 0.406)
DEVIATION = (0.229, 0.224, 0.225)


def normalise(frames: Tensor) -> Tensor:
    """uint8 [B, T, H, W, 3] RGB → float32 [B, T, 3, H, W], by ImageNet's mean and standard deviation."""
    width = frames.shape[3]  # a row at a time: three numbers are too few for a processor's vectors
    mean = (torch.tensor(MEAN, device=frames.device) * 255).repeat(width)
    deviation = (torch.tensor(DEVIATION, device=frames.device) * 255).repeat(width)
    rows = frames.flatten(3).float().sub_(mean).div_(deviation)
    return rows.unflatten(3, (width, 3)).permute(0, 1, 4, 2, 3)


def sine_cosine_table(positions: int, width: int) -> Tensor:
    """[positions, width] float32: angle pos / 10000^(2⌊j/2⌋/width), sine in even and cosine in odd columns.

    Computed in float64 and rounded once, as the original does.
    """
    columns = np.arange(width)
    angles = np.arange(positions)[:, None] / np.power(10000.0, 2 * (columns // 2) / width)
    table = np.where(columns % 2 == 0, np.sin(angles), np.cos(angles))
    return torch.from_numpy(table.astype(np.float32))


class PatchStem(nn.Module):
    """UMT's tokens: a linear map of each 16×16 patch plus the fixed sine-cosine table; only the map is learned."""

    positions: Tensor

    def __init__(self, size: Architecture):
        super().__init__()
        patch = (1, size.patch_size, size.patch_size)
        self.projection = nn.Conv3d(3, size.vision_width, kernel_size=patch, stride=patch)
        table = sine_cosine_table(size.frames * size.tokens_per_frame, size.vision_width)
        self.register_buffer("positions", table, persistent=False)

    def forward(self, pixels: Tensor) -> Tensor:
        """[B, T, 3, H, W] → [B, T·P, width]; T may be any number up to the frames the model was built for."""
        tokens = self.projection(pixels.transpose(1, 2)).flatten(2).transpose(1, 2)
        return tokens + self.positions[: tokens.shape[1]].to(tokens.dtype)


class VideoEncoder(nn.Module):
    """Frames to tokens (for the fusion layers) and to one vector a frame (for the contrastive similarity)."""

    def __init__(self, size: Architecture):
        super().__init__()
        self.stem = TinyStem(size) if size.stem == "tiny" else PatchStem(size)
        self.layers = Layers(VideoLayer(size) for _ in range(size.vision_layers))
        self.norm = nn.LayerNorm(size.vision_width, eps=1e-6)
        self.pool_norm = nn.LayerNorm(size.vision_width, eps=1e-6)
        self.drop_path = torch.linspace(0, size.drop_path, size.vision_layers, device="cpu").tolist()
        self.checkpointing = False

    def remember_frames(self, other: "VideoEncoder | None" = None) -> None:
        """Cache the output of the frozen part on frames, shared with another encoder (see `TinyStem`).

        UMT's stem has no such part.
        """
        if isinstance(self.stem, TinyStem):
            self.stem.remember_frames(other.stem if other is not None and isinstance(other.stem, TinyStem) else None)

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Encode clips.

        pixels: [B, T, 3, H, W], normalised. Returns tokens [B, T·P, width] after the final norm, and the mean over the
        P tokens of each frame, normalised again: [B, T, width].
        """
        tokens = self.stem(pixels)
        for layer, rate in zip(self.layers, self.drop_path):
            if self.checkpointing and self.training:
                tokens = checkpoint(self._block, layer, tokens, rate, use_reentrant=False)
            else:
                tokens = self._block(layer, tokens, rate)
        tokens = self.norm(tokens)
        frames = tokens.unflatten(1, (pixels.shape[1], -1)).mean(dim=2)
        return tokens, self.pool_norm(frames)

    def _block(self, layer: VideoLayer, tokens: Tensor, rate: float) -> Tensor:
        """One layer with stochastic depth on both branches."""
        tokens = tokens + self._drop(layer.attend(tokens), rate)
        return tokens + self._drop(layer.feed_forward(tokens), rate)

    def _drop(self, branch: Tensor, rate: float) -> Tensor:
        if not self.training or rate == 0:
            return branch
        keep = torch.rand(branch.shape[0], 1, 1, device=branch.device) >= rate
        return branch * keep / (1 - rate)
