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
    return PackagedVectors(role.model, role.batch_size, generation.threads)


class PackagedVectors:
    """Engine `packaged-joint`; its networks are loaded with the first question."""

    name = "packaged-joint"

    def __init__(self, model: str, batch: int, threads: int = 1):
        self.model, self.batch, self.threads = model, batch, threads
        self.revision = f"temperature {TEMPERATURE:g}"
        self._encoder: PackagedJoint | None = None

    def answer(self, requests: Iterable[Request]) -> Iterator[Reply]:
        """Yield one reply per request, in order; `batch` of one kind go through a network together."""
        for batch in of_one_kind(requests, self.batch):
            yield from self._answer(batch)

    def _answer(self, batch: list[Request]) -> Iterator[Reply]:
        import torch

        started = time.monotonic()
        if self._encoder is None:
            torch.set_num_threads(self.threads)
            self._encoder = PackagedJoint()
        shown = [request.frames[0] for request in batch if request.frames is not None]
        if shown:
            vectors = self._encoder(np.stack([fit(Image.fromarray(frame), self._encoder) for frame in shown]))
        else:
            vectors = self._encoder.whole_sentences([request.prompt for request in batch])
        seconds = (time.monotonic() - started) / len(batch)
        for vector in vectors:
            yield Reply(vector_text(vector), seconds=seconds)


def of_one_kind(requests: Iterable[Request], most: int) -> Iterator[list[Request]]:
    """Batches of at most `most` requests in their order, each of texts alone or of frames alone."""
    batch: list[Request] = []
    for request in requests:
        if batch and (len(batch) == most or (request.frames is None) != (batch[0].frames is None)):
            yield batch
            batch = []
        batch.append(request)
    if batch:
        yield batch
