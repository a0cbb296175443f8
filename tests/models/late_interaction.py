"""A ranker of videos by late interaction (ColBERT's MaxSim), in a file of its own: it finds no spans."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from verified.benchmark.vcmr.contract import Batch, Encoded, ModelConfig, Recipe, RetrievalModel
from verified.benchmark.vcmr.registry import register


@dataclass(frozen=True, kw_only=True)
class LateInteractionConfig(ModelConfig):
    width: int = 64
    temperature: float = 0.05


@register("late_interaction")
class LateInteraction(RetrievalModel):
    """Video score: mean over tokens of the largest cosine with a clip."""

    title = "Late interaction"
    Config = LateInteractionConfig
    recipe = Recipe(optimiser="adamw", learning_rate=1e-3, batch=32, epochs=20, patience=5)
    localises = False

    def __init__(self, config: LateInteractionConfig):
        super().__init__(config)
        self.text = nn.Linear(config.text_dim, config.width, bias=False)
        self.clip = nn.Linear(config.video_dim, config.width, bias=False)

    def encode_queries(self, query: Tensor, mask: Tensor) -> Encoded:
        tokens = F.normalize(self.text(query), dim=2).masked_fill(~mask.unsqueeze(2), 0)
        return {"tokens": tokens, "mask": mask}

    def encode_videos(self, video: Tensor, mask: Tensor) -> Encoded:
        return {"clips": F.normalize(self.clip(video), dim=2), "mask": mask}

    def video_scores(self, queries: Encoded, videos: Encoded) -> Tensor:
        cosines = torch.einsum("qtd,vld->qvtl", queries["tokens"], videos["clips"])
        nearest = cosines.masked_fill(~videos["mask"][:, None], -2).amax(dim=3)
        return nearest.masked_fill(~queries["mask"][:, None], 0).sum(dim=2) / queries["mask"].sum(dim=1)[:, None]

    def video_weights(self, scores: Tensor) -> Tensor:
        return torch.exp(scores / self.config.temperature)

    def losses(self, batch: Batch, *, epoch: int, step: int, generator: torch.Generator) -> dict[str, Tensor]:
        queries, videos = (
            self.encode_queries(batch.query, batch.query_mask),
            self.encode_videos(batch.video, batch.video_mask),
        )
        scores = self.video_scores(queries, videos) / self.config.temperature
        own = torch.arange(len(scores), device=scores.device)
        loss = F.cross_entropy(scores, own) + F.cross_entropy(scores.T, own)
        return {"contrast": loss, "total": loss}
