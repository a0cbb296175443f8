"""Scores, and the tail, shared by the models that compare one query vector with clip vectors.

Shapes: Q queries, V videos, P pairs, L clips, D hidden size.
"""

from functools import reduce
from operator import add
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from verified.benchmark.vcmr.contract import Batch, Encoded, Spans
from verified.benchmark.vcmr.layers import attention_pooling, to_longest
from verified.nn.layers import whole

PAD = -1e10
"""Value of pads in XML's and ReLoCLNet's scores and logits: their softmax is exactly 0."""
REACH = 2
"""Clips to either side that the kernels of the start and end logits see."""


def unit(x: Tensor, eps: float = 1e-12) -> Tensor:
    """Vectors [..., dim] divided by their length (at least `eps`), in float32 at least."""
    with whole(x.device):
        return F.normalize(_widened(x), dim=-1, eps=eps)


def _widened(x: Tensor) -> Tensor:
    return x if x.dtype == torch.float64 else x.float()


class OneVectorTail:
    """Scoring of encoded queries and videos in XML, ReLoCLNet and HERO; a base class before `RetrievalModel`.

    A video's score is the largest cosine of its clips (encodings ``unit``); the products of the query's ``localiser``
    with the clips' ``localised`` go through one kernel of five for starts and one for ends.
    """

    config: Any  # of the model, with the weight `alpha`
    query_tokens: Any  # vectors of a query's tokens before they are pooled
    modular_vector_mapping: Any
    video_query_linear: Any
    pad: ClassVar[float] = PAD
    full_reach: ClassVar[int] = REACH
    kernels: ClassVar[tuple[str, str]] = ("video_st_predictor", "video_ed_predictor")
    """Names of the two convolutions, as in the authors' state dict."""

    def encode_queries(self, query: Tensor, mask: Tensor) -> Encoded:
        query, mask = to_longest(query, mask)
        tokens = self.query_tokens(query, mask)
        vector = attention_pooling(tokens, self.modular_vector_mapping(tokens).squeeze(2), mask)
        return {"vector": vector, "unit": unit(vector), "localiser": self.video_query_linear(vector)}

    def span_loss(self, queries: Tensor, clips: Tensor, batch: Batch) -> Tensor:
        """Cross entropies of starts and ends in matched videos; [N, D] and [N, L, D] → scalar."""
        spans = self.spans_of(torch.einsum("nd,nld->nl", queries, clips), batch.video_mask)
        return F.cross_entropy(spans.start, batch.span[:, 0]) + F.cross_entropy(spans.end, batch.span[:, 1])

    def video_scores(self, queries: Encoded, videos: Encoded) -> Tensor:
        return max_over_clips(queries["unit"], videos["unit"], videos["mask"])

    def span_logits(self, queries: Encoded, videos: Encoded, query_index: Tensor, video_index: Tensor) -> Spans:
        products = paired_products(queries["localiser"], videos["localised"], query_index, video_index)
        return self.spans_of(products, videos["mask"][video_index])

    def spans_of(self, products: Tensor, mask: Tensor) -> Spans:
        """Logits of starts and ends from products [P, L] of a query and the clips of a video."""
        start, end = (kernel5(products, getattr(self, name).weight) for name in self.kernels)
        return Spans(torch.where(mask, start, self.pad), torch.where(mask, end, self.pad))

    def video_weights(self, scores: Tensor) -> Tensor:
        return torch.exp(self.config.alpha * scores)


def max_over_clips(queries: Tensor, clips: Tensor, mask: Tensor) -> Tensor:
    """Largest product of a query with a real clip of each video; [Q, D], [V, L, D], [V, L] → [Q, V].

    With unit vectors this is the video score of XML, ReLoCLNet and HERO (maximum cosine).
    """
    with whole(queries.device):  # a hinge of margin 0.1 depends on differences that bfloat16 rounds away
        products = _widened(clips[mask]) @ _widened(queries).T
        return torch.segment_reduce(products, "max", lengths=mask.sum(dim=1)).T


def paired_products(queries: Tensor, clips: Tensor, query_index: Tensor, video_index: Tensor) -> Tensor:
    """Product of a query with every clip of a video, for P pairs sorted by video; → [P, L].

    `queries` [Q, D], `clips` [V, L, D], indices [P]. One matrix product per video, so that no clip is copied per pair.
    """
    videos, counts = torch.unique_consecutive(video_index, return_counts=True)
    rows, turned = queries[query_index].split(counts.tolist()), clips.mT
    return torch.cat([row @ turned[video] for row, video in zip(rows, videos.tolist())])


def kernel5(logits: Tensor, kernel: Tensor) -> Tensor:
    """Convolution of [P, L] with a [1, 1, 5] kernel and two zeros of padding at both ends, without bias; → [P, L].

    Written as five shifted sums: with one channel that takes a fifth of the time of PyTorch's convolution on a CPU.
    """
    length = logits.shape[1]
    padded = F.pad(logits, (2, 2))
    return reduce(add, (kernel[0, 0, at] * padded[:, at : at + length] for at in range(5)))


def sampled_hinge(scores: Tensor, margin: float, pool: int | None, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Hinge losses with one sampled negative per row; `scores` [N, N] of matched pairs (diagonal = positives).

    For each query a negative video, then for each video a negative query: rank 1 is the hardest; ranks are drawn
    uniformly from all negatives, or from the hardest `pool`. Mean over the batch of max(0, margin + negative −
    positive). A batch of one has no negatives and zero loss.
    """
    if len(scores) < 2:
        zero = scores.sum() * 0.0
        return zero, zero
    videos = _one_hinge(scores, draw_ranks(len(scores), pool, generator), margin)
    queries = _one_hinge(scores.T, draw_ranks(len(scores), pool, generator), margin)
    return videos, queries


def draw_ranks(count: int, pool: int | None, generator: torch.Generator) -> Tensor:
    """One rank in [1, count) per row, or in [1, 1 + pool) if that is less; [count] int64 on the CPU."""
    highest = count if pool is None else min(1 + pool, count)
    return torch.randint(1, highest, (count,), generator=generator)


def negatives_at(scores: Tensor, ranks: Tensor) -> Tensor:
    """Column of the negative of each rank, rows being sorted in descending order, positive first; [N] → [N]."""
    first = scores.detach().clone()
    first.fill_diagonal_(float("inf"))
    order = first.argsort(dim=1, descending=True)
    return order.gather(1, ranks.to(scores.device).unsqueeze(1)).squeeze(1)


def _one_hinge(scores: Tensor, ranks: Tensor, margin: float) -> Tensor:
    negative = scores.gather(1, negatives_at(scores, ranks).unsqueeze(1)).squeeze(1)
    return torch.clamp(margin + negative - scores.diagonal(), min=0).mean()
