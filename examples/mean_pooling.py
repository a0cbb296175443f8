"""A retrieval model of one's own, in one file: mean-pooled queries against projected clips.

To put it into the benchmark, add the path of this file to ``retrieval.models`` in the configuration: training, search,
intervals and its rows in the tables come by themselves. To see first whether it keeps the contract
(``verified/benchmark/vcmr/contract.py``):

    verified check-model examples/mean_pooling.py
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from verified.benchmark.vcmr.contract import Batch, Encoded, ModelConfig, Recipe, RetrievalModel, Spans
from verified.benchmark.vcmr.layers import zero_pads
from verified.benchmark.vcmr.registry import register
from verified.benchmark.vcmr.scoring import PAD, max_over_clips, paired_products, unit


@dataclass(frozen=True, kw_only=True)
class MeanPoolingConfig(ModelConfig):
    """Options that a configuration may set under ``retrieval.training.mean_pooling.options``."""

    hidden: int = 128
    temperature: float = 0.1


@register("mean_pooling")
class MeanPooling(RetrievalModel):
    """Video score: largest cosine of query and clip. Start and end: two linear maps of their product."""

    Config = MeanPoolingConfig
    recipe = Recipe(optimiser="adamw", learning_rate=1e-3, batch=64, epochs=40, patience=10)
    small: ClassVar[dict[str, int]] = {"hidden": 48}

    def __init__(self, config: MeanPoolingConfig):
        super().__init__(config)
        self.query = nn.Linear(config.text_dim, config.hidden)
        self.video = nn.Linear(config.video_dim, config.hidden)
        self.start = nn.Linear(config.hidden, config.hidden)
        self.end = nn.Linear(config.hidden, config.hidden)

    def encode_queries(self, query: Tensor, mask: Tensor) -> Encoded:
        shares = mask.unsqueeze(2) / mask.sum(dim=1)[:, None, None]
        vector = self.query((zero_pads(query, mask) * shares).sum(dim=1))
        return {"unit": unit(vector), "start": self.start(vector), "end": self.end(vector)}

    def encode_videos(self, video: Tensor, mask: Tensor) -> Encoded:
        clips = self.video(zero_pads(video, mask))
        return {"unit": unit(clips), "clips": clips, "mask": mask}

    def video_scores(self, queries: Encoded, videos: Encoded) -> Tensor:
        return max_over_clips(queries["unit"], videos["unit"], videos["mask"])

    def span_logits(self, queries: Encoded, videos: Encoded, query_index: Tensor, video_index: Tensor) -> Spans:
        start, end = (
            paired_products(queries[name], videos["clips"], query_index, video_index) for name in ("start", "end")
        )
        pads = ~videos["mask"][video_index]
        return Spans(start.masked_fill(pads, PAD), end.masked_fill(pads, PAD))

    def video_weights(self, scores: Tensor) -> Tensor:
        return torch.exp(scores / self.config.temperature)

    def losses(self, batch: Batch, *, epoch: int, step: int, generator: torch.Generator) -> dict[str, Tensor]:
        queries = self.encode_queries(batch.query, batch.query_mask)
        videos = self.encode_videos(batch.video, batch.video_mask)
        own = torch.arange(len(batch.span), device=batch.span.device)
        spans = self.span_logits(queries, videos, own, own)
        span = F.cross_entropy(spans.start, batch.span[:, 0]) + F.cross_entropy(spans.end, batch.span[:, 1])
        retrieval = F.cross_entropy(self.video_scores(queries, videos) / self.config.temperature, own)
        return {"span": span, "retrieval": retrieval, "total": span + retrieval}
