"""Models that propose windows with scores instead of scoring starts and ends separately: UniVTG, CG-DETR.

P (query, video) pairs, W windows of each: a window is (start, end, score), start and end in clips and fractions of
clips from the video's beginning, the score from 0 to 1.
"""

import torch
from torch import Tensor

from verified.benchmark.vcmr.contract import RetrievalModel, Spans
from verified.benchmark.vcmr.decode import largest
from verified.benchmark.vcmr.query_video import PAD_LOGIT


class ProposingModel(RetrievalModel):
    """Its `span_logits` gives `spans_of_windows`, and search takes the windows."""

    def best_spans(
        self, start: Tensor, end: Tensor, proposals: Tensor | None, weight: Tensor, limits: tuple[int, int], rows: int
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        assert proposals is not None
        return best_windows(proposals, weight, rows)


def best_windows(windows: Tensor, weight: Tensor, rows: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The `rows` best proposed windows of each query over its K videos, as `best_spans` gives spans.

    `windows` [Q, K, W, 3] starts, ends and scores; `weight` [Q, K], which multiplies the scores. Starts and ends are
    those of the windows.
    """
    scores = (weight.unsqueeze(2) * windows[..., 2]).flatten(1)
    best = largest(scores, rows)
    best = best.gather(1, scores.gather(1, best).argsort(dim=1, descending=True, stable=True))
    start, end = (windows[..., side].flatten(1).gather(1, best) for side in range(2))
    return best // windows.shape[2], start, end, scores.gather(1, best)


LEAST_SCORE = 1e-30
"""A window that scores less counts as this much in the logits of clips, so that these stay finite."""


def spans_of_windows(windows: Tensor, mask: Tensor) -> Spans:
    """Windows [P, W, 3] with start and end logits derived from them, for readers of starts and ends; `mask` [P, L].

    The start logit of clip l is log Σ_w score_w exp(−|start_w − l|), the end logit, of a span that includes l, is log
    Σ_w score_w exp(−|end_w − l − 1|); −1e4 at pads.
    """
    at = torch.arange(mask.shape[1], device=mask.device)
    likely = windows[..., 2].clamp(min=LEAST_SCORE).log()
    start, end = (
        (likely.unsqueeze(2) - (windows[..., side].unsqueeze(2) - at - side).abs())
        .logsumexp(dim=1)
        .masked_fill(~mask, PAD_LOGIT)
        for side in range(2)
    )
    return Spans(start, end, proposals=windows)


def generalised_iou(first: Tensor, second: Tensor) -> Tensor:
    """IoU minus the share of the hull outside both; spans [..., 2] that broadcast, start ≤ end → [...].

    From −1, far apart, to 1, equal (Rezatofighi et al., CVPR 2019, in one dimension). At least one span has a positive
    length.
    """
    shared = (torch.minimum(first[..., 1], second[..., 1]) - torch.maximum(first[..., 0], second[..., 0])).clamp(min=0)
    union = (first[..., 1] - first[..., 0]) + (second[..., 1] - second[..., 0]) - shared
    hull = torch.maximum(first[..., 1], second[..., 1]) - torch.minimum(first[..., 0], second[..., 0])
    return shared / union - (hull - union) / hull
