"""The packaged joint encoder as an engine of the role `embed`, without hub or endpoint."""

import time
from collections.abc import Iterable, Iterator

import numpy as np
from PIL import Image

from verified.config.generation import EngineSettings, Generation
from verified.features.encoders import fit
from verified.features.packaged import TEMPERATURE, PackagedJoint
from verified.lmm.request import Reply, Request
from verified.lmm.tasks.embedding import vector_text


def make(role: EngineSettings, generation: Generation) -> "PackagedVectors":
    """The engine `packaged-joint` of a role."""
    return PackagedVectors(role.model, generation.threads)


class PackagedVectors:
    """Engine `packaged-joint`; its networks are loaded with the first question.

    Requests go through the networks one at a time: beside others, the last digits of a vector change.
    """

    name = "packaged-joint"

    def __init__(self, model: str, threads: int = 1):
        self.model, self.threads = model, threads
        self.revision = f"temperature {TEMPERATURE:g}"
        self._encoder: PackagedJoint | None = None

    def answer(self, requests: Iterable[Request]) -> Iterator[Reply]:
        """Yield one reply per request, in order."""
        import torch

        for request in requests:
            started = time.monotonic()
            if self._encoder is None:
                torch.set_num_threads(self.threads)
                self._encoder = PackagedJoint()
            if request.frames is None:
                vectors = self._encoder.whole_sentences([request.prompt])
            else:
                vectors = self._encoder(np.stack([fit(Image.fromarray(request.frames[0]), self._encoder)]))
            yield Reply(vector_text(vectors[0]), seconds=time.monotonic() - started)
