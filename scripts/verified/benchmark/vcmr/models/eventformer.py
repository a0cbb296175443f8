"""EventFormer (Hou et al., "Event-aware Video Corpus Moment Retrieval", arXiv 2402.13566, ECIR 2026).

A video is ranked by its events, stretches of similar clips, beside its single clips; attention looks at neighbours.
Written from the published description; the authors' code was not at hand, and nothing was compared with it or with
their figures. The four parts are the paper's; how each is made in detail is our choice:

Events. Between clips l − 1 and l the kernel of ±1 on the diagonal of the matrix of cosines gives

    n_l = (mean cosine before l + mean cosine after l) / 2 − mean cosine across = ‖b − a‖² / 2

with b, a the means of the unit features of up to `kernel` clips to either side. An event begins where n_l is a local
maximum above the video's mean.

Hierarchical encoding, with anchor attention. f = A(LN(FC(video) + position)) for clips; e = A(LN(mean of f over the
event + position)) for events. A is a BERT layer in whose head h a position sees `anchor` · 2^h neighbours to either
side; the last head sees all.

Two branches of contrast. q = BERT(LN(FC(query) + position)) is pooled twice by learned attention, to q_f and q_e:

    video score = (1 − β) max_l cos(q_f, f_l) + β max_k cos(q_e, e_k)
    retrieval loss = InfoNCE of each branch, both ways; of the own video only clips and events of the moment count

Two tasks, each with its loss. c = BERT([FC([f; e of the clip's event]); q]) over clips and tokens together, and
start, end = Conv_1(ReLU(Conv_5(c))); their cross entropies run over the clips of the own video and of the `negatives`
videos of the batch that score highest. Items of a batch that share a video are no negatives of one another.

FC(x) = ReLU(W · dropout(LN(x))). All cosines are divided by one learned τ, also in search:
exp(video score / τ) · p_start · p_end.
"""

from dataclasses import dataclass
from math import log
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from verified.benchmark.vcmr.bert_layers import BertEncoder, BertLayer
from verified.benchmark.vcmr.contract import Batch, Encoded, ModelConfig, RetrievalModel, Spans, add_total
from verified.benchmark.vcmr.labels import inclusive_end
from verified.benchmark.vcmr.layers import (
    InputProjection,
    LearnedPositions,
    SelfAttention,
    attention_pooling,
    initialise,
    longest,
    zero_pads,
)
from verified.benchmark.vcmr.models.late_span import CLIPS_AT_ONCE, LateSpan
from verified.benchmark.vcmr.query_video import (
    clip_logits,
    clip_scorer,
    computed_length,
    localise_in_chunks,
    shared_cross_entropy,
)
from verified.benchmark.vcmr.registry import register
from verified.benchmark.vcmr.scoring import PAD, max_over_clips, unit
from verified.nn.precision import whole

DECIMALS = 4
"""Of the contrast between neighbours, so that equal contrasts are equal whatever a video is computed with."""


@dataclass(frozen=True, kw_only=True)
class EventFormerConfig(ModelConfig):
    """Widths and loss weights."""

    hidden: int = 256
    heads: int = 4
    feed_forward: int = 1024
    score_channels: int = 64
    """Channels between the two convolutions of start and end."""
    dropout: float = 0.1
    kernel: int = 2
    """Clips to either side of a clip whose features are contrasted."""
    anchor: int = 1
    """Neighbours to either side that a position sees in the first head."""
    event_share: float = 0.5
    """β."""
    temperature: float = 0.07
    """τ before training; it is learned."""
    negatives: int = 1
    """Other videos that starts and ends are contrasted with."""
    span_weight: float = 0.5
    """Weight of the loss of starts and ends."""


