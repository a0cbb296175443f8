"""Late interaction with moment queries: a small one-stage model of today, beside the five of the paper.

Nobody has published this very model. It joins two things that have proved themselves since: late interaction (every
token of a query looks for its clip; Khattab and Zaharia, "ColBERT", SIGIR 2020), by which videos are ranked without
seeing query and video together, and moment queries (a few learned vectors read the clips and each proposes a moment;
Lei et al., "QVHighlights" with Moment-DETR, NeurIPS 2021), by which moments are found in the best of them.

    q_t, v_l = BERT(FC(·) + position)                 tokens of the query, clips of the video
    video score = Σ_t g_t max_l cos(q_t, v_l),        g = softmax_t(w · q_t)
    c = BERT(X(v, q))                                 X: clips attend to tokens
    m = X(X(learned moment queries, c), c)            moment queries attend to clips
    p_start(l) = Σ_m π_m softmax_l(W_s m · c_l),      p_end likewise with W_e, π = softmax_m(w_π · m)
    loss = InfoNCE(video scores / τ, both ways) − λ (log p_start + log p_end at the moment)
           − μ log Σ_inside softmax_l(w_c · c_l)

Moment-DETR regresses centres and widths and assigns moment queries to moments by Hungarian matching. Here each query
points at clips and the mixture's likelihood does the assigning, since search wants start and end probabilities. The
last term is Moment-DETR's saliency: clips of the moment stand out from the others.
"""

from dataclasses import dataclass
from math import log
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from verified.retrieval.bert_layers import BertEncoder, Intermediate
from verified.retrieval.contract import Batch, Encoded, ModelConfig, Recipe, RetrievalModel, Spans
from verified.retrieval.labels import inclusive_end
from verified.retrieval.layers import (
    InputProjection,
    LearnedPositions,
    ResidualOutput,
    initialise,
    without_pads,
)
from verified.retrieval.query_video import localise_in_chunks
from verified.retrieval.registry import register
from verified.retrieval.scoring import max_over_clips, unit

PAD = -1e4
"""Logits of pads: their softmax is 0."""
CLIPS_AT_ONCE = 16384
"""Clips of (query, video) pairs that are computed at once: some 10 vectors of D each."""


@dataclass(frozen=True, kw_only=True)
class LateSpanConfig(ModelConfig):
    """Widths and loss weights."""

    hidden: int = 256
    heads: int = 4
    feed_forward: int = 1024
    moments: int = 4
    """Moment queries: proposals that share the probability of start and end."""
    dropout: float = 0.1
    temperature: float = 0.07
    """τ before training; it is learned."""
    span_weight: float = 0.2
    """λ."""
    saliency_weight: float = 0.1
    """μ."""


class CrossBlock(nn.Module):
    """X: attention of [N, S, D] to a memory [N, M, D] (mask [N, M]), residuals, feed-forward part; → [N, S, D]."""

    def __init__(self, hidden: int, heads: int, feed_forward: int, dropout: float):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.query, self.key, self.value = (nn.Linear(hidden, hidden) for _ in range(3))
        self.attended = ResidualOutput(hidden, hidden, dropout)
        self.intermediate = Intermediate(hidden, feed_forward)
        self.output = ResidualOutput(feed_forward, hidden, dropout)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        split = (len(x), -1, self.heads, x.shape[2] // self.heads)
        parts = ((self.query, x), (self.key, memory), (self.value, memory))
        q, k, v = (part(of).view(split).transpose(1, 2) for part, of in parts)
        dropout = self.dropout if self.training else 0.0
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None], dropout_p=dropout)
        x = self.attended(out.transpose(1, 2).reshape(x.shape), x)
        return self.output(self.intermediate(x), x)


