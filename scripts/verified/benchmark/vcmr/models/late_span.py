"""Late interaction with a span head: a small one-stage model of today, beside the five of the paper.

Nobody has published this very model. It joins what has proved itself: late interaction (every token of a query looks
for its clip; Khattab and Zaharia, "ColBERT", SIGIR 2020), by which videos are ranked without seeing query and video
together; contrast between the clips of a moment and all others (Zhang et al., "ReLoCLNet", SIGIR 2021), by which the
same scores learn where in the video the words belong; and query-aware features as of CONQUER (Hou et al., ACM
Multimedia 2021), from which start and end are read in the best videos.

    q_t, v_l = BERT(LN(FC(·) + position))                  tokens of the query, clips of the video
    a_l = Σ_t g_t max_{|k − l| ≤ r} cos(q_t, v_k),         g = softmax_t(w · q_t): every token looks near clip l
    video score = max_l a_l
    u_l = Σ_t softmax_t(cos(q_t, v_l) / τ) q_t             what the query says to clip l
    c = BERT(FC([v; u; v ∘ u]) + w_a · a / τ)
    start, end = Conv_1(ReLU(Conv_5(c)))
    loss = InfoNCE(video scores / τ, both ways) − κ log Σ_{l in the moment} softmax(a / τ over all clips of the batch)
           + λ (cross entropy of start + of end)

FC(x) = ReLU(W · dropout(LN(x))), BERT one BERT layer. All scores are divided by the same learned τ, also in search:
exp(video score / τ) · p_start · p_end; the span's loss reads τ without training it. Clips behind a video's end are
zeros before the kernels, so no answer depends on how far a video or a query is padded.
"""

from dataclasses import dataclass
from functools import reduce
from math import log
from operator import add
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from verified.benchmark.vcmr.bert_layers import BertEncoder
from verified.benchmark.vcmr.contract import Batch, Encoded, ModelConfig, Recipe, RetrievalModel, Spans, add_total
from verified.benchmark.vcmr.labels import inclusive_end
from verified.benchmark.vcmr.layers import InputProjection, LearnedPositions, initialise, zero_pads
from verified.benchmark.vcmr.query_video import clip_logits, clip_scorer, computed_length, localise_in_chunks
from verified.benchmark.vcmr.registry import register
from verified.benchmark.vcmr.scoring import unit
from verified.nn.precision import whole

PAD = -1e4
"""Scores of pads: their softmax is 0."""
CLIPS_AT_ONCE = 16384
"""Clips of (query, video) pairs that are computed at once: some 15 vectors of D each."""


@dataclass(frozen=True, kw_only=True)
class LateSpanConfig(ModelConfig):
    """Widths and loss weights."""

    hidden: int = 256
    heads: int = 4
    feed_forward: int = 1024
    score_channels: int = 64
    """Channels between the two convolutions of start and end."""
    dropout: float = 0.1
    reach: int = 1
    """r: clips to either side of a clip in which a token may find its own."""
    temperature: float = 0.07
    """τ before training; it is learned."""
    clip_weight: float = 1.0
    """κ."""
    span_weight: float = 0.5
    """λ."""


