"""The demo's small image network in place of ResNet-152: 0.9 million weights, 192 pooled numbers per frame.

Layers, names and initial weights are those of transformers' ResNet with one basic block per stage, as which its folder
loads anywhere else (`tests/evaluator/test_layers.py` compares both); here without importing the library.
"""

from itertools import pairwise

from torch import Tensor, nn
from torch.nn.functional import adaptive_avg_pool2d, relu

from verified.nn.layers import Parts

SIZE = 112
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
