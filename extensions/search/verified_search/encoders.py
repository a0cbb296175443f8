"""Encoders of videos and sentences into vectors of one space: a trained retrieval model, or a joint encoder.

A video comes as features [clips, F] and is cut into windows, each a row of `Window`. A retrieval model sees at most
`context_clips` clips at a time: its benchmark drops later clips, but windows here overlap and cover all.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from verified.benchmark.vcmr.checkpoint import load_model
from verified.benchmark.vcmr.contract import Encoded
from verified.benchmark.vcmr.data import Tokeniser, load_tokeniser, normalise, pool
from verified.benchmark.vcmr.scoring import OneVectorTail
from verified.config.features import PACKAGED, PACKAGED_JOINT
from verified.errors import InputError
from verified.features import encoders
from verified.features.packaged import PackagedJoint, nearest_classes
from verified.features.text import TokenEncoder, encode_caption, load_encoder

NEAR = 0.6
"""Cosine of a clip with a sentence that names its content, by the packaged encoder (docs/measurements.md)."""
REACH = 2
"""Pads behind a window's last clip that the kernels of five reach."""
AT_ONCE = 64
"""Windows per forward pass."""


class Window(NamedTuple):
    """A part of a video, at most as long as the model's context."""

    offset: float
    """Seconds at which it begins in its video."""
    seconds: float
    """Length of a clip."""
    features: np.ndarray
    """[clips, F] float32."""


class Vectors(NamedTuple):
    """An encoded window."""

    search: np.ndarray
    """[clips, D] float16 of length 1: a video's score is the largest product with the query."""
    localise: np.ndarray
    """[clips + pads, D] float16, the factors that the model's localiser multiplies with the query; [0, D] without a
    localiser.
    """


class ModelEncoder:
    """A one-stage model of the benchmark whose video score is the largest cosine of its clips."""

    near = None

    def __init__(self, checkpoint: Path, text_encoder: str, overlap: int = 0):
        self.model, header = load_model(checkpoint)
        if not isinstance(self.model, OneVectorTail):
            raise InputError(
                f"{header['model']} compares no single query vector with clip vectors, which an index needs",
                file=checkpoint,
                remedy="index xml, reloclnet or hero",
            )
        self.context = self.model.config.context_clips
        self.stride = max(self.context - overlap, self.context // 2, 1)
        self._text_encoder = text_encoder
        self._tokeniser: Tokeniser | None = None
        self._features: TokenEncoder | None = None

    def windows(self, features: np.ndarray, clip_seconds: float) -> list[Window]:
        """The windows of a video with these features [clips, F]."""
        clips = features
        if len(clips) > self.context and self.model.long_videos == "pool":
            clip_seconds *= len(clips) / self.context
            clips = pool(clips, self.context)
        starts = [0, *range(self.stride, len(clips) - self.context + self.stride, self.stride)]
        prepare = normalise if self.model.normalise_video else np.asarray
        return [
            Window(at * clip_seconds, clip_seconds, prepare(clips[at : at + self.context]))
            for at in starts
            if at == 0 or at < len(clips)
        ]

    @torch.no_grad()
    def encode(self, windows: list[Window]) -> list[Vectors]:
        """Vectors of each window."""
        vectors = []
        for at in range(0, len(windows), AT_ONCE):
            batch = windows[at : at + AT_ONCE]
            clips = np.zeros((len(batch), self.context, batch[0].features.shape[1]), np.float32)
            mask = np.zeros((len(batch), self.context), bool)
            for row, window in enumerate(batch):
                clips[row, : len(window.features)], mask[row, : len(window.features)] = window.features, True
            encoded = self.model.encode_videos(torch.from_numpy(clips), torch.from_numpy(mask))
            search, localise = (encoded[name].half().numpy() for name in ("unit", "localised"))
            for row, window in enumerate(batch):
                count = len(window.features)
                vectors.append(Vectors(search[row, :count], localise[row, : count + REACH]))
        return vectors

    def names(self, vectors: np.ndarray, count: int) -> list[list[tuple[str, float]]]:
        """None for each vector [N, D]: a trained model has no names."""
        return [[] for _ in vectors]

    def query(self, text: str) -> Encoded:
        """Encode a sentence as the benchmark encodes a caption."""
        if self.model.query_input == "ids":
            self._tokeniser = self._tokeniser or load_tokeniser(self._text_encoder)
            return self._query(np.array(self._tokeniser([text])[0]))
        self._features = self._features or load_encoder(self._text_encoder)
        return self.query_of_features(encode_caption(text, self._features))

    def query_of_features(self, tokens: np.ndarray) -> Encoded:
        """Encode a sentence from its token features [T, E]."""
        tokens = tokens.astype(np.float16).astype(np.float32)[: self.model.config.query_tokens]
        return self._query(normalise(tokens) if self.model.normalise_query else tokens)

    @torch.no_grad()
    def _query(self, tokens: np.ndarray) -> Encoded:
        most = self.model.config.query_tokens
        tokens = tokens[:most]
        whole = np.zeros((1, most, *tokens.shape[1:]), tokens.dtype)
        whole[0, : len(tokens)] = tokens
        mask = torch.arange(most)[None] < len(tokens)
        encoded = self.model.encode_queries(torch.from_numpy(whole), mask)
        return {name: value.cpu() for name, value in encoded.items()}


class JointEncoder:
    """A joint encoder: clips by the features that are extracted with it as image backbone, sentences by its text side.

    Features of `packaged` are mapped into the space of `packaged-joint`; `near` is the cosine of a clip that matches
    its sentence, or None if unknown.
    """

    model = None
    context = 0

    def __init__(self, name: str):
        self.near = NEAR if name in (PACKAGED, PACKAGED_JOINT) else None
        self._packaged = PackagedJoint() if name == PACKAGED else None
        self._name = name
        self._joint: encoders.JointEncoder | None = self._packaged

    def windows(self, features: np.ndarray, clip_seconds: float) -> list[Window]:
        """One window of all `features` [clips, dim]: length is unlimited."""
        return [Window(0.0, clip_seconds, features)]

    def encode(self, windows: list[Window]) -> list[Vectors]:
        """Unit vectors, without a localiser."""
        to_joint = self._packaged.of_features if self._packaged else np.asarray
        vectors = [normalise(to_joint(window.features)).astype(np.float16) for window in windows]
        return [Vectors(each, each[:0]) for each in vectors]

    def names(self, vectors: np.ndarray, count: int) -> list[list[tuple[str, float]]]:
        """For each vector [N, D], the nearest object names and their cosines; None for all encoders except
        `packaged`."""
        return nearest_classes(vectors.astype(np.float32), count) if self.near else [[] for _ in vectors]

    def query(self, text: str) -> Encoded:
        """The projection of a sentence, of length 1."""
        sentence = encoders.whole_sentences(self._loaded(), [text])
        return {"unit": torch.from_numpy(normalise(sentence).astype(np.float32))}

    @property
    def view(self) -> tuple[int, bool]:
        """Side of the frames that it sees, and whether these are the middle of a picture."""
        encoder = self._loaded()
        return encoder.size, encoder.crop

    def query_of_frames(self, frames: np.ndarray) -> np.ndarray:
        """The mean [D] of the vectors of `frames` uint8 RGB [N, size, size, 3], of length 1."""
        return normalise(normalise(self._loaded()(frames)).mean(axis=0, keepdims=True))[0]

    def _loaded(self) -> encoders.JointEncoder:
        self._joint = self._joint or encoders.load_joint(self._name)
        return self._joint


Encoder = ModelEncoder | JointEncoder
