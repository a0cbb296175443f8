"""Half of the tiny evaluator's stem: the foreground of each frame, its colour, and how it changes."""

import torch
from torch import Tensor, nn
from torch.nn.functional import avg_pool2d, interpolate

from verified.nn.layers import channels_last

CHANNELS = 6
SIDE = 64
"""Pixels to which frames are scaled: motion needs no more."""
PATCH = 16
TOKENS = (SIDE // PATCH) ** 2
"""Tokens of one frame."""
FAINT = 0.5
"""Strength, in normalised pixel values, below which nothing counts as standing out (noise and patterns stay below)."""
GAIN = 4.0
"""Factor on strength and its changes, which are shares and so smaller than the colours beside them."""


class MotionStem(nn.Module):
    """Frames to tokens of their motion.

    At 64×64 pixels and a few hundred steps, attention over raw patches never learns which way a thing moves, nor the
    colour of a small one. Three fixed steps put both within reach. Every pixel has a strength: how far its colour is
    from the frame's mean, relative to the strongest pixel, so that things of any colour look alike, also across hard
    cuts. The strength's differences to both neighbouring frames are channels of their own, so that one convolution sees
    direction and speed. And each patch's colour is averaged with the strength as weight, so that a small thing is not
    washed out. Codes for place and time are learned apart, because a sine-cosine table over the flattened index needs
    more width.
    """

    def __init__(self, width: int, frames: int):
        super().__init__()
        self.convolutions = nn.Sequential(
            nn.Conv2d(CHANNELS, width // 3, 4, stride=4),
            nn.GELU(),
            nn.Conv2d(width // 3, width // 2, 3, padding=1),
            nn.MaxPool2d(2),  # a small thing must not be averaged away
            nn.GELU(),
            nn.Conv2d(width // 2, width, 3, stride=2, padding=1),
        )
        self.colours = nn.Sequential(nn.Linear(7, width // 2), nn.GELU(), nn.Linear(width // 2, width))
        self.place = nn.Parameter(nn.init.normal_(torch.empty(TOKENS, width), std=0.02))
        self.time = nn.Parameter(nn.init.normal_(torch.empty(frames, width), std=0.02))
        channels_last(self)

    def forward(self, pixels: Tensor) -> Tensor:
        """[B, T, 3, H, W] → [B, T, TOKENS, width]; the first and last frame replace their missing neighbours."""
        if pixels.shape[3:] != (SIDE, SIDE):
            small = interpolate(pixels.flatten(0, 1), size=(SIDE, SIDE), mode="area")
            pixels = small.unflatten(0, pixels.shape[:2])
        mean = pixels.mean(dim=(3, 4), keepdim=True)
        colour = pixels - mean
        strength = colour.square().mean(dim=2, keepdim=True).sqrt()
        strength = strength / strength.amax(dim=(3, 4), keepdim=True).clamp_min(FAINT)
        before = torch.cat([strength[:, :1], strength[:, :-1]], dim=1)
        after = torch.cat([strength[:, 1:], strength[:, -1:]], dim=1)
        seen = torch.cat([strength, strength - before, after - strength], dim=2) * GAIN
        stacked = torch.cat([colour, seen], dim=2).flatten(0, 1)
        maps = self.convolutions(stacked.contiguous(memory_format=torch.channels_last))
        tokens = maps.flatten(2).transpose(1, 2).unflatten(0, pixels.shape[:2])
        tokens = tokens + self.colours(self._patch_colours(pixels, strength, mean))
        return tokens + self.place + self.time[: pixels.shape[1], None]

    def _patch_colours(self, pixels: Tensor, strength: Tensor, mean: Tensor) -> Tensor:
        """[B, T, P, 7]: each patch's colour averaged by squared strength, the frame's mean colour, the strength."""
        weight = strength.square()
        sums = avg_pool2d(torch.cat([pixels * weight, weight], dim=2).flatten(0, 1), PATCH)
        sums = sums.flatten(2).transpose(1, 2).unflatten(0, pixels.shape[:2])
        colour, weight = sums[..., :3] / (sums[..., 3:] + 1e-6), sums[..., 3:]
        frame = mean[..., 0, 0][:, :, None].expand_as(colour)
        return torch.cat([colour, frame, weight.sqrt()], dim=-1)
