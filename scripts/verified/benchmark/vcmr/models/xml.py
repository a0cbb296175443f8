"""XML, video only: Cross-modal Moment Localisation (Lei et al., "TVR: A Large-Scale Dataset for Video-Subtitle Moment
Retrieval", ECCV 2020), in the form without subtitles.

A query becomes one vector (projection, positions, attention block, attention pooling). A video becomes two sequences of
clip vectors: one for retrieval (video score = maximum cosine over clips), one for localisation (start and end logits =
kernel-5 convolutions over the products of query and clips). Losses: 0.01 · (start + end cross entropy) and two hinge
terms with one sampled negative per row.

Differences from the official code that change numbers:
- Features made here are cast to float32 before they are normalised; officially float16 files are normalised in float16,
  which changes ranks. That is done for given features, and wherever `retrieval.feature_cast` is `official`.
- Videos are padded to the model's context length, officially to the longest of their batch: of a training step, and of
  200 videos in search. The kernels see computed pads, so the logits of the last two clips differ for videos that are,
  or nearly are, the longest of an official batch, and with them the order of VCMR and SVMR lists: of 1,600 rows of
  VCMR from the official script for the tests' videos, 425 have the same rank here, and all of them with
  `retrieval.padding: official`. In the default no answer depends on batch mates.
- Spans are decoded and rows of zero probability dropped as search.py says.
- Sampled ranks come from a generator of the training loop, in the official order of draws; so do seeds of dropout.

Masks are boolean, which has no effect. Omitted: the subtitle stream, cross attention and merging of streams (the
video-only mode alone is built), the unused cosine position option, the log-sum-exp loss.

The label of the end is one clip late and decoding adds one more (`exclusive_end`, `decoded_end = 1`): spans come out
one clip too long, except those that end with their video. This reproduces the published behaviour.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from verified.benchmark.vcmr.contract import (
    Batch,
    Encoded,
    ModelConfig,
    Recipe,
    RetrievalModel,
    add_total,
    exclusive_end,
)
from verified.benchmark.vcmr.layers import (
    AttentionBlock,
    InputProjection,
    LearnedPositions,
    initialise,
    zero_pads,
)
from verified.benchmark.vcmr.registry import register
from verified.benchmark.vcmr.scoring import OneVectorTail, sampled_hinge, unit


@dataclass(frozen=True, kw_only=True)
class XMLConfig(ModelConfig):
    """Widths and loss weights; defaults are the official ones."""

    hidden: int = 256
    heads: int = 4
    dropout: float = 0.1
    margin: float = 0.1
    span_weight: float = 0.01
    """Weight of start + end cross entropy (lw_st_ed)."""
    hard_from_epoch: int = 20
    """From this epoch on (counted from 0) negatives come from the hardest `hard_pool` of a row."""
    hard_pool: int = 20
    alpha: float = 20.0
    """A video weighs exp(alpha · cosine)."""


@register("xml")
class XML(OneVectorTail, RetrievalModel):
    """See the head of this file. Shapes as in contract.py, D = `hidden`."""

    config: XMLConfig
    Config = XMLConfig
    small: ClassVar[dict[str, int]] = {"hidden": 64, "heads": 4}
    label = staticmethod(exclusive_end)
    published_end = (1, 0)
    official_batch = 200
    recipe = Recipe(
        optimiser="bertadam",
        learning_rate=1e-4,
        batch=128,
        epochs=100,
        patience=10,
        warmup=0.01,
        schedule="linear",
    )

    def __init__(self, config: XMLConfig):
        super().__init__(config)
        hidden, heads, dropout = config.hidden, config.heads, config.dropout
        self.query_pos_embed = LearnedPositions(config.query_tokens, hidden, dropout)
        self.ctx_pos_embed = LearnedPositions(config.context_clips, hidden, dropout)
        self.query_input_proj = InputProjection(config.text_dim, hidden, dropout)
        self.query_encoder = AttentionBlock(hidden, heads, dropout)
        self.video_input_proj = InputProjection(config.video_dim, hidden, dropout)
        self.video_encoder1 = AttentionBlock(hidden, heads, dropout)
        self.video_encoder2 = AttentionBlock(hidden, heads, dropout)
        self.video_encoder3 = AttentionBlock(hidden, heads, dropout)
        self.video_query_linear = nn.Linear(hidden, hidden)
        self.video_st_predictor = nn.Conv1d(1, 1, 5, padding=2, bias=False)
        self.video_ed_predictor = nn.Conv1d(1, 1, 5, padding=2, bias=False)
        self.modular_vector_mapping = nn.Linear(hidden, 1, bias=False)
        initialise(self)

    def query_tokens(self, query: Tensor, mask: Tensor) -> Tensor:
        """Token vectors before pooling; [Q, T, E] → [Q, T, D]."""
        return self.query_encoder(self.query_pos_embed(self.query_input_proj(zero_pads(query, mask))), mask)

    def video_features(self, video: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Clip vectors for retrieval and for localisation; [V, L, F] → twice [V, L, D]."""
        first = self.video_encoder1(self.ctx_pos_embed(self.video_input_proj(zero_pads(video, mask))), mask)
        return first, self.video_encoder3(self.video_encoder2(first, mask), mask)

    def encode_videos(self, video: Tensor, mask: Tensor) -> Encoded:
        first, second = self.video_features(video, mask)
        return {"unit": unit(first), "localised": second, "mask": mask}

    def losses(self, batch: Batch, *, epoch: int, step: int, generator: torch.Generator) -> dict[str, Tensor]:
        queries = self.encode_queries(batch.query, batch.query_mask)
        videos = self.encode_videos(batch.video, batch.video_mask)
        span = self.span_loss(queries["localiser"], videos["localised"], batch)
        pool = self.config.hard_pool if epoch >= self.config.hard_from_epoch else None
        scores = self.video_scores(queries, videos)
        negative_video, negative_query = sampled_hinge(scores, self.config.margin, pool, generator)
        losses = {
            "span": self.config.span_weight * span,
            "negative_video": negative_video,
            "negative_query": negative_query,
        }
        return add_total(losses)
