"""The tiny evaluator's stem: motion tokens for every frame and appearance tokens for every second one."""

import hashlib

import torch
from torch import Tensor, nn

from verified.demo.tiny_evaluator.motion_stem import TOKENS, MotionStem
from verified.demo.tiny_evaluator.small_resnet import STAGES, SmallResNet
from verified.evaluator.settings import TINY_TOKENS, Architecture
from verified.nn.layers import channels_last

LOOKS = TINY_TOKENS - TOKENS


class TinyStem(nn.Module):
    """Frames to tokens for the tiny size.

    A thing's shape and texture are a matter of a few pixels, and captions are too weak a signal to find them by. So
    they are seen by an image network that was trained before and stays as it is, frames' pooled features becoming a few
    tokens each. They change little within a clip: every second frame is encoded, and represents its neighbour too.
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
        ones in every epoch. Batches of one size give the same bits as without.

        What `other` keeps is shared with it if its image network is the same."""
        shared = other is not None and all(
            torch.equal(one, two)
            for one, two in zip(self.network.state_dict().values(), other.network.state_dict().values(), strict=True)
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
        seen = torch.arange(1, frames + 1, 2).clamp_max(frames - 1)
        with torch.no_grad():
            pictures = pixels[:, seen].flatten(0, 1).contiguous(memory_format=torch.channels_last)
            features = self._features(pictures, batch)
        looks = self.looks(self.norm(features)).view(batch, len(seen), LOOKS, -1)
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
