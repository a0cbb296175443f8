"""Windows with scores, which some models propose whole instead of scoring starts and ends apart (UniVTG, CG-DETR).

Shapes: P (query, video) pairs, W windows of each, L clips. A window is (start, end, score): start and end in clips and
fractions of clips from the video's beginning, the score from 0 to 1.
"""

import torch
from torch import Tensor

from verified.benchmark.vcmr.contract import Spans
from verified.benchmark.vcmr.query_video import PAD_LOGIT

LEAST_SCORE = 1e-30
"""A window that scores less counts as this much in the logits of clips, so that these stay finite."""


def spans_of_windows(windows: Tensor, mask: Tensor) -> Spans:
    """Windows [P, W, 3] with what they say of each clip, for readers of starts and ends; `mask` [P, L].

    The start logit of clip l is log Σ_w score_w exp(−|start_w − l|), the end logit, of a span that includes l, is
    log Σ_w score_w exp(−|end_w − l − 1|); −1e4 at pads.
    """
    at = torch.arange(mask.shape[1], device=mask.device)
    likely = windows[..., 2].clamp(min=LEAST_SCORE).log()
    start, end = (
        (likely.unsqueeze(2) - (windows[..., side].unsqueeze(2) - at - side).abs())
        .logsumexp(dim=1)
        .masked_fill(~mask, PAD_LOGIT)
        for side in range(2)
    )
    return Spans(start, end, windows=windows)


def generalised_iou(first: Tensor, second: Tensor) -> Tensor:
    """IoU less the share of the hull that neither covers; spans [..., 2] that broadcast, start ≤ end → [...].

    From −1, far apart, to 1, equal (Rezatofighi et al., CVPR 2019, in one dimension). One span has a length at least.
    """
    shared = (torch.minimum(first[..., 1], second[..., 1]) - torch.maximum(first[..., 0], second[..., 0])).clamp(min=0)
    union = (first[..., 1] - first[..., 0]) + (second[..., 1] - second[..., 0]) - shared
    hull = torch.maximum(first[..., 1], second[..., 1]) - torch.minimum(first[..., 0], second[..., 0])
    return shared / union - (hull - union) / hull
