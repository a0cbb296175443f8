"""The demo's image backbone `grid-conv`: fixed, seeded and position-preserving, where ResNet-152 has no weights.

Four readings of a frame, concatenated (dimensions in brackets), scaled to similar size:

- colour: share of pixels near each of 20 fixed colours, per cell of a 4×4 grid [320];
- salience: distance of pixels from the frame's most common colour, per cell of an 8×8 grid [64];
- form: edges of the salience map in 16 orientations, then a convolution with seeded random weights; the orientations by
  their shares, the convolution by its maximum over the frame [16 + 32];
- texture: a convolution of the colours with seeded random weights, by its mean and its maximum over the frame [2 × 16].

It is untrained and independent of the demo's vocabulary.
"""

import math

import numpy as np
import torch
from torch.nn import functional

from verified.runtime.seeds import derive_seed

ORIENTATIONS = 16
SHARPNESS = 60.0
"""Steepness of the assignment of a pixel to its nearest colours (colours in [0, 1])."""


class GridConv:
    """Frames uint8 [N, 112, 112, 3] → float32 [N, 464]."""

    size = 112
    crop = False
    dim = 320 + 64 + ORIENTATIONS + 32 + 2 * 16

    def __init__(self):
        random = torch.Generator().manual_seed(derive_seed(0, "grid-conv"))
        self._palette = _palette()
        self._gradients = _gradients()
        self._forms = _subtract_mean(torch.randn(32, ORIENTATIONS, 7, 7, generator=random))
        self._textures = _subtract_mean(torch.randn(16, 3, 5, 5, generator=random))
        angles = 2 * math.pi * torch.arange(ORIENTATIONS) / ORIENTATIONS
        self._turns = torch.stack([angles.cos(), angles.sin()], dim=1)[:, :, None, None]

    @torch.inference_mode()
    def __call__(self, frames: np.ndarray) -> np.ndarray:
        pixels = torch.from_numpy(frames).permute(0, 3, 1, 2).float() / 255
        salience = _salience(pixels)
        blocks = [
            self._colour(pixels),
            functional.adaptive_avg_pool2d(salience, 8).flatten(1).sqrt(),
            *self._form(salience),
            *self._texture(pixels),
        ]
        return torch.cat(blocks, dim=1).numpy()

    def _colour(self, pixels: torch.Tensor) -> torch.Tensor:
        pixels = functional.avg_pool2d(pixels, 2)
        # |p - c|² without the |p|² that all colours share; softmax over colours.
        closeness = functional.conv2d(pixels, 2 * self._palette[:, :, None, None], -self._palette.square().sum(1))
        share = (SHARPNESS * closeness).softmax(1)
        return functional.adaptive_avg_pool2d(share, 4).flatten(1).sqrt()

    def _form(self, salience: torch.Tensor) -> list[torch.Tensor]:
        strong = (salience - 0.15).clamp(0, 0.25) * 4
        gradient = functional.conv2d(strong, self._gradients, stride=2, padding=3)
        edges = functional.conv2d(gradient, self._turns).relu()
        # Each position counts for its strongest orientation only.
        edges = edges * (edges / (edges.amax(1, keepdim=True) + 1e-3)).pow(4)
        amount = edges.mean((2, 3))
        forms = functional.conv2d(edges, self._forms, stride=2).amax((2, 3))
        return [4 * amount / (amount.sum(1, keepdim=True) + 1e-3), forms / 20]

    def _texture(self, pixels: torch.Tensor) -> list[torch.Tensor]:
        texture = functional.conv2d(pixels, self._textures, stride=2, padding=2).relu()
        return [texture.mean((2, 3)) / 4, texture.amax((2, 3)) / 16]


def _salience(pixels: torch.Tensor) -> torch.Tensor:
    """Largest difference of a channel to the frame's median colour, in [0, 0.5]: [N, 1, H, W]."""
    common = pixels[:, :, ::2, ::2].flatten(2).median(2).values[:, :, None, None]
    return (pixels - common).abs().amax(1, keepdim=True).clamp(max=0.5)


def _palette() -> torch.Tensor:
    """20 colours in [0, 1]: twelve saturated hues, four of them at half brightness, and four greys."""
    saturated = [_hue(step / 12) for step in range(12)]
    dark = [0.5 * colour for colour in saturated[::3]]
    greys = [np.full(3, value) for value in (0.05, 0.35, 0.65, 0.95)]
    return torch.tensor(np.array([*saturated, *dark, *greys]), dtype=torch.float32)


def _hue(hue: float) -> np.ndarray:
    """Saturated RGB colour of a hue in [0, 1)."""
    return np.clip(np.abs((hue * 6 + np.array([0.0, 4.0, 2.0])) % 6 - 3) - 1, 0, 1)


def _gradients() -> torch.Tensor:
    """Derivatives of a Gaussian (sigma 1.2 pixels) along x and y: [2, 1, 7, 7]."""
    y, x = np.mgrid[-3:4, -3:4]
    bell = np.exp(-(x**2 + y**2) / (2 * 1.2**2))
    return torch.tensor(np.array([[-x * bell], [-y * bell]]) / np.abs(x * bell).sum(), dtype=torch.float32)


def _subtract_mean(weights: torch.Tensor) -> torch.Tensor:
    """Filters that answer to structure, not to a constant."""
    return weights - weights.mean((1, 2, 3), keepdim=True)
