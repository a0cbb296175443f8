"""ReLoCLNet: video corpus moment retrieval with contrastive learning (Zhang et al., SIGIR 2021), video only.

The encoders of XML with two query blocks, three video blocks and, between the first two of them, self-attention of the
video in place of the attention to subtitles. q is the query vector, M and F the clips after block 2 and 3:

    video score = max_l cos(q, F_l),  start = Conv_5(W q · F_l),  end = Conv_5'(W q · F_l)
    FrameCL: r_l = q · M_l,  mean over other clips of (softplus(−r) + r − log 2) − mean over the moment's clips of
             (log 2 − softplus(−r))       (Jensen–Shannon bound on mutual information)
    VideoCL: s_ij = max_l q_i · M_jl,  log(Σ_j e^{s_ij} + Σ_j e^{s_ji}) − s_ii
    loss = 0.01 · (CE(start) + CE(end)) + hinge(video) + hinge(query) + 0.03 · FrameCL + 0.03 · VideoCL

Each hinge has one sampled negative per row (see XML). In VideoCL s_ii occurs twice in the sum, in FrameCL the moment
has one clip more than it covers (the exclusive end counts as inside); both are the published behaviour. So is that a
moment which ends with its video is labelled, and decoded, one clip short: the exclusive end would be behind it.

Differences from the official code
- Features made here are cast to float32 before they are normalised; officially float16 files are normalised in float16,
  which changes ranks. That is done for given features, and wherever `retrieval.feature_cast` is `official`.
- One stream: the class with subtitles, fed the video in their place with tied weights, is the same map.
- Videos are padded to the model's context length; the official code always pads to 128, so only data sets with
  `max_context_clips: 128` are padded equally. Pads attend to all positions equally and the kernels reach them, so the
  logits of a video's last two clips, and with them VCMR and SVMR lists, depend on that length (`padding_reach`).
- Of the published state dict, all subtitle parts are dropped (`from_official`).
- Suppression of overlapping spans reads (start, end); the official SVMR read (video, start).
- A video longer than the context is averaged into equal parts, as officially, but labels and times follow the parts.
- Spans are decoded and rows of zero probability dropped as search.py says. No anomaly detection around training.
"""

from dataclasses import dataclass
from math import log
from typing import ClassVar

import torch
import torch.nn.functional as F
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
    SelfAttention,
    initialise,
    zero_pads,
)
from verified.benchmark.vcmr.registry import register
from verified.benchmark.vcmr.scoring import OneVectorTail, max_over_clips, sampled_hinge, unit


@dataclass(frozen=True, kw_only=True)
class ReLoCLNetConfig(ModelConfig):
    """Widths and loss weights; defaults are the official ones."""

    hidden: int = 384
    heads: int = 8
    dropout: float = 0.1
    margin: float = 0.1
    span_weight: float = 0.01
    """Weight of start + end cross entropy."""
    frame_weight: float = 0.03
    """Weight of FrameCL."""
    video_weight: float = 0.03
    """Weight of VideoCL."""
    hard_from_epoch: int = 20
    """From this epoch on (counted from 0) negatives come from the hardest `hard_pool` of a row."""
    hard_pool: int = 20
    alpha: float = 30.0
    """A video weighs exp(alpha · cosine)."""