@register("late_span")
class LateSpan(RetrievalModel):
    """See the head of this file. Shapes as in contract.py, D = `hidden`, M = `moments`."""

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
    small: ClassVar[dict[str, int | float]] = {"hidden": 64, "heads": 4, "feed_forward": 128}
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
        self.reader = CrossBlock(*widths)
        self.context = BertEncoder(1, *widths)
        self.moments = nn.Embedding(config.moments, hidden)
        self.decoder = nn.ModuleList(CrossBlock(*widths) for _ in range(2))
        self.start, self.end = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.share = nn.Linear(hidden, 1, bias=False)
        self.saliency = nn.Linear(hidden, 1, bias=False)
        self.log_temperature = nn.Parameter(torch.tensor(log(config.temperature)))
        initialise(self)
        nn.init.normal_(self.moments.weight)  # at the usual 0.02 the proposals start, and stay, alike

    def encode_queries(self, query: Tensor, mask: Tensor) -> Encoded:
        tokens = self.query_positions(self.query_projection(without_pads(query, mask)))
        tokens = self.query_encoder(tokens, mask)
        weight = self.token_weight(tokens).squeeze(2).masked_fill(~mask, PAD).softmax(dim=1)
        return {"tokens": tokens, "unit": unit(tokens), "weight": weight, "mask": mask}

    def encode_videos(self, video: Tensor, mask: Tensor) -> Encoded:
        clips = self.video_positions(self.video_projection(without_pads(video, mask)))
        clips = self.video_encoder(clips, mask)
        return {"tokens": clips, "unit": unit(clips), "mask": mask}

    def video_scores(self, queries: Encoded, videos: Encoded) -> Tensor:
        """Token by token, so that no [Q, T, V, L] is ever held; pads weigh nothing."""
        return sum(
            queries["weight"][:, t, None] * max_over_clips(queries["unit"][:, t], videos["unit"], videos["mask"])
            for t in range(queries["mask"].shape[1])
        )

    def read(self, clips: Tensor, mask: Tensor, tokens: Tensor, token_mask: Tensor) -> Tensor:
        """c of P pairs: clips [P, L, D] and tokens [P, T, D] with their masks → [P, L, D]."""
        return self.context(self.reader(clips, tokens, token_mask), mask)

    def localise(self, clips: Tensor, mask: Tensor, tokens: Tensor, token_mask: Tensor) -> Spans:
        """Logarithms of start and end probabilities [P, L] of P pairs."""
        return self.spans_of(self.read(clips, mask, tokens, token_mask), mask)

    def spans_of(self, context: Tensor, mask: Tensor) -> Spans:
        """The mixture of what the moment queries propose, from c [P, L, D]."""
        moments = self.moments.weight.expand(len(context), -1, -1)
        for block in self.decoder:
            moments = block(moments, context, mask)
        shares = self.share(moments).log_softmax(dim=1)
        scale = self.config.hidden**-0.5
        logits = []
        for part in (self.start, self.end):
            pointed = scale * part(moments) @ context.transpose(1, 2)
            proposals = pointed.masked_fill(~mask[:, None], PAD).log_softmax(dim=2)
            logits.append((shares + proposals).logsumexp(dim=1).masked_fill(~mask, PAD))
        return Spans(*logits)

    def losses(self, batch: Batch, *, epoch: int, step: int, generator: torch.Generator) -> dict[str, Tensor]:
        queries = self.encode_queries(batch.query, batch.query_mask)
        videos = self.encode_videos(batch.video, batch.video_mask)
        context = self.read(videos["tokens"], videos["mask"], queries["tokens"], queries["mask"])
        spans = self.spans_of(context, batch.video_mask)
        span = F.cross_entropy(spans.start, batch.span[:, 0]) + F.cross_entropy(spans.end, batch.span[:, 1])
        scores = self.video_scores(queries, videos) / self.log_temperature.exp()
        own = torch.arange(len(scores), device=scores.device)
        losses = {
            "retrieval": (F.cross_entropy(scores, own) + F.cross_entropy(scores.T, own)) / 2,
            "span": self.config.span_weight * span,
            "saliency": self.config.saliency_weight * self.saliency_loss(context, batch),
        }
        return losses | {"total": sum(losses.values())}

    def saliency_loss(self, context: Tensor, batch: Batch) -> Tensor:
        """−log of the share that the clips of the moment have in a softmax over all clips; c [N, L, D] → scalar."""
        share = self.saliency(context).squeeze(2).masked_fill(~batch.video_mask, PAD).log_softmax(dim=1)
        clips = torch.arange(share.shape[1], device=share.device)
        inside = (clips >= batch.span[:, :1]) & (clips <= batch.span[:, 1:])
        return -share.masked_fill(~inside, PAD).logsumexp(dim=1).mean()

    def span_logits(self, queries: Encoded, videos: Encoded, query_index: Tensor, video_index: Tensor) -> Spans:
        return localise_in_chunks(self.localise, queries, videos, query_index, video_index, CLIPS_AT_ONCE)

    def pair_bytes(self) -> int:
        return 8 * self.config.hidden * (self.config.context_clips + self.config.query_tokens)

    def video_weights(self, scores: Tensor) -> Tensor:
        return torch.exp(scores / self.log_temperature.exp())
