"""The tiny evaluator's stem: what stands out of each frame, its colour, its change, and a closer look at it."""

import torch
from torch import Tensor, nn
from torch.nn.functional import avg_pool2d

from verified.evaluator.architecture import Architecture

FAINT = 0.5
"""Strength, in normalised pixel values, below which nothing counts as standing out (noise and patterns stay below)."""
GAIN = 4.0
"""Factor on strength and its changes, which are shares and so smaller than the colours beside them."""
GLIMPSE = 24
"""Side of the closer look, in pixels."""


class MotionStem(nn.Module):
    """Frames to tokens for the tiny size.

    At 64×64 pixels and a few hundred steps, attention over raw patches never learns which way a thing moves, nor the
    colour or shape of a small one. Four fixed steps put them within reach. Every pixel has a strength: how far its
    colour is from the frame's mean, relative to the strongest pixel, so that things look alike whatever their colour
    and across hard cuts. The strength's differences to both neighbouring frames are channels of their own, so that one
    convolution sees direction and speed. Each patch's colour is averaged with the strength as weight, so that a small
    thing is not washed out. And one more token a frame is a closer look at the place that stands out most. Codes for
    place and time are learned apart, because a sine-cosine table over the flattened index needs more width.
    """

    def __init__(self, size: Architecture):
        super().__init__()
        if size.patch_size != 16:
            raise ValueError(f"the motion stem reduces 16-fold, not {size.patch_size}-fold")
        width = size.vision_width
        self.patch, self.glimpse_side = size.patch_size, min(GLIMPSE, size.image_size)
        self.convolutions = nn.Sequential(
            nn.Conv2d(6, width // 3, 4, stride=4),
            nn.GELU(),
            nn.Conv2d(width // 3, width // 2, 3, padding=1),
            nn.MaxPool2d(2),  # a small thing must not be averaged away
            nn.GELU(),
            nn.Conv2d(width // 2, width, 3, stride=2, padding=1),
        )
        self.colours = nn.Sequential(nn.Linear(7, width // 2), nn.GELU(), nn.Linear(width // 2, width))
        self.closer_look = nn.Sequential(
            nn.Conv2d(4, width // 6, 3, padding=1),
            nn.GELU(),
            nn.MaxPool2d(2),
            nn.Conv2d(width // 6, width // 3, 3, padding=1),
            nn.GELU(),
            nn.MaxPool2d(2),
            nn.Conv2d(width // 3, 2 * width // 3, 3, padding=1),
            nn.GELU(),
            nn.Conv2d(2 * width // 3, width, self.glimpse_side // 4),
        )
        self.place = nn.Parameter(torch.randn(size.patches_per_frame + 1, width) * 0.02)
        self.time = nn.Parameter(torch.randn(size.frames, width) * 0.02)
        self.to(memory_format=torch.channels_last)  # nearly twice as fast on a CPU

    def forward(self, pixels: Tensor) -> Tensor:
        """[B, T, 3, H, W] → [B, T·(P + 1), width]; the first and last frame stand in for their missing neighbours."""
        mean = pixels.mean(dim=(3, 4), keepdim=True)
        colour = pixels - mean
        strength = colour.square().mean(dim=2, keepdim=True).sqrt()
        strength = strength / strength.amax(dim=(3, 4), keepdim=True).clamp_min(FAINT)
        before = torch.cat([strength[:, :1], strength[:, :-1]], dim=1)
        after = torch.cat([strength[:, 1:], strength[:, -1:]], dim=1)
        seen = torch.cat([strength, strength - before, after - strength], dim=2) * GAIN
        stacked = torch.cat([colour, seen], dim=2).flatten(0, 1)
        maps = self.convolutions(stacked.contiguous(memory_format=torch.channels_last))
        patches = maps.flatten(2).transpose(1, 2).unflatten(0, pixels.shape[:2])
        patches = patches + self.colours(self._patch_colours(pixels, strength, mean))
        glimpse = self.closer_look(self._glimpses(stacked[:, :4], strength.flatten(0, 1)))
        glimpse = glimpse.flatten(1).unflatten(0, (*pixels.shape[:2], 1))
        tokens = torch.cat([patches, glimpse], dim=2)
        return (tokens + self.place + self.time[: pixels.shape[1], None]).flatten(1, 2)

    def _patch_colours(self, pixels: Tensor, strength: Tensor, mean: Tensor) -> Tensor:
        """[B, T, P, 7]: each patch's colour averaged by squared strength, the frame's mean colour, the strength."""
        weight = strength.square()
        sums = avg_pool2d(torch.cat([pixels * weight, weight], dim=2).flatten(0, 1), self.patch)
        sums = sums.flatten(2).transpose(1, 2).unflatten(0, pixels.shape[:2])
        colour, weight = sums[..., :3] / (sums[..., 3:] + 1e-6), sums[..., 3:]
        frame = mean[..., 0, 0][:, :, None].expand_as(colour)
        return torch.cat([colour, frame, weight.sqrt()], dim=-1)

    def _glimpses(self, maps: Tensor, strength: Tensor) -> Tensor:
        """[N, C, H, W] → [N, C, side, side], around the place where most stands out within nine pixels."""
        side, (height, width) = self.glimpse_side, maps.shape[-2:]
        where = avg_pool2d(strength.square(), 9, stride=1, padding=4).flatten(1).argmax(dim=1)
        steps = torch.arange(side, device=maps.device)
        top = (where // width - side // 2).clamp(0, height - side)
        left = (where % width - side // 2).clamp(0, width - side)
        rows, columns = (top[:, None] + steps)[:, :, None], (left[:, None] + steps)[:, None, :]
        frames = torch.arange(len(maps), device=maps.device)[:, None, None]
        found = maps.permute(0, 2, 3, 1)[frames, rows, columns]  # [N, side, side, C]
        return found.permute(0, 3, 1, 2)