@register("reloclnet")
class ReLoCLNet(OneVectorTail, RetrievalModel):
    """See the head of this file. Shapes as in contract.py, D = `hidden`."""

    config: ReLoCLNetConfig
    Config = ReLoCLNetConfig
    kernels = ("merged_st_predictor", "merged_ed_predictor")
    recipe = Recipe(
        optimiser="bertadam",
        learning_rate=1e-4,
        batch=128,
        epochs=100,
        patience=10,
        warmup=0.01,
        schedule="linear",
    )
    small: ClassVar[dict[str, int | float]] = {"hidden": 64, "heads": 4}
    long_videos = "pool"
    label = staticmethod(exclusive_end)
    decoded_end = 0
    published_end = (0, -1)
    padding_reach = 2

    def __init__(self, config: ReLoCLNetConfig):
        super().__init__(config)
        hidden, heads, dropout = config.hidden, config.heads, config.dropout
        self.query_pos_embed = LearnedPositions(config.query_tokens, hidden, dropout)
        self.ctx_pos_embed = LearnedPositions(config.context_clips, hidden, dropout)
        self.query_input_proj = InputProjection(config.text_dim, hidden, dropout)
        self.query_encoder = AttentionBlock(hidden, heads, dropout)
        self.query_encoder1 = AttentionBlock(hidden, heads, dropout)
        self.video_input_proj = InputProjection(config.video_dim, hidden, dropout)
        self.video_encoder1 = AttentionBlock(hidden, heads, dropout)
        self.video_encoder2 = AttentionBlock(hidden, heads, dropout)
        self.video_encoder3 = AttentionBlock(hidden, heads, dropout)
        self.video_cross_att = SelfAttention(hidden, heads, dropout)
        self.video_cross_layernorm = nn.LayerNorm(hidden)
        self.video_query_linear = nn.Linear(hidden, hidden)
        self.modular_vector_mapping = nn.Linear(hidden, 1, bias=False)
        self.merged_st_predictor = nn.Conv1d(1, 1, 5, padding=2, bias=False)
        self.merged_ed_predictor = nn.Conv1d(1, 1, 5, padding=2, bias=False)
        initialise(self)

    @classmethod
    def from_official(cls, state: dict[str, Tensor]) -> dict[str, Tensor]:
        """The published video + subtitle state dict without ``sub_*``, with the video's row of the pooling alone."""
        state = {key: value for key, value in super().from_official(state).items() if not key.startswith("sub_")}
        return state | {"modular_vector_mapping.weight": state["modular_vector_mapping.weight"][:1]}

    def query_tokens(self, query: Tensor, mask: Tensor) -> Tensor:
        tokens = self.query_encoder(self.query_pos_embed(self.query_input_proj(zero_pads(query, mask))), mask)
        return self.query_encoder1(tokens, mask)

    def video_features(self, video: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Clips after block 1, after block 2 (M) and after block 3 (F); [V, L, F] → each [V, L, D]."""
        clips = self.ctx_pos_embed(self.video_input_proj(zero_pads(video, mask)))
        first = self.video_encoder1(clips, mask)
        pairs = mask[:, :, None] & mask[:, None, :]
        attended = self.video_cross_layernorm(self.video_cross_att(first, pairs) + first)
        middle = self.video_encoder2(attended, mask)
        return first, middle, self.video_encoder3(middle, mask)

    def encode_videos(self, video: Tensor, mask: Tensor) -> Encoded:
        _, _, final = self.video_features(video, mask)
        return {"unit": unit(final), "localised": final, "mask": mask}

    def losses(self, batch: Batch, *, epoch: int, step: int, generator: torch.Generator) -> dict[str, Tensor]:
        queries = self.encode_queries(batch.query, batch.query_mask)
        _, middle, final = self.video_features(batch.video, batch.video_mask)
        span = self.span_loss(queries["localiser"], final, batch)
        scores = max_over_clips(queries["unit"], unit(final), batch.video_mask)
        pool = self.config.hard_pool if epoch >= self.config.hard_from_epoch else None
        negative_video, negative_query = sampled_hinge(scores, self.config.margin, pool, generator)
        frames = torch.einsum("nd,nld->nl", queries["vector"], middle)
        losses = {
            "span": self.config.span_weight * span,
            "frame": self.config.frame_weight * frame_contrast(frames, batch.span, batch.video_mask),
            "video": self.config.video_weight
            * video_contrast(max_over_clips(queries["vector"], middle, batch.video_mask)),
            "negative_video": negative_video,
            "negative_query": negative_query,
        }
        return add_total(losses)


def frame_contrast(products: Tensor, span: Tensor, mask: Tensor) -> Tensor:
    """FrameCL: clips of the moment against the other clips of its video.

    `products` [N, L] of query and clips, `span` [N, 2] first and last clip (both inside), `mask` [N, L] → scalar.
    """
    clips = torch.arange(products.shape[1], device=products.device)
    inside = (clips >= span[:, :1]) & (clips <= span[:, 1:])
    softplus = F.softplus(-products)
    positive = _masked_mean(log(2) - softplus, inside & mask)
    negative = _masked_mean(softplus + products - log(2), ~inside & mask)
    return (negative - positive).mean()


def video_contrast(scores: Tensor) -> Tensor:
    """VideoCL over matched pairs; `scores` [N, N] with the pairs on the diagonal → scalar."""
    both = torch.cat([scores, scores.T], dim=1)
    return (torch.logsumexp(both, dim=1) - scores.diagonal()).mean()


def _masked_mean(values: Tensor, chosen: Tensor) -> Tensor:
    """Mean of each row over the chosen entries (0 without any); [N, L] → [N]."""
    return (values * chosen).sum(dim=1) / (chosen.sum(dim=1) + 1e-12)
