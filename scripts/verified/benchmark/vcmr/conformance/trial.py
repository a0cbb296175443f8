"""A small model of one class with a synthetic corpus in memory, and how two of its answers are compared.

The corpus has one query per video, and clips that answer it. It replaces `Videos` (the object itself), `Queries` and
`Ranked`, in the form that a model class asks for.
"""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from verified.benchmark.vcmr.contract import Batch, Encoded, ModelConfig, RetrievalModel, Spans
from verified.benchmark.vcmr.data import Moments, normalise
from verified.benchmark.vcmr.ranked import Ranked
from verified.benchmark.vcmr.search import SearchSettings

COUNT, CLIPS, TOKENS, VIDEO_DIM, TEXT_DIM, WORDS = 8, 12, 8, 16, 14, 30
SECOND_DIM = 5
"""Of `VIDEO_DIM`, for models that read a second stream."""


class _Queries:
    """Padded tokens and mask of all queries, by index."""

    def __init__(self, tokens: Tensor, mask: Tensor):
        self.tokens, self.mask = tokens, mask

    def __len__(self) -> int:
        return len(self.tokens)

    def batch(self, index: np.ndarray) -> tuple[Tensor, Tensor]:
        return self.tokens[index], self.mask[index]


class SyntheticCorpus:
    """Eight videos of 1 to 12 clips and eight queries of 1 to 8 tokens; query i is about a part of video i.

    The shortest and the longest of both are among them, and moments that begin or end with their video.
    """

    count = COUNT
    context = CLIPS
    clip_seconds = np.ones(COUNT)

    def __init__(self, cls: type[RetrievalModel]):
        self.cls = cls
        draw = np.random.default_rng(11)
        self.clips = lengths = np.array([12, 1, 12, 7, 8, 9, 10, 11])
        starts, ends = np.array([0, 0, 8, 2, 5, 1, 3, 4]), np.array([3, 1, 12, 6, 8, 4, 8, 7])
        self.times = np.stack([starts, ends], axis=1).astype(float)
        clips = draw.normal(size=(COUNT, CLIPS, VIDEO_DIM))
        meaning = draw.normal(size=(COUNT, VIDEO_DIM))
        for video, (start, end) in enumerate(zip(starts, ends)):
            clips[video, start:end] += 2 * meaning[video]
        self._mask = torch.from_numpy(np.arange(CLIPS)[None] < lengths[:, None])
        streams = np.split(clips, [VIDEO_DIM - self.sizes["second_dim"]], axis=2)
        clips = np.concatenate([normalise(one) for one in streams], axis=2) if cls.normalise_video else clips
        self._clips = torch.from_numpy(clips.astype(np.float32)) * self._mask[:, :, None]
        self.queries = self._make_queries(draw)
        self.true_video = np.arange(COUNT)
        self.span = torch.tensor([cls.label(start, end, 1.0, int(n)) for (start, end), n in zip(self.times, lengths)])
        self.negatives = min(cls.recipe.negatives, 3) if cls.two_stage else 0
        self.searching = SearchSettings(
            min_pred_clips=0, max_pred_clips=6, searched_videos=5, rows=20, chunk=3, quiet=True
        )
        self.ranked = self._rank_videos(draw) if cls.two_stage else None

    def _make_queries(self, draw: np.random.Generator) -> _Queries:
        lengths = np.array([1, 8, 2, 5, 8, 3, 4, 6])
        mask = torch.from_numpy(np.arange(TOKENS)[None] < lengths[:, None])
        if self.cls.query_input == "ids":
            ids = torch.from_numpy(draw.integers(2, WORDS, (COUNT, TOKENS)))
            ids[:, 0] = self.sizes["cls_id"]
            return _Queries(ids * mask, mask)
        tokens = draw.normal(size=(COUNT, TOKENS, TEXT_DIM))
        tokens = (normalise(tokens) if self.cls.normalise_query else tokens).astype(np.float32)
        return _Queries(torch.from_numpy(tokens) * mask[:, :, None], mask)

    def _rank_videos(self, draw: np.random.Generator) -> Ranked:
        order = np.stack([draw.permutation(COUNT) for _ in range(COUNT)])
        cosine = np.sort(draw.uniform(-0.2, 0.8, (COUNT, COUNT)).astype(np.float32), axis=1)[:, ::-1].copy()
        return Ranked(np.arange(COUNT), order, cosine, [f"video{i}" for i in range(COUNT)])

    @property
    def sizes(self) -> dict[str, int]:
        """Config values fixed by the synthetic data."""
        sizes = {"video_dim": VIDEO_DIM, "text_dim": TEXT_DIM, "context_clips": CLIPS, "query_tokens": TOKENS}
        return {**sizes, "second_dim": SECOND_DIM * self.cls.second_stream, "vocabulary": WORDS, "cls_id": 1}

    @property
    def all_queries(self) -> tuple[Tensor, Tensor]:
        """Tokens [Q, L, dim] and mask [Q, L] of all queries."""
        return self.queries.tokens, self.queries.mask

    @property
    def all_videos(self) -> tuple[Tensor, Tensor]:
        """Clips [V, L, dim] and mask [V, L] of all videos."""
        return self._clips, self._mask

    def __len__(self) -> int:
        return COUNT

    def batch(self, index: np.ndarray) -> tuple[Tensor, Tensor]:
        """Clips [B, L, dim] and mask [B, L] of the videos at `index` [B], as `Videos.batch` gives them."""
        return self._clips[index], self._mask[index]

    def training_batch(self, seed: int = 0) -> Batch:
        """All queries with their videos and, for two-stage models, negatives that `seed` draws."""
        if not self.cls.two_stage:
            return Batch(*self.all_queries, *self.all_videos, self.span)
        slots = self.slots(seed)
        return Batch(*self.all_queries, self._clips[slots], self._mask[slots], self.span)

    def slots(self, seed: int = 0) -> Tensor:
        """[8, 1 + negatives] videos of each query in `training_batch(seed)` of a two-stage model, true one first."""
        draw = np.random.default_rng(seed)
        rows = [[i, *draw.permutation([j for j in range(COUNT) if j != i])[: self.negatives]] for i in range(COUNT)]
        return torch.tensor(np.array(rows))

    def moments(self, true_video: np.ndarray) -> Moments:
        """The queries as moments, with `true_video` [8] as their videos."""
        names = [f"video{i}" for i in range(COUNT)]
        return Moments(np.arange(COUNT), true_video, self.times, names, names, Path("corpus"))


