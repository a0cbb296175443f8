"""Contract of a retrieval model with training and search. A new model is one file in `models/` that follows this page.

Two kinds of model exist. A one-stage model (XML, ReLoCLNet, HERO) scores every video of the corpus against a query and
then localises in the best ones. A two-stage model (CONQUER, SQuiDNet) gets a ranked list of videos per query and
processes each (query, video) pair jointly. `@register` of registry.py registers a model under its name.

Shapes: N items of a batch, Q queries, V videos, P pairs, K videos of a ranked list, L = `context_clips`, T = tokens, F
= video feature size, E = text feature size. Every video tensor is padded to L, independent of its batch mates (except
with `official_batch`).

Labels are the start and end clips of a span in seconds, by one of the three conventions in use. All take the moment's
start and end and the clip length c in seconds, and the number of clips L of the video; indices beyond the last clip
become L − 1.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from math import ceil, floor
from operator import add
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from verified.benchmark.vcmr.decode import Spans, best_spans, best_windows
from verified.config.retrieval import SELECTION_VIDEOS


def exclusive_end(start: float, end: float, clip_seconds: float, clips: int) -> tuple[int, int]:
    """XML and ReLoCLNet: floor(start/c) and ceil(end/c), one clip past the last one that the moment touches."""
    return _clip_span(floor(start / clip_seconds), ceil(end / clip_seconds), clips)


def inclusive_end(start: float, end: float, clip_seconds: float, clips: int) -> tuple[int, int]:
    """CONQUER and SQuiDNet: floor(start/c) and ceil(end/c) − 1, the last clip that the moment touches."""
    return _clip_span(floor(start / clip_seconds), ceil(end / clip_seconds) - 1, clips)


def inclusive_end_two_clips(start: float, end: float, clip_seconds: float, clips: int) -> tuple[int, int]:
    """HERO: as `inclusive_end`, but the end is at least one clip behind the start."""
    first = floor(start / clip_seconds)
    return _clip_span(first, max(ceil(end / clip_seconds) - 1, first + 1), clips)


def _clip_span(start: int, end: int, clips: int) -> tuple[int, int]:
    return min(start, clips - 1), min(end, clips - 1)


Encoded = dict[str, Tensor]
"""Encodings by name; the first axis of each tensor counts the queries or the videos."""


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Sizes that the data fix. A model's own config dataclass adds its widths, layers, loss weights and so on."""

    video_dim: int
    """F: size of a clip feature."""
    second_dim: int = 0
    """Size of its last part, which is of the second stream, for models that read one (`second_stream`); else 0."""
    text_dim: int
    """E: size of a token feature."""
    context_clips: int
    """L (max_ctx_l): most clips of a video, and rows of the position table."""
    query_tokens: int = 30
    """T: most tokens of a query, and rows of its position table."""
    vocabulary: int = 0
    """Size of the vocabulary, for models that read token ids (`query_input = "ids"`); 0 otherwise."""
    cls_id: int = 0
    """Token id of [CLS], for the same models."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The authors' training settings. The config may override any of it per model (`retrieval.training.MODEL`)."""

    optimiser: Literal["bertadam", "adamw"]
    learning_rate: float
    """Peak learning rate."""
    batch: int
    """Items per step."""
    epochs: int
    """Upper limit of passes over the training split."""
    steps: int | None = None
    """Steps of the optimiser; where given, they take the place of `epochs`."""
    patience: int
    """Training stops after more than this many epochs without improvement of VCMR 0.5/r1 + 0.7/r1, or of VR r1 where
    the model only ranks videos."""
    selection_videos: int = SELECTION_VIDEOS
    """Fewest validation videos for selecting an epoch. With fewer, the official code's rule picks one by chance, often
    the first: then all epochs are trained, and the last one is used.
    """
    weight_decay: float = 0.01
    betas: tuple[float, float] = (0.9, 0.999)
    warmup: float = 0.0
    """Warm-up as a share of all steps (0: none; applies to the linear schedule)."""
    schedule: Literal["constant", "linear"] = "constant"
    """Learning rate after the warm-up: constant, or falling linearly to zero at the last step."""
    clip_norm: float | None = None
    """Largest global gradient norm; None: no global clipping (BertAdam clips each tensor to norm 1 by itself)."""
    accumulate: int = 1
    """Batches per step of the optimiser."""
    drop_last: bool = False
    """Whether an incomplete last batch is omitted."""
    negatives: int = 0
    """Two-stage: negative videos per query, in slots 1… of `Batch.video`, drawn without replacement from the list."""
    negative_pool: int = 0
    """Two-stage: negatives are drawn from the first (rank of the ground truth + pool) entries."""


