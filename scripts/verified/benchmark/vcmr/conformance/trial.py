"""A small model of one class with its synthetic corpus, and how two of its answers are compared."""

from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import torch
from torch import Tensor

from verified.benchmark.vcmr.contract import Batch, Encoded, ModelConfig, RetrievalModel, Spans
from verified.benchmark.vcmr.synthetic import SyntheticCorpus

TOLERANCE = 1e-4
"""Largest difference that rounding may make between one way of batching and another, relative to 1 + the number."""

Padded = tuple[Tensor, Tensor]
"""Padded inputs and their mask, of queries or of videos."""


class NonConformance(AssertionError):
    """A model breaks its contract; the message says how."""


def require(condition: object, reason: str) -> None:
    """Raise NonConformance with `reason` unless `condition` holds."""
    if not condition:
        raise NonConformance(reason)


class Answers(NamedTuple):
    """Everything that search takes from a model, for every pair of Q queries and V videos."""

    video_scores: Tensor | None
    """[Q, V]; None for two-stage models."""
    start: Tensor
    """[Q, V, L] logits."""
    end: Tensor
    """[Q, V, L] logits."""
    score: Tensor | None
    """[Q, V]; None where the model does not re-score."""

    def given(self) -> dict[str, Tensor]:
        """Answers of the model by their displayed names."""
        names = ("video_scores", "span_logits: start", "span_logits: end", "span_logits: score")
        return {name: value for name, value in zip(names, self) if value is not None}

    def of(self, queries: list[int] | slice, videos: list[int] | slice = slice(None)) -> "Answers":
        """The answers to some queries in some videos, in that order."""
        return Answers._make(None if answer is None else answer[queries][:, videos] for answer in self)


class Trial:
    """A small model of one class and a synthetic corpus in the form it asks for."""

    def __init__(self, cls: type[RetrievalModel], options: dict | None = None):
        self.cls, self.options = cls, {**cls.small, **(options or {})}
        self.corpus = SyntheticCorpus(cls)
        self.own_pairs = [(index, index) for index in range(self.corpus.count)]

    def config(self, **more: int | float) -> ModelConfig:
        """The config of a small model, with `more` sizes or options in the place of the usual ones."""
        return self.cls.Config(**{**self.corpus.sizes, **self.options, **more})

    def model(self, seed: int = 1, **more: int | float) -> RetrievalModel:
        """A fresh model in evaluation mode (no dropout)."""
        torch.manual_seed(seed)
        return self.cls(self.config(**more)).eval()

    def losses(self, model: RetrievalModel, batch: Batch, draws: int = 3, epoch: int = 0) -> dict[str, Tensor]:
        """Losses of a batch with a fresh generator."""
        generator = torch.Generator().manual_seed(draws)
        return model.losses(batch, epoch=epoch, step=epoch, generator=generator)

    def encode(
        self, model: RetrievalModel, queries: Padded | None = None, videos: Padded | None = None
    ) -> tuple[Encoded, Encoded]:
        """Encodings of these queries and videos, or of all of the synthetic corpus."""
        with torch.no_grad():
            encoded = model.encode_queries(*(queries or self.corpus.all_queries))
            both = encoded, model.encode_videos(*(videos or self.corpus.all_videos))
        if next(model.parameters()).dtype == torch.float64:  # an encoder that computes in a precision of its own
            queried, filmed = ({name: _to_float64(value) for name, value in encoded.items()} for encoded in both)
            return queried, filmed
        return both

    def spans(self, model: RetrievalModel, queries: Encoded, videos: Encoded, pairs: list[tuple[int, int]]) -> Spans:
        """Localisation of (query, video) pairs, given in any order; rows come back in that order."""
        order = sorted(range(len(pairs)), key=lambda pair: pairs[pair][1])
        query = torch.tensor([pairs[pair][0] for pair in order])
        video = torch.tensor([pairs[pair][1] for pair in order])
        with torch.no_grad():
            spans = model.span_logits(queries, videos, query, video)
        back = torch.tensor(order).argsort()
        return Spans._make(None if logits is None else logits[back] for logits in spans)

    def answers_of(self, model: RetrievalModel, queries: Encoded, videos: Encoded) -> Answers:
        """Answers of the model to encodings, each query with each video."""
        shape = (len(next(iter(queries.values()))), len(next(iter(videos.values()))))
        spans = self.spans(model, queries, videos, list(product(range(shape[0]), range(shape[1]))))
        scores = None
        if not self.cls.two_stage:
            with torch.no_grad():
                scores = model.video_scores(queries, videos)
        grids = (None if logits is None else logits.view(*shape, *logits.shape[1:]) for logits in spans[:3])
        return Answers._make((scores, *grids))

    def answers(self, model: RetrievalModel, queries: Padded | None = None, videos: Padded | None = None) -> Answers:
        """Answers of the model to these queries and videos, or to the whole synthetic corpus."""
        return self.answers_of(model, *self.encode(model, queries, videos))


def take(padded: Padded, index: list[int] | Tensor) -> Padded:
    """The queries or videos at `index`."""
    return padded[0][index], padded[1][index]


def to_float64(padded: Padded) -> Padded:
    """The same in float64; token ids as they are."""
    values, mask = padded
    return _to_float64(values), mask


def _to_float64(values: Tensor) -> Tensor:
    return values.double() if values.is_floating_point() else values


def close(first: Tensor, second: Tensor, tolerance: float = TOLERANCE) -> bool:
    """Whether two tensors [...] are equal but for rounding, relative to their numbers; NaN equals nothing."""
    near = (first - second).abs() <= tolerance * (1 + second.abs())
    return bool((near | (first == second)).all())  # pads may hold minus infinity


def require_same(answers: Answers, expected: Answers, reason: str, same: Callable[[Tensor, Tensor], bool] = close):
    """Raise NonConformance, naming the answer that differs, unless all agree."""
    for (name, first), second in zip(answers.given().items(), expected.given().values()):
        require(first.shape == second.shape and same(first, second), f"{name}: {reason}")
