"""Parts of the two-stage models (CONQUER, SQuiDNet), which process a query and a video together.

Shapes: B queries, V videos of each, L clips, T tokens, D hidden size. Masks are bool, true for real positions.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from verified.benchmark.vcmr.contract import Encoded, Spans
from verified.benchmark.vcmr.layers import BertEncoder, InputProjection, longest
from verified.nn.layers import Dropout

MASKED = -1e10
"""Similarity of a clip and a token of which one is a pad."""
PAD_LOGIT = -1e4
"""Start and end logits of pads."""
REACH = 2
"""Clips to either side that the kernels of the start and end scores see."""


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
    seen = video_mask[:, :, None] & query_mask[:, None, :]
    similarity = F.pad(similarity, missing).masked_fill(~seen, MASKED)
    to_clips = torch.softmax(similarity.amax(dim=2), dim=1).unsqueeze(1) @ video
    return torch.softmax(similarity, dim=2) @ query, to_clips


def shared_cross_entropy(logits: Tensor, target: Tensor) -> Tensor:
    """Cross entropy over all clips of all videos of a query (shared normalisation), the target being in video 0.

    `logits` [B, V, L], `target` [B] clip in video 0 → scalar mean over B.
    """
    return F.cross_entropy(logits.flatten(1), target)


def localise_in_chunks(
    localise: Callable[[Tensor, Tensor, Tensor, Tensor], Spans],
    queries: Encoded,
    videos: Encoded,
    query_index: Tensor,
    video_index: Tensor,
    clips_at_once: int,
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
