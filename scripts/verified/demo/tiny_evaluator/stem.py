"""The tiny evaluator's stem: motion tokens for every frame and appearance tokens for every second one.

Motion tokens hold the foreground of each frame, its colour, and how it changes. Appearance comes from the demo's small
image network in place of ResNet-152: 0.9 million weights, 192 pooled numbers per frame. Its layers, names and initial
weights are those of transformers' ResNet with one basic block per stage, so its folder loads in transformers
(`tests/evaluator/test_umt_parity.py` compares both); here without importing the library.
"""

import hashlib
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.functional import adaptive_avg_pool2d, avg_pool2d, interpolate, relu

from verified.evaluator.settings import TINY_TOKENS, Architecture
from verified.nn.layers import Parts, channels_last

IMAGE_SIZE = 112
"""Pixels, the demo's own size: its smallest thing is 14 pixels wide, and half of that hides its shape."""
STAGES = (32, 64, 128, 192)
"""Channels of the four stages; the last number is the width of the pooled features."""


class Convolution(nn.Module):
    """Convolution and batch normalisation; [N, in, H, W] → [N, out, H / stride, W / stride]."""

    def __init__(self, size_in: int, size_out: int, kernel: int = 3, stride: int = 1):
        super().__init__()
        self.convolution = nn.Conv2d(size_in, size_out, kernel, stride, padding=kernel // 2, bias=False)
        self.normalization = nn.BatchNorm2d(size_out)

    def forward(self, maps: Tensor) -> Tensor:
        return self.normalization(self.convolution(maps))


class BasicBlock(nn.Module):
    """Two 3×3 convolutions and a shortcut; [N, in, H, W] → [N, out, H / stride, W / stride]."""

    def __init__(self, size_in: int, size_out: int, stride: int):
        super().__init__()
        same = size_in == size_out and stride == 1
        self.shortcut = nn.Identity() if same else Convolution(size_in, size_out, kernel=1, stride=stride)
        self.layer = nn.ModuleList([Convolution(size_in, size_out, stride=stride), Convolution(size_out, size_out)])

    def forward(self, maps: Tensor) -> Tensor:
        return relu(self.layer[1](relu(self.layer[0](maps))) + self.shortcut(maps))


class SmallResNet(nn.Module):
    """Normalised frames to pooled features; [N, 3, H, W] → [N, STAGES[-1]]."""

    def __init__(self):
        super().__init__()
        self.embedder = nn.ModuleDict({"embedder": Convolution(3, STAGES[0], kernel=7, stride=2)})
        self.smaller = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        blocks = [BasicBlock(STAGES[0], STAGES[0], 1)]
        blocks += [BasicBlock(before, after, 2) for before, after in pairwise(STAGES)]
        stages = nn.ModuleList(nn.ModuleDict({"layers": nn.ModuleList([block])}) for block in blocks)
        self.encoder = Parts({"stages": stages})
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.normal_(module.weight)  # drawn and overwritten there too, so that later draws are the same
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, frames: Tensor) -> Tensor:
        maps = self.smaller(relu(self.embedder["embedder"](frames)))
        for stage in self.encoder["stages"]:
            maps = stage["layers"][0](maps)
        return adaptive_avg_pool2d(maps, 1).flatten(1)


CHANNELS = 6
SIDE = 64
"""Pixels to which frames are scaled: motion needs no higher resolution."""
PATCH = 16
TOKENS = (SIDE // PATCH) ** 2
"""Tokens of one frame."""
FAINT = 0.5
"""Strength, in normalised pixel values, below which a pixel does not stand out (noise and patterns stay below)."""
GAIN = 4.0
"""Factor on strength and its changes, which are shares and so smaller than the colours."""


class MotionStem(nn.Module):
    """Encode frames as tokens of their motion.

    At 64×64 pixels and a few hundred steps, attention over raw patches never learns the direction of a motion, nor the
    colour of a small object. Three fixed steps put both within reach. Every pixel has a strength: the distance of its
    colour from the frame's mean, relative to the strongest pixel, so that objects of any colour get equal values, also
    across hard cuts. The strength's differences to both neighbouring frames are separate channels, so that one
    convolution sees direction and speed. Each patch's colour is averaged with the strength as weight, so that a small
    object is not washed out. Codes for place and time are learned separately, because a sine-cosine table over the
    flattened index needs more width.
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
        motion = torch.cat([strength, strength - before, after - strength], dim=2) * GAIN
        stacked = torch.cat([colour, motion], dim=2).flatten(0, 1)
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


LOOKS = TINY_TOKENS - TOKENS


class TinyStem(nn.Module):
    """Encode frames as tokens for the tiny size.

    An object's shape and texture occupy a few pixels, and captions are too weak a signal to find them by. So a
    pre-trained, frozen image network sees them; frames' pooled features become a few tokens each. They change little
    within a clip: every second frame is encoded, and represents its neighbour too.
    """

    def __init__(self, size: Architecture):
        super().__init__()
        self.motion = MotionStem(size.vision_width, size.frames)
        self.network = channels_last(SmallResNet()).requires_grad_(False).eval()
        self.norm = nn.LayerNorm(STAGES[-1])
        self.looks = nn.Linear(STAGES[-1], LOOKS * size.vision_width)
        self.slot = nn.Parameter(nn.init.normal_(torch.empty(LOOKS, size.vision_width), std=0.02))
        self._known: dict[bytes, Tensor] | None = None

    def remember_frames(self, other: "TinyStem | None" = None) -> None:
        """Cache the image network's output for a clip's frames, by their bytes: a fine-tuning on the CPU sees the same
        frames in every epoch. Batches of one size give the same bits as without the cache.

        The cache is shared with `other` if its image network is the same.
        """
        shared = other is not None and all(
            torch.equal(a, b)
            for a, b in zip(self.network.state_dict().values(), other.network.state_dict().values(), strict=True)
        )
        self._known = other._known if other is not None and shared else {}

    def train(self, mode: bool = True) -> "TinyStem":
        """The image network keeps its statistics also in training."""
        super().train(mode)
        self.network.eval()
        return self

    def forward(self, pixels: Tensor) -> Tensor:
        """[B, T, 3, H, W] → [B, T·TINY_TOKENS, width]."""
        batch, frames = pixels.shape[:2]
        positions = torch.arange(1, frames + 1, 2).clamp_max(frames - 1)
        with torch.no_grad():
            pictures = pixels[:, positions].flatten(0, 1).contiguous(memory_format=torch.channels_last)
            features = self._features(pictures, batch)
        looks = self.looks(self.norm(features)).view(batch, len(positions), LOOKS, -1)
        looks = looks.repeat_interleave(2, dim=1)[:, :frames]
        looks = looks + self.slot + self.motion.time[:frames, None]
        return torch.cat([self.motion(pixels), looks], dim=2).flatten(1, 2)

    def _features(self, pictures: Tensor, batch: int) -> Tensor:
        """The network's features [B·S, STAGES[-1]] of S pictures a clip [B·S, 3, H, W]."""
        if self._known is None or pictures.device.type != "cpu":
            return self.network(pictures)
        clips = pictures.permute(0, 2, 3, 1).unflatten(0, (batch, -1)).numpy()
        keys = [hashlib.sha256(clip).digest() for clip in clips]  # of which processors have instructions
        if any(key not in self._known for key in keys):
            # All of them: a batch of another size might be computed in another order.
            self._known.update(zip(keys, self.network(pictures).unflatten(0, (batch, -1)).unbind()))
        return torch.cat([self._known[key] for key in keys])