class AnchorAttention(SelfAttention):
    """Self-attention in whose head h a position sees `anchor` · 2^h neighbours to either side, in the last head all."""

    def __init__(self, hidden: int, heads: int, dropout: float, anchor: int):
        super().__init__(hidden, heads, dropout)
        self.anchor = anchor

    def attend(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
        """As that of the base, with neighbours alone; three times [N, S, D] and [N, S] → [N, S, D]."""
        at = torch.arange(query.shape[1], device=query.device)
        reach = self.anchor * 2 ** torch.arange(self.heads, device=query.device)
        near = (at[:, None] - at).abs() <= reach[:, None, None]
        near[-1] = True
        return super().attend(query, key, value, near & mask[:, None, None, :])


class AnchorLayer(BertLayer):
    """A BERT layer with anchor attention; [N, S, D] and a mask [N, S] → [N, S, D]."""

    def __init__(self, hidden: int, heads: int, feed_forward: int, dropout: float, anchor: int):
        super().__init__(hidden, heads, feed_forward, dropout)
        self.attention.self = AnchorAttention(hidden, heads, dropout, anchor)


def event_of_clips(video: Tensor, mask: Tensor, kernel: int) -> Tensor:
    """Number of the event that each clip belongs to, from 0; features [V, L, F] and [V, L] → [V, L] int64."""
    with whole(video.device):
        clips = unit(zero_pads(video, mask))
        at = torch.arange(mask.shape[1], device=mask.device)
        behind = at[:, None] - at  # [L, L]: how far the second clip lies before the first
        before, after = (
            (side & mask[:, None, :]).float()
            for side in ((behind > 0) & (behind <= kernel), (behind <= 0) & (-behind < kernel))
        )
        sides = before / before.sum(2, keepdim=True).clamp(min=1) - after / after.sum(2, keepdim=True).clamp(min=1)
        contrast = (sides @ clips).square().sum(dim=2) / 2
    inside = mask & (at > 0)
    contrast = contrast.masked_fill(~inside, 0.0).round(decimals=DECIMALS)
    mean = contrast.sum(dim=1, keepdim=True) / inside.sum(dim=1, keepdim=True).clamp(min=1)
    previous, following = F.pad(contrast, (1, 0))[:, :-1], F.pad(contrast, (0, 1))[:, 1:]
    begins = inside & (contrast > mean) & (contrast > previous) & (contrast >= following)
    return begins.long().cumsum(dim=1)


def same_video(video: Tensor) -> Tensor:
    """Which items of a batch have the same video; features without pads [N, L, F] → [N, N] bool."""
    sums = video.sum(dim=1)
    return (sums[:, None] == sums).all(dim=2)


@register("eventformer")
class EventFormer(RetrievalModel):
    """See the head of this file. Shapes as in contract.py, D = `hidden`; a video has at most L events."""

    config: EventFormerConfig
    Config = EventFormerConfig
    recipe = LateSpan.recipe
    small: ClassVar[dict[str, int | float]] = LateSpan.small
    label = staticmethod(inclusive_end)

    def __init__(self, config: EventFormerConfig):
        super().__init__(config)
        hidden, dropout = config.hidden, config.dropout
        widths = (hidden, config.heads, config.feed_forward, dropout)
        self.query_projection = InputProjection(config.text_dim, hidden, dropout)
        self.query_positions = LearnedPositions(config.query_tokens, hidden, dropout)
        self.query_encoder = BertEncoder(1, *widths)
        self.pooling = nn.Linear(hidden, 2, bias=False)
        self.video_projection = InputProjection(config.video_dim, hidden, dropout)
        self.clip_positions, self.event_positions = (
            LearnedPositions(config.context_clips, hidden, dropout) for _ in range(2)
        )
        self.clip_encoder, self.event_encoder = (AnchorLayer(*widths, config.anchor) for _ in range(2))
        self.reader = InputProjection(2 * hidden, hidden, dropout)
        self.joint = BertEncoder(1, *widths)
        self.start, self.end = (clip_scorer(hidden, config.score_channels) for _ in range(2))
        self.log_temperature = nn.Parameter(torch.tensor(log(config.temperature)))
        initialise(self)

    def encode_queries(self, query: Tensor, mask: Tensor) -> Encoded:
        tokens = self.query_positions(self.query_projection(zero_pads(query, mask)))
        tokens = self.query_encoder(tokens, mask)
        shares = self.pooling(tokens)
        for_clips, for_events = (unit(attention_pooling(tokens, shares[..., branch], mask)) for branch in range(2))
        return {"tokens": tokens, "for_clips": for_clips, "for_events": for_events, "mask": mask}

    def encode_videos(self, video: Tensor, mask: Tensor) -> Encoded:
        of_clip = event_of_clips(video, mask, self.config.kernel)
        clips = self.clip_positions(self.video_projection(zero_pads(video, mask)))
        clips = self.clip_encoder(clips, mask)
        members = F.one_hot(of_clip, mask.shape[1]).transpose(1, 2) * mask[:, None, :]  # [V, events, clips]
        count = members.sum(dim=2)
        events = (members / count.clamp(min=1).unsqueeze(2)).to(clips.dtype) @ zero_pads(clips, mask)
        events = self.event_encoder(self.event_positions(events), count > 0)
        own = events.gather(1, of_clip.unsqueeze(2).expand_as(events))
        return {
            "tokens": self.reader(torch.cat([clips, own], dim=2)),
            "clips": unit(clips),
            "events": unit(events),
            "event_mask": count > 0,
            "of_clip": of_clip,
            "mask": mask,
        }

    def video_scores(self, queries: Encoded, videos: Encoded) -> Tensor:
        of_clips = max_over_clips(queries["for_clips"], videos["clips"], videos["mask"])
        of_events = max_over_clips(queries["for_events"], videos["events"], videos["event_mask"])
        return torch.lerp(of_clips, of_events, self.config.event_share)

    def localise(self, clips: Tensor, mask: Tensor, tokens: Tensor, token_mask: Tensor) -> Spans:
        """Start and end logits [P, L] of P pairs of clips [P, L, D] and tokens [P, T, D] with their masks."""
        length, words = computed_length(mask), longest(token_mask)
        seen = torch.cat([mask[:, :length], token_mask[:, :words]], dim=1)
        context = self.joint(torch.cat([clips[:, :length], tokens[:, :words]], dim=1), seen)[:, :length]
        context = zero_pads(context, mask[:, :length])
        return Spans(*(clip_logits(scorer, context, mask) for scorer in (self.start, self.end)))

    def losses(self, batch: Batch, *, epoch: int, step: int, generator: torch.Generator) -> dict[str, Tensor]:
        queries = self.encode_queries(batch.query, batch.query_mask)
        videos = self.encode_videos(batch.video, batch.video_mask)
        at = torch.arange(batch.video_mask.shape[1], device=batch.span.device)
        clips = (at >= batch.span[:, :1]) & (at <= batch.span[:, 1:])
        first, last = (videos["of_clip"].gather(1, batch.span[:, side : side + 1]) for side in range(2))
        events = (at >= first) & (at <= last)
        same = same_video(zero_pads(batch.video, batch.video_mask))
        others = same & ~torch.eye(len(same), dtype=torch.bool, device=same.device)
        return add_total(
            {
                "clip": self.contrast(queries["for_clips"], videos["clips"], videos["mask"], clips, others),
                "event": self.contrast(queries["for_events"], videos["events"], videos["event_mask"], events, others),
                "span": self.config.span_weight * self.span_loss(queries, videos, batch.span, same),
            }
        )

    def contrast(self, queries: Tensor, units: Tensor, mask: Tensor, positive: Tensor, others: Tensor) -> Tensor:
        """InfoNCE of a branch, both ways; [N, D], [N, L, D], [N, L] real, [N, L] in the moment, [N, N] → scalar."""
        scores = max_over_clips(queries, units, mask)
        own = torch.einsum("nd,nld->nl", queries, units).masked_fill(~(positive & mask), PAD).amax(dim=1)
        scores = (scores - scores.diagonal().diag() + own.diag()) / self.log_temperature.exp()
        scores = scores.masked_fill(others, PAD)
        target = torch.arange(len(scores), device=scores.device)
        return (F.cross_entropy(scores, target) + F.cross_entropy(scores.T, target)) / 2

    def span_loss(self, queries: Encoded, videos: Encoded, span: Tensor, same: Tensor) -> Tensor:
        """Cross entropies of starts and ends over the own video and the hardest others of the batch; → scalar."""
        scores = self.video_scores(queries, videos).detach().masked_fill(same, PAD)
        count = min(self.config.negatives, len(span) - 1)
        own = torch.arange(len(span), device=span.device)
        video = torch.cat([own[:, None], scores.topk(count, dim=1).indices], dim=1)
        hidden = F.pad(same.gather(1, video[:, 1:]), (1, 0))  # negatives of a batch that has no other video
        query = own.repeat_interleave(1 + count)
        at = video.flatten()
        spans = self.localise(
            videos["tokens"][at], videos["mask"][at], queries["tokens"][query], queries["mask"][query]
        )
        start, end = (
            logits.view(*video.shape, -1).masked_fill(hidden.unsqueeze(2), PAD) for logits in (spans.start, spans.end)
        )
        return shared_cross_entropy(start, span[:, 0]) + shared_cross_entropy(end, span[:, 1])

    def span_logits(self, queries: Encoded, videos: Encoded, query_index: Tensor, video_index: Tensor) -> Spans:
        return localise_in_chunks(self.localise, queries, videos, query_index, video_index, CLIPS_AT_ONCE)

    def pair_bytes(self) -> int:
        return 8 * self.config.hidden * (self.config.context_clips + self.config.query_tokens)

    def video_weights(self, scores: Tensor) -> Tensor:
        return torch.exp(scores / self.log_temperature.exp())
