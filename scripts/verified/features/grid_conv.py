"""The demo's image backbone `grid-conv`: fixed, seeded, and it keeps position.

Three readings of a frame, concatenated (NUMBER of dimensions in brackets), each brought to comparable size:

- colour: share of pixels near each of 20 fixed colours, per cell of a 4×4 grid [320];
- salience: how far pixels lie from the frame's own most common colour, per cell of an 8×8 grid [64];
- texture: two convolutions with seeded random weights and ReLU, the first pooled on the 4×4 grid [4×4×8], both over the
  whole frame by mean and maximum [2×16 + 2×48].

Nothing is trained and nothing comes from the demo world's vocabulary: a stand-in for ResNet-152 where no weights are
at hand.
"""

import numpy as np
import torch
from torch.nn import functional

from verified.common.seeds import derive_seed

SIZE = 112
"""Height and width of the frames it takes, in pixels."""
DIM = 320 + 64 + 128 + 128
SHARPNESS = 60.0
"""Steepness of the assignment of a pixel to its nearest colours (colours in [0, 1])."""


def _palette() -> torch.Tensor:
    """20 colours in [0, 1]: twelve saturated hues at two strengths where they look different, and four greys."""
    hues = np.arange(12) / 12
    saturated = [_hue(hue) for hue in hues]
    dark = [0.5 * _hue(hue) for hue in hues[::3]]
    greys = [np.full(3, value) for value in (0.05, 0.35, 0.65, 0.95)]
    return torch.tensor(np.array([*saturated, *dark, *greys]), dtype=torch.float32)


def _hue(hue: float) -> np.ndarray:
    """Saturated RGB colour of a hue in [0, 1)."""
    return np.clip(np.abs((hue * 6 + np.array([0.0, 4.0, 2.0])) % 6 - 3) - 1, 0, 1)


class GridConv:
    """Frames uint8 [N, 112, 112, 3] → float32 [N, 640]."""

    size = SIZE
    dim = DIM

    def __init__(self):
        random = torch.Generator().manual_seed(derive_seed(0, "grid-conv"))
        first = torch.randn(16, 3, 5, 5, generator=random)
        self._first = first - first.mean((2, 3), keepdim=True)  # zero mean: edges, not brightness
        self._second = torch.randn(48, 16, 3, 3, generator=random) / (16 * 9) ** 0.5
        self._palette = _palette()

    @torch.inference_mode()
    def __call__(self, frames: np.ndarray) -> np.ndarray:
        pixels = torch.from_numpy(frames).permute(0, 3, 1, 2).float() / 255
        small = functional.avg_pool2d(pixels, 2)
        return torch.cat([self._colour(small), self._salience(small), self._texture(pixels)], dim=1).numpy()

    def _colour(self, pixels: torch.Tensor) -> torch.Tensor:
        # |p - c|² without the |p|² that all colours share; softmax over colours.
        closeness = functional.conv2d(pixels, 2 * self._palette[:, :, None, None], -self._palette.square().sum(1))
        share = (SHARPNESS * closeness).softmax(1)
        return functional.adaptive_avg_pool2d(share, 4).flatten(1).sqrt()

    def _salience(self, pixels: torch.Tensor) -> torch.Tensor:
        common = pixels.flatten(2).median(2).values[:, :, None, None]
        distance = (pixels - common).abs().amax(1, keepdim=True)
        return functional.adaptive_avg_pool2d(distance.clamp(max=0.5), 8).flatten(1).sqrt()

    def _texture(self, pixels: torch.Tensor) -> torch.Tensor:
        first = functional.conv2d(pixels, self._first, stride=2, padding=2).relu()
        second = functional.conv2d(first, self._second, stride=2, padding=1).relu()
        grid = functional.adaptive_avg_pool2d(first[:, :8], 4).flatten(1)
        whole = [first.mean((2, 3)), first.amax((2, 3)) / 8, second.mean((2, 3)), second.amax((2, 3)) / 8]
        return torch.cat([grid, *whole], dim=1)
