"""The evaluator as a joint encoder, and the feature files that joint encoders write in MAD's layout."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch

from verified.features.encoders import JointEncoder, load_joint
from verified.io.hdf5 import write_features
from verified.io.video import VideoError, iterate_frames
from verified.nn.layers import visible_device
from verified.runtime.processes import prefetch
from verified.runtime.progress import Progress
from verified_longform.config import EVALUATOR

log = logging.getLogger("verified")


class EvaluatorEncoder:
    """The evaluator's contrastive vectors of frames and words, in groups of as many frames as it was built for.

    Vectors of unit length are scaled to unit variance, the size of features that networks expect; cosines stay.
    """

    crop = False

    def __init__(self, checkpoint: str | Path):
        from verified.evaluator.checkpoint import load_checkpoint

        self._device = visible_device()
        self._model = load_checkpoint(checkpoint).to(self._device).eval()
        size = self._model.size
        self.size, self.dim, self.together = size.image_size, size.embedding, size.frames

    @torch.inference_mode()
    def __call__(self, frames: np.ndarray) -> np.ndarray:
        from verified.evaluator.vision import normalise

        missing = -len(frames) % self.together
        if missing:  # the movie's last group: its last frame is repeated
            frames = np.concatenate([frames, np.repeat(frames[-1:], missing, axis=0)])
        clips = torch.from_numpy(frames).to(self._device).unflatten(0, (-1, self.together))
        vectors = self._model.encode_video(normalise(clips))[1].flatten(0, 1)
        return self._scale(vectors[: len(vectors) - missing])

    @torch.inference_mode()
    def sentences(self, texts: list[str]) -> list[tuple[np.ndarray, np.ndarray]]:
        from verified.evaluator.model import encode

        ids, mask, _ = encode(texts)
        states, whole = self._model.encode_text(ids.to(self._device), mask.to(self._device))
        tokens = torch.nn.functional.normalize(self._model.text_projection(states), dim=-1)
        lengths = mask.sum(dim=1).tolist()
        return [
            (self._scale(tokens[row, :length]), self._scale(whole[row][None])[0]) for row, length in enumerate(lengths)
        ]

    def _scale(self, vectors: torch.Tensor) -> np.ndarray:
        return (vectors * self.dim**0.5).float().cpu().numpy()


def load_encoder(name: str, checkpoint: str | Path | None = None) -> JointEncoder:
    """`evaluator` with its `checkpoint`, or another joint encoder by its name."""
    if name == EVALUATOR:
        if checkpoint is None:
            raise ValueError("the evaluator as an encoder needs its checkpoint")
        return EvaluatorEncoder(checkpoint)
    return load_joint(name)


def write_movie_features(
    movies: Mapping[str, str | Path], encoder: JointEncoder, name: str, fps: float, batch: int, output: str | Path
) -> dict[str, str]:
    """Write float16 frame features [frames, dim] per movie; returns {movie: reason} of movies that cannot be read.

    Frame i is the one on the screen at i / fps seconds. Frames are decoded ahead and encoded as they come: a movie of
    two hours takes the memory of a batch and of its features.
    """
    failed: dict[str, str] = {}
    step = max(1, batch // encoder.together) * encoder.together
    progress = Progress("movie features", len(movies), "movies")

    def items() -> Iterator[tuple[str, np.ndarray, Mapping]]:
        for movie, path in movies.items():
            batches = []
            try:
                for frames in prefetch(_batches(path, encoder, fps, step)):
                    batches.append(encoder(frames).astype(np.float16))
            except VideoError as error:
                log.warning("movie features: %s", error)
                failed[movie] = error.reason
            else:
                yield movie, np.concatenate(batches), {}
            progress.step()
        progress.finish()

    write_features(output, {"backbone": name, "dim": encoder.dim, "fps": fps}, items())
    return failed


def _batches(path: str | Path, encoder: JointEncoder, fps: float, step: int) -> Iterator[np.ndarray]:
    frames: list[np.ndarray] = []
    size: object = encoder.size
    if encoder.crop:
        from verified.features.video import _decoded_size, _middle_square
        from verified.io.video import probe

        size = _decoded_size(probe(path), encoder)
    for _, frame in iterate_frames(path, fps=fps, size=size):
        frames.append(_middle_square(frame, encoder.size) if encoder.crop else frame)
        if len(frames) == step:
            yield np.stack(frames)
            frames = []
    if frames:
        yield np.stack(frames)


def write_sentence_features(
    rows: Sequence[dict], encoder: JointEncoder, name: str, batch: int, tokens: str | Path, sentences: str | Path
) -> None:
    """Write float16 token features [L, dim] and sentence features [1, dim] per annotation id; equal texts once."""
    texts = sorted({row["sentence"] for row in rows}, key=lambda text: (len(text), text))
    features: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    progress = Progress("sentence features", len(texts), "sentences")
    for start in range(0, len(texts), batch):
        batch_texts = texts[start : start + batch]
        features |= {
            text: (states.astype(np.float16), whole[None].astype(np.float16))
            for text, (states, whole) in zip(batch_texts, encoder.sentences(batch_texts), strict=True)
        }
        progress.step(len(batch_texts))
    progress.finish()
    attributes = {"backbone": name, "dim": encoder.dim}
    for kind, path in enumerate((tokens, sentences)):
        write_features(path, attributes, ((row["id"], features[row["sentence"]][kind], {}) for row in rows))