@dataclass
class Batch:
    """Matched query–video pairs."""

    query: Tensor
    """[N, T, E] token features, or [N, T] token ids for models with `query_input = "ids"`; in training, T is
    that of the longest query of the batch."""
    query_mask: Tensor
    """[N, T] bool, true for real tokens (each query has one at least)."""
    video: Tensor
    """[N, L, F]; for two-stage models [N, 1 + negatives, L, F] with the ground truth in slot 0."""
    video_mask: Tensor
    """[N, L] or [N, 1 + negatives, L] bool, true for real clips (each video has one at least)."""
    span: Tensor
    """[N, 2] start and end clip under the model's `label` convention."""

    def to(self, device: torch.device | str) -> "Batch":
        """The same batch on a device."""
        return Batch(**{name: value.to(device, non_blocking=True) for name, value in vars(self).items()})


def add_total(losses: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses with their sum as ``total``, as `RetrievalModel.losses` gives them."""
    return {**losses, "total": reduce(add, losses.values())}


class PublishedCode:
    """Habits of the authors' code, that their figures rest on; a model of your own leaves them as they are here."""

    label: ClassVar[Callable[[float, float, float, int], tuple[int, int]]] = staticmethod(inclusive_end)
    """Start and end clip of a moment: one of the functions of this module."""
    decoded_end: int = 1
    """A span of clips i…j is decoded as seconds i·c to (j + decoded_end)·c."""
    published_end: ClassVar[tuple[int, int]] = (0, 0)
    """Clips by which the authors' convention decodes the end of a perfect prediction late: of a moment inside its
    video, and of one that ends with it. (0, 0) is exact; a model of one's own has no reason for anything else."""
    padding_reach: ClassVar[int] = 0
    """Clips before a video's end whose logits depend, as published, on how far videos and queries are padded (with them
    `Spans.score`, if any). The head of the file gives the reason.
    """
    full_reach: ClassVar[int] = 0
    """The same of a video that fills its row, where the row gets its first pads."""
    official_batch: ClassVar[int | None] = None
    """Videos that the authors' search encodes together, padded to the longest of them; None if they pad to a fixed
    length. `retrieval.padding: official` does the same, else search pads `full_reach` clips more; each encoding of a
    video needs an axis of clips.
    """
    technical_options: ClassVar[tuple[str, ...]] = ()
    """Options of `Config` that change no number: how much is computed at once, say."""


class ModelDefaults(PublishedCode, nn.Module):
    """Parts that a model may have: their defaults do where it has none of its own."""

    title: ClassVar[str] = ""
    """Name in tables; without one, that of the file."""
    small: ClassVar[dict[str, int | float]] = {}
    """Options of `Config` for a corpus of a few hundred moments (the demo, the conformance kit): narrow, few layers."""
    query_input: ClassVar[Literal["features", "ids"]] = "features"
    """Token features from the features stage, or token ids ([CLS] first, no [SEP])."""
    normalise_query: ClassVar[bool] = True
    """Whether each token feature is divided by its norm + 1e-5."""
    normalise_video: ClassVar[bool] = True
    """Whether each clip feature is divided by its norm + 1e-5, each stream by itself."""
    second_stream: ClassVar[bool] = False
    """Whether clip features end with those of a second stream, such as subtitles: then F is the sum of both widths."""
    long_videos: ClassVar[Literal["truncate", "pool"]] = "truncate"
    """A video of more than L clips: its first L, or L means over equal parts."""
    untrained: ClassVar[Mapping[str, str]] = {}
    """Parameters that no loss reaches, by name, with the reason: those that the authors built and do not use."""
    localises: ClassVar[bool] = True
    """Whether the model learns spans. One that only ranks videos needs no `span_logits`, is selected on VR, and has
    dashes for VCMR and SVMR in tables; the conformance kit asks it for no spans."""
    two_stage: bool = False
    """Whether the model works on a given ranked list; then `video_scores` is never called."""
    rescores: bool = False
    """Two-stage: whether `Spans.score` replaces the scores of the list (and re-orders it)."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.config = config

    @classmethod
    def from_official(cls, state: dict[str, Tensor]) -> dict[str, Tensor]:
        """The authors' state dict as this model's: without the prefix of parallel training and the unused entries."""
        return {key.removeprefix("module."): value for key, value in state.items()}

    def initial_weights(self) -> None:
        """Called once before training, on the CPU: load pre-trained weights. Does nothing by default."""

    def pair_bytes(self) -> int:
        """Working memory of one pair in `span_logits`, roughly; search forms as many pairs at a time as it may hold."""
        return 64 * self.config.context_clips

    def best_spans(
        self, start: Tensor, end: Tensor, proposals: Tensor | None, weight: Tensor, limits: tuple[int, int], rows: int
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The `rows` best spans of each query over its K videos, best first: slot of the video, start and end in clips,
        and score, [Q, R] each; a score of 0 marks no span.

        `start`, `end` [Q, K, L] probabilities; `proposals` [Q, K, …] of `Spans`, windows by default; `weight` [Q, K] of
        `video_weights`; `limits` as of `decode.best_spans`, which answers where there are no proposals.
        """
        if proposals is not None:
            return best_windows(proposals, weight, rows)
        slot, first, last, score = best_spans(start, end, weight, *limits, rows)
        return slot, first, last + self.decoded_end, score


class RetrievalModel(ModelDefaults):
    """Base of all models, with the parts that each must have: its sizes and settings, and what search and training
    call. Two-stage models need no `video_scores`.

    Parameters have the names of the authors' state dict, so that their checkpoints load.
    """

    Config: ClassVar[type[ModelConfig]] = ModelConfig
    recipe: ClassVar[Recipe]

    def losses(self, batch: Batch, *, epoch: int, step: int, generator: torch.Generator) -> dict[str, Tensor]:
        """Scalar losses of a batch, already weighted; ``total`` is their sum and the one that is minimised.

        `epoch` and `step` count from 0. Every random draw other than dropout comes from `generator` (on the CPU).
        """
        raise NotImplementedError

    def encode_queries(self, query: Tensor, mask: Tensor) -> Encoded:
        """Encode Q queries ([Q, T, E] or [Q, T], and [Q, T] bool)."""
        raise NotImplementedError

    def encode_videos(self, video: Tensor, mask: Tensor) -> Encoded:
        """Encode V videos ([V, L, F] and [V, L] bool) without seeing a query.

        Must hold every tensor that `video_scores` and `span_logits` need, including ``mask``.
        """
        raise NotImplementedError

    def video_scores(self, queries: Encoded, videos: Encoded) -> Tensor:
        """One-stage: [Q, V] score of every video for every query."""
        raise NotImplementedError

    def span_logits(self, queries: Encoded, videos: Encoded, query_index: Tensor, video_index: Tensor) -> Spans:
        """Localise in P pairs: pair p is query ``query_index[p]`` in video ``video_index[p]`` ([P] int64 each).

        Pairs come sorted by video. A model that forms the product of a query vector and all clips uses
        `scoring.paired_products`; one that needs the encodings of each pair gathers them. Where the model only ranks
        videos (`localises = False`), all clips of a video are alike.
        """
        if self.localises:
            raise NotImplementedError
        mask = videos["mask"][video_index]
        alike = torch.zeros(mask.shape, device=mask.device).masked_fill(~mask, -1e10)
        return Spans(alike, alike)

    def video_weights(self, scores: Tensor) -> Tensor:
        """Factor of p_start · p_end of each listed video, from its score; [Q, K] → [Q, K], monotone.

        One-stage: `scores` are those of `video_scores`. Two-stage: the external scores of the list (already
        exp(20·cosine) or the cosine, as set by `retrieval.external_score`), or `Spans.score` if the model `rescores`.
        """
        raise NotImplementedError
