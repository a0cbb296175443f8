"""uint8 frames to the network's input."""

import torch
from torch import Tensor

MEAN = (0.485, 0.456, 0.406)
DEVIATION = (0.229, 0.224, 0.225)


def normalised(frames: Tensor) -> Tensor:
    """uint8 [B, T, H, W, 3] RGB → float32 [B, T, 3, H, W], by ImageNet's mean and standard deviation."""
    mean = torch.tensor(MEAN, device=frames.device) * 255
    deviation = torch.tensor(DEVIATION, device=frames.device) * 255
    return ((frames.float() - mean) / deviation).permute(0, 1, 4, 2, 3)