@register("late_span")
class LateSpan(RetrievalModel):
    """See the head of this file. Shapes as in contract.py, D = `hidden`."""

    config: LateSpanConfig
    Config = LateSpanConfig
    recipe = Recipe(
        optimiser="adamw",
        learning_rate=5e-4,
        batch=64,
        epochs=60,
        patience=15,
        warmup=0.05,
        schedule="linear",
        clip_norm=1.0,
    )
    small: ClassVar[dict[str, int | float]] = {"hidden": 64, "heads": 4, "feed_forward": 128, "score_channels": 16}
    label = staticmethod(inclusive_end)

    def __init__(self, config: LateSpanConfig):
        super().__init__(config)
        hidden, dropout = config.hidden, config.dropout
        widths = (hidden, config.heads, config.feed_forward, dropout)
        self.query_projection = InputProjection(config.text_dim, hidden, dropout)
        self.query_positions = LearnedPositions(config.query_tokens, hidden, dropout)
        self.query_encoder = BertEncoder(1, *widths)
        self.video_projection = InputProjection(config.video_dim, hidden, dropout)
        self.video_positions = LearnedPositions(config.context_clips, hidden, dropout)
        self.video_encoder = BertEncoder(1, *widths)
        self.token_weight = nn.Linear(hidden, 1, bias=False)
        self.reader = InputProjection(3 * hidden, hidden, dropout)
        self.nearness = nn.Linear(1, hidden)
        self.context = BertEncoder(1, *widths)
        self.start, self.end = (clip_scorer(hidden, config.score_channels) for _ in range(2))
        self.log_temperature = nn.Parameter(torch.tensor(log(config.temperature)))
        initialise(self)

    def encode_queries(self, query: Tensor, mask: Tensor) -> Encoded:
        tokens = self.query_positions(self.query_projection(zero_pads(query, mask)))
        tokens = self.query_encoder(tokens, mask)
        weight = self.token_weight(tokens).squeeze(2).masked_fill(~mask, PAD).softmax(dim=1)
        return {"tokens": tokens, "unit": unit(tokens), "weight": weight, "mask": mask}

    def encode_videos(self, video: Tensor, mask: Tensor) -> Encoded:
        clips = self.video_positions(self.video_projection(zero_pads(video, mask)))
        clips = self.video_encoder(clips, mask)
        return {"tokens": clips, "unit": unit(clips), "mask": mask}

    def near(self, cosines: Tensor, mask: Tensor) -> Tensor:
        """Largest of the real clips within the reach of each clip; [..., N, L] and [N, L] → [..., N, L], pads 0."""
        width = 2 * self.config.reach + 1
        cosines = cosines.masked_fill(~mask, PAD)
        nearest = F.max_pool1d(cosines.flatten(0, -2), width, stride=1, padding=self.config.reach)
        return nearest.view(cosines.shape).masked_fill(~mask, 0.0)

    def clip_scores(self, queries: Encoded, videos: Encoded) -> Tensor:
        """a [Q, V, L] of every clip for every query, `PAD` at pads; token by token, so that no [Q, T, V, L] is held."""
        mask = videos["mask"]
        with whole(mask.device):
            clips = videos["unit"].float().flatten(0, 1).T
            of_tokens = (
                queries["weight"][:, t, None, None].float()
                * self.near((queries["unit"][:, t].float() @ clips).view(-1, *mask.shape), mask)
                for t in range(queries["mask"].shape[1])
            )
            scores = reduce(add, of_tokens)
        return scores.masked_fill(~mask, PAD)

    def video_scores(self, queries: Encoded, videos: Encoded) -> Tensor:
        return self.clip_scores(queries, videos).amax(dim=2)

    def localise(self, clips: Tensor, mask: Tensor, tokens: Tensor, token_mask: Tensor) -> Spans:
        """Start and end logits [P, L] of P pairs of clips [P, L, D] and tokens [P, T, D] with their masks."""
        length = computed_length(mask)
        clips, seen = clips[:, :length], mask[:, :length]
        cosines = (unit(tokens) @ unit(clips).transpose(1, 2)).to(tokens.dtype)  # [P, T, L']
        weight = self.token_weight(tokens).squeeze(2).masked_fill(~token_mask, PAD).softmax(dim=1)
        near = self.near(cosines.transpose(0, 1), seen).transpose(0, 1)
        scores = (weight.unsqueeze(2) * near).sum(dim=1)
        sharp = self.log_temperature.detach().exp()
        told = (cosines / sharp).masked_fill(~token_mask.unsqueeze(2), PAD).softmax(dim=1).transpose(1, 2) @ tokens
        joined = self.reader(torch.cat([clips, told, clips * told], dim=2))
        joined = joined + self.nearness((scores / sharp).unsqueeze(2))
        context = zero_pads(self.context(joined, seen), seen)
        return Spans(*(clip_logits(scorer, context, mask) for scorer in (self.start, self.end)))

    def losses(self, batch: Batch, *, epoch: int, step: int, generator: torch.Generator) -> dict[str, Tensor]:
        queries = self.encode_queries(batch.query, batch.query_mask)
        videos = self.encode_videos(batch.video, batch.video_mask)
        spans = self.localise(videos["tokens"], videos["mask"], queries["tokens"], queries["mask"])
        span = F.cross_entropy(spans.start, batch.span[:, 0]) + F.cross_entropy(spans.end, batch.span[:, 1])
        clips = self.clip_scores(queries, videos) / self.log_temperature.exp()
        scores = clips.amax(dim=2)
        positives = torch.arange(len(scores), device=scores.device)
        losses = {
            "retrieval": (F.cross_entropy(scores, positives) + F.cross_entropy(scores.T, positives)) / 2,
            "clip": self.config.clip_weight * self.clip_loss(clips, batch.span),
            "span": self.config.span_weight * span,
        }
        return add_total(losses)

    def clip_loss(self, clips: Tensor, span: Tensor) -> Tensor:
        """−log of the share of the moment's clips in a softmax over all clips of all videos; a/τ [N, N, L] → scalar."""
        share = clips.flatten(1).log_softmax(dim=1).view(clips.shape)
        of_positives = share.diagonal().T
        at = torch.arange(of_positives.shape[1], device=of_positives.device)
        inside = (at >= span[:, :1]) & (at <= span[:, 1:])
        return -of_positives.masked_fill(~inside, float("-inf")).logsumexp(dim=1).mean()

    def span_logits(self, queries: Encoded, videos: Encoded, query_index: Tensor, video_index: Tensor) -> Spans:
        return localise_in_chunks(self.localise, queries, videos, query_index, video_index, CLIPS_AT_ONCE)

    def pair_bytes(self) -> int:
        return 8 * self.config.hidden * (self.config.context_clips + self.config.query_tokens)

    def video_weights(self, scores: Tensor) -> Tensor:
        return torch.exp(scores / self.log_temperature.exp())
