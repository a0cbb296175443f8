"""The tiny evaluator's stem: convolutions over contrast, colour and change of each frame."""

import torch
from torch import Tensor, nn

from verified.evaluator.architecture import Architecture

CHANNELS = 6


class MotionStem(nn.Module):
    """Frames to tokens for the tiny size.

    At 64×64 pixels and a few hundred steps, attention over raw patches never learns which way a thing moves. Three
    things put motion, place and time within reach: colour is given relative to the frame's mean, and its strength
    (how much a pixel stands out, whatever its colour) and that strength's differences to both neighbouring frames
    are channels of their own, so that one convolution sees direction and speed, across hard cuts too; and the codes
    for place and time are learned apart, because a sine-cosine table over the flattened index needs more width.
    """

    def __init__(self, size: Architecture):
        super().__init__()
        if size.patch_size != 16:
            raise ValueError(f"the motion stem reduces 16-fold, not {size.patch_size}-fold")
        width = size.vision_width
        self.convolutions = nn.Sequential(
            nn.Conv2d(CHANNELS, width // 3, 4, stride=4),
            nn.GELU(),
            nn.Conv2d(width // 3, width // 2, 3, padding=1),
            nn.MaxPool2d(2),  # a small thing must not be averaged away
            nn.GELU(),
            nn.Conv2d(width // 2, width, 3, stride=2, padding=1),
        )
        self.mean_colour = nn.Linear(3, width)
        self.place = nn.Parameter(torch.randn(size.patches_per_frame, width) * 0.02)
        self.time = nn.Parameter(torch.randn(size.frames, width) * 0.02)
        self.to(memory_format=torch.channels_last)  # nearly twice as fast on a CPU

    def forward(self, pixels: Tensor) -> Tensor:
        """[B, T, 3, H, W] → [B, T·P, width]; the first and last frame stand in for their missing neighbours."""
        mean = pixels.mean(dim=(3, 4), keepdim=True)
        colour = pixels - mean
        strength = (colour.square().mean(dim=2, keepdim=True) + 1e-4).sqrt()
        before = torch.cat([strength[:, :1], strength[:, :-1]], dim=1)
        after = torch.cat([strength[:, 1:], strength[:, -1:]], dim=1)
        stacked = torch.cat([colour, strength, strength - before, after - strength], dim=2).flatten(0, 1)
        maps = self.convolutions(stacked.contiguous(memory_format=torch.channels_last))
        tokens = maps.flatten(2).transpose(1, 2).unflatten(0, pixels.shape[:2])
        tokens = tokens + self.mean_colour(mean[..., 0, 0])[:, :, None]
        return (tokens + self.place + self.time[: pixels.shape[1], None]).flatten(1, 2)