TOLERANCE = 1e-4
"""Largest difference that rounding may make between one way of batching and another, relative to 1 + the number."""

Padded = tuple[Tensor, Tensor]
"""Padded inputs and their mask, of queries or of videos."""


class NonConformance(AssertionError):
    """A model breaks its contract; the message gives the violation."""


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

    def asks(self, name: str) -> bool:
        """Whether the model learns the answer of this name: starts and ends only where it localises."""
        return self.cls.localises or name not in ("span_logits: start", "span_logits: end")

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
        if next(model.parameters()).dtype == torch.float64:  # an encoder of fixed precision
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
    """The same in float64; token ids unchanged."""
    values, mask = padded
    return _to_float64(values), mask


def _to_float64(values: Tensor) -> Tensor:
    return values.double() if values.is_floating_point() else values


def close(first: Tensor, second: Tensor, tolerance: float = TOLERANCE) -> bool:
    """Whether two tensors [...] are equal up to rounding, relative to their magnitude; NaN equals nothing."""
    near = (first - second).abs() <= tolerance * (1 + second.abs())
    return bool((near | (first == second)).all())  # pads may hold minus infinity


def require_same(answers: Answers, expected: Answers, reason: str, same: Callable[[Tensor, Tensor], bool] = close):
    """Raise NonConformance, naming the answer that differs, unless all agree."""
    for (name, first), second in zip(answers.given().items(), expected.given().values()):
        require(first.shape == second.shape and same(first, second), f"{name}: {reason}")
