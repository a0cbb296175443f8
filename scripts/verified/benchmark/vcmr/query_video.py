"""Parts of the two-stage models (CONQUER, SQuiDNet), which process a query and a video together.

Shapes: B queries, V videos of each, L clips, T tokens, D hidden size. Masks are bool, true for real positions.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from verified.benchmark.vcmr.contract import (
    Batch,
    Encoded,
    ModelConfig,
    RetrievalModel,
    Spans,
    add_total,
    inclusive_end,
)
from verified.benchmark.vcmr.decode import PAD_LOGIT
from verified.benchmark.vcmr.layers import BertEncoder, InputProjection, longest, zero_pads
from verified.nn.layers import Dropout, Parts

MASKED = -1e10
"""Similarity of a clip and a token of which one is a pad."""
REACH = 2
"""Clips to either side that the kernels of the start and end scores see."""
CLIPS_AT_ONCE = 4096
"""Clips of (query, video) pairs that are computed at once: some 25 vectors of D each, 0.3 GB at D = 768."""


class Embeddings(nn.Module):
    """LN(x + position + token type), then dropout; [N, S, D] → [N, S, D]. The table of types has two rows."""

    def __init__(self, rows: int, hidden: int, token_type: int, dropout: float):
        super().__init__()
        self.position_embeddings = nn.Embedding(rows, hidden)
        self.token_type_embeddings = nn.Embedding(2, hidden)
        self.LayerNorm = nn.LayerNorm(hidden)
        self.dropout = Dropout(dropout)
        self.token_type = token_type

    def forward(self, x: Tensor) -> Tensor:
        added = self.position_embeddings.weight[: x.shape[1]] + self.token_type_embeddings.weight[self.token_type]
        return self.dropout(self.LayerNorm(x + added))


class Transformer(nn.Module):
    """Embeddings and one BERT layer; [N, S, D] and [N, S] → [N, S, D]."""

    def __init__(self, rows: int, hidden: int, heads: int, feed_forward: int, token_type: int, dropout: float):
        super().__init__()
        self.embeddings = Embeddings(rows, hidden, token_type, dropout)
        self.encoder = BertEncoder(1, hidden, heads, feed_forward, dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        return self.encoder(self.embeddings(x), mask)


class Contextual(nn.Module):
    """Projection to the hidden size and one BERT layer without positions; [N, L, size] and [N, L] → [N, L, D]."""

    def __init__(self, size: int, hidden: int, heads: int, feed_forward: int, dropout: float):
        super().__init__()
        self.trans_linear = InputProjection(size, hidden, dropout)
        self.encoder = BertEncoder(1, hidden, heads, feed_forward, dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        return self.encoder(self.trans_linear(x), mask)


def clip_scorer(hidden: int, channels: int) -> nn.Sequential:
    """Conv1d(hidden → channels, kernel 5) → ReLU → Conv1d(channels → 1), without biases; [N, D, L] → [N, 1, L]."""
    return nn.Sequential(
        nn.Conv1d(hidden, channels, 2 * REACH + 1, padding=REACH, bias=False),
        nn.ReLU(),
        nn.Conv1d(channels, 1, 1, bias=False),
    )


def computed_length(mask: Tensor) -> int:
    """Clips to compute of pairs with this mask [N, L]: the longest video and the reach of the kernels behind it.

    Later positions cannot change the logits of a real clip.
    """
    return min(longest(mask) + REACH, mask.shape[1])


def clip_logits(scorer: nn.Module, features: Tensor, mask: Tensor) -> Tensor:
    """Logits of all clips; features [N, L' ≤ L, D], L' of `computed_length`, mask [N, L] → [N, L], −1e4 at pads."""
    logits = scorer(features.transpose(1, 2)).squeeze(1)
    return F.pad(logits, (0, mask.shape[1] - logits.shape[1])).masked_fill(~mask, PAD_LOGIT)


def attend(
    similarity: Tensor, video: Tensor, query: Tensor, video_mask: Tensor, query_mask: Tensor
) -> tuple[Tensor, Tensor]:
    """Both directions of attention from the similarity [N, L', T'] of the first L' ≤ L clips and T' ≤ T tokens.

    → V2Q [N, L, D] = Σ_t softmax_t(s) q_t and Q2V [N, 1, D] = Σ_l softmax_l(max_t s) v_l. `video` [N, L, D], `query`
    [N, T, D], masks [N, L] and [N, T]; clips from L' and tokens from T' on must be pads. A clip that is a pad attends
    to all T tokens equally, pads included, as in the official code; so T is the model's, not the batch's.
    """
    missing = (0, query.shape[1] - similarity.shape[2], 0, video.shape[1] - similarity.shape[1])
    mask = video_mask[:, :, None] & query_mask[:, None, :]
    similarity = F.pad(similarity, missing).masked_fill(~mask, MASKED)
    to_clips = torch.softmax(similarity.amax(dim=2), dim=1).unsqueeze(1) @ video
    return torch.softmax(similarity, dim=2) @ query, to_clips


def localise_in_chunks(
    localise: Callable[[Tensor, Tensor, Tensor, Tensor], Spans],
    queries: Encoded,
    videos: Encoded,
    query_index: Tensor,
    video_index: Tensor,
    clips_at_once: int = CLIPS_AT_ONCE,
) -> Spans:
    """Localise P pairs in chunks of similar video length, so that little is computed on pads and memory is bounded.

    `queries` and `videos` hold ``tokens`` and ``mask``; `localise` takes video tokens, their mask, query tokens and
    their mask of the pairs of a chunk; `query_index` and `video_index` [P] say which pairs. A chunk has about
    `clips_at_once` clips, pads included.
    """
    lengths = videos["mask"].sum(dim=1)
    order = torch.argsort(lengths[video_index], stable=True)
    pairs = max(1, clips_at_once // videos["mask"].shape[1])
    parts = []
    for rows in order.split(pairs):
        q, v = query_index[rows], video_index[rows]
        parts.append(localise(videos["tokens"][v], videos["mask"][v], queries["tokens"][q], queries["mask"][q]))
    back = torch.argsort(order)
    return Spans._make(None if field[0] is None else torch.cat(field)[back] for field in zip(*parts))


@dataclass(frozen=True, kw_only=True)
class QueryVideoConfig(ModelConfig):
    """Widths and the weight of the span loss; the defaults are the official ones."""

    hidden: int = 768
    heads: int = 12
    feed_forward: int = 3072
    score_channels: int = 128
    """Channels between the two convolutions of the start and end scores, and in the video head."""
    dropout: float = 0.1
    span_weight: float = 0.01
    video_weight: float = 0.005
    """Weight of the cross entropy of the video head."""


def encoder(size: int, rows: int, config: QueryVideoConfig, token_type: int, projection: str = "linear") -> Parts:
    """Projection and transformer of clips or tokens; `projection` is its name in the state dict."""
    widths = (config.hidden, config.heads, config.feed_forward)
    return Parts(
        {
            projection: InputProjection(size, config.hidden, config.dropout),
            "transformer": Transformer(rows, *widths, token_type=token_type, dropout=config.dropout),
        }
    )


class QueryVideoModel(RetrievalModel):
    """Base of both models, which say how the clips of a pair are scored (`localise`)."""

    config: QueryVideoConfig
    normalise_query = False
    label = staticmethod(inclusive_end)
    padding_reach = 2

    def encoders(self) -> tuple[Parts, Parts]:
        """The encoders of videos and of queries, as `encoder` makes them."""
        raise NotImplementedError

    def localise(self, video: Tensor, video_mask: Tensor, query: Tensor, query_mask: Tensor) -> Spans:
        """Start and end logits [P, L] of P pairs of tokens, and scores [P] of their videos if the model `rescores`."""
        raise NotImplementedError

    def encode_queries(self, query: Tensor, mask: Tensor) -> Encoded:
        """Tokens [Q, T, D], padded to the model's T because clips that are pads attend to all T tokens equally."""
        missing = self.config.query_tokens - query.shape[1]
        return _encode(self.encoders()[1], F.pad(query, (0, 0, 0, missing)), F.pad(mask, (0, missing)))

    def encode_videos(self, video: Tensor, mask: Tensor) -> Encoded:
        """Tokens [V, L, D]."""
        return _encode(self.encoders()[0], video, mask)

    def losses(self, batch: Batch, *, epoch: int, step: int, generator: torch.Generator) -> dict[str, Tensor]:
        items, slots = batch.video.shape[:2]
        videos = self.encode_videos(batch.video.flatten(0, 1), batch.video_mask.flatten(0, 1))
        queries = self.encode_queries(batch.query, batch.query_mask)
        tokens, mask = (queries[name].repeat_interleave(slots, dim=0) for name in ("tokens", "mask"))
        spans = self.localise(videos["tokens"], videos["mask"], tokens, mask)
        # Each softmax runs over all clips of all videos of a query, the true one first.
        start, end = (logits.view(items, -1) for logits in (spans.start, spans.end))
        losses = {
            "moment": self.config.span_weight
            * (F.cross_entropy(start, batch.span[:, 0]) + F.cross_entropy(end, batch.span[:, 1]))
        }
        if spans.score is not None:
            scores = spans.score.view(items, slots)
            losses["video"] = self.config.video_weight * F.cross_entropy(scores, torch.zeros_like(batch.span[:, 0]))
        return add_total(losses)

    def span_logits(self, queries: Encoded, videos: Encoded, query_index: Tensor, video_index: Tensor) -> Spans:
        return localise_in_chunks(self.localise, queries, videos, query_index, video_index)

    def pair_bytes(self) -> int:
        return 8 * self.config.hidden * (self.config.context_clips + self.config.query_tokens)

    def video_weights(self, scores: Tensor) -> Tensor:
        """The external scores [Q, videos] as given; their softmax where the model has re-scored the list."""
        return torch.softmax(scores, dim=1) if self.rescores else scores


def _encode(parts: Parts, values: Tensor, mask: Tensor) -> Encoded:
    projection, transformer = parts.values()
    return {"tokens": transformer(projection(zero_pads(values, mask)), mask), "mask": mask}
