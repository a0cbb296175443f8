"""Models that sentence-transformers loads: vectors of texts, and of pictures where the model takes them."""

import dataclasses
import time
from collections.abc import Iterable, Iterator
from typing import Any

from verified.config.generation import EngineSettings, Generation
from verified.errors import InputError
from verified.lmm.engines.media import free_gpu_memory, pictures
from verified.lmm.request import Reply, Request
from verified.lmm.tasks.embedding import vector_text
from verified.nn.sentences import PACKAGED, encode


def make(role: EngineSettings, generation: Generation) -> "SentenceVectors":
    """The engine `sentence-transformers` of a role."""
    return SentenceVectors(role, generation.threads)


class SentenceVectors:
    """Engine `sentence-transformers`; the model is loaded with the first question.

    The packaged all-MiniLM-L6-v2 needs no library. Raises InputError when the model cannot be loaded.
    """

    name = "sentence-transformers"

    def __init__(self, settings: EngineSettings, threads: int = 1):
        self.model, self.revision, self.settings, self.threads = settings.model, settings.revision, settings, threads
        self.gpu_share = settings.gpu_memory_share if settings.gpu else 0.0
        self.network: Any = None

    def release(self) -> None:
        """Give the GPU's memory back; the next question loads the model again."""
        if self.network is not None:
            self.network = None
            free_gpu_memory()

    def answer(self, requests: Iterable[Request]) -> Iterator[Reply]:
        """Yield one reply per request, in order; `batch` requests of one kind go through the model together."""
        for batch in of_one_kind(requests, self.settings.batch_size):
            started = time.monotonic()
            replies = self._texts(batch) if batch[0].frames is None else self._pictures(batch)
            seconds = (time.monotonic() - started) / len(batch)
            yield from (dataclasses.replace(reply, seconds=seconds) for reply in replies)

    def _texts(self, batch: list[Request]) -> list[Reply]:
        texts = [request.prompt for request in batch]
        vectors = encode(texts, threads=self.threads) if self.model == PACKAGED else self._encode(texts)
        return [_answer(vector) for vector in vectors]

    def _pictures(self, batch: list[Request]) -> list[Reply]:
        if self.model == PACKAGED:
            raise no_pictures(self.model, "it is a model of sentences")
        shown = [pictures(request)[0] for request in batch]
        try:
            return [_answer(vector) for vector in self._encode(shown)]
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise no_pictures(self.model, repr(error)[:200]) from None

    def _encode(self, inputs: list) -> Any:
        self._load()
        return self.network.encode(inputs, batch_size=len(inputs), normalize_embeddings=True, show_progress_bar=False)

    def _load(self) -> None:
        if self.network is not None:
            return
        import torch
        from sentence_transformers import SentenceTransformer

        torch.set_num_threads(self.threads)
        source = self.settings.folder or self.model
        revision = None if self.settings.folder else self.revision or None
        device = "cuda" if self.settings.gpu else "cpu"
        try:
            self.network = SentenceTransformer(source, device=device, revision=revision)
        except (OSError, ValueError, ImportError, RuntimeError) as error:
            raise InputError(
                f"the model {self.model!r} cannot be loaded: {error}",
                remedy="check `model`: a hub name, which `verified fetch` brings here, or a folder with weights",
            ) from None


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


def _answer(vector: Any) -> Reply:
    try:
        return Reply(vector_text(vector))
    except ValueError:
        return Reply("", "error", "no-direction", "the vector has no direction")


def no_pictures(model: str, why: str) -> InputError:
    """The error of a model that embeds texts alone, and is shown a frame."""
    return InputError(
        f"{model!r} gives no vectors of pictures: {why}",
        remedy="set generation.embed.shows to nothing, or name a model of pictures and texts, such as a CLIP",
    )
