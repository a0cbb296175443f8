"""The best spans of what a model localised: of start and end probabilities, without forming every span, or of windows.

The score of a span in a video is weight · p_start[i] · p_end[j] with min ≤ j − i < max. Its largest value over j, for
each start i, is a sliding maximum over p_end; the R best spans can only be in the R best (video, start) pairs, so only
those are expanded. Spans of probability zero are not predictions; they are marked by their score of 0.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

PAD_LOGIT = -1e4
"""Start and end logits of pads."""
LEAST_SCORE = 1e-30
"""A window that scores less counts as this much in the logits of clips, so that these stay finite."""


class Spans(NamedTuple):
    """Localisation of P (query, video) pairs."""

    start: Tensor
    """[P, L] start logits; pads hold so low a value that their softmax is 0."""
    end: Tensor
    """[P, L] end logits."""
    score: Tensor | None = None
    """[P] score of the video for the query, from models that re-score the list (`rescores`)."""
    proposals: Tensor | None = None
    """[P, W, 3] windows that search takes in the place of starts and ends: start, end (in clips and fractions of clips
    from the video's beginning) and score (0 or more). A `best_spans` of the model's own may read others, [P, …]."""


def best_spans(
    start: Tensor, end: Tensor, weight: Tensor, min_pred_clips: int, max_pred_clips: int, rows: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The `rows` best spans of each query over its K videos.

    `start`, `end` [Q, K, L] probabilities; `weight` [Q, K]. Index distances are at least `min_pred_clips` and below
    `max_pred_clips`.
    Returns slot of the video, start clip, end clip [Q, R] int64 and score [Q, R], best first; score 0 marks no span.
    Equal scores come in the order of slot, start, end.
    """
    queries, _, clips = start.shape
    widest = min(max_pred_clips, clips) - 1
    if widest < min_pred_clips:
        empty = torch.zeros(queries, 0, dtype=torch.int64, device=start.device)
        return empty, empty, empty, start.new_zeros(queries, 0)
    weighted = weight.unsqueeze(2) * start
    reach = F.pad(end, (0, widest), value=0.0)[:, :, min_pred_clips:]
    window = widest - min_pred_clips + 1
    highest = F.max_pool1d(reach, window, stride=1)[:, :, :clips]
    row_scores = (weighted * highest).flatten(1)
    best_rows = largest(row_scores, rows)
    offsets = torch.arange(window, device=start.device)
    ends = F.pad(end, (0, widest), value=0.0).flatten(1)
    at = (best_rows // clips) * (clips + widest) + best_rows % clips + min_pred_clips
    expanded = ends.gather(1, (at.unsqueeze(2) + offsets).flatten(1)).view(*at.shape, window)
    scores = (weighted.flatten(1).gather(1, best_rows).unsqueeze(2) * expanded).flatten(1)
    best = largest(scores, rows)
    order = scores.gather(1, best).argsort(dim=1, descending=True, stable=True)
    best = best.gather(1, order)
    row_start = best_rows.gather(1, best // window)
    first = row_start % clips
    return row_start // clips, first, first + min_pred_clips + best % window, scores.gather(1, best)


def largest(scores: Tensor, count: int) -> Tensor:
    """Indices of the `count` largest of each row, ties broken by position, in ascending order; [Q, N] → [Q, ≤ count].

    `topk` does not define the order of ties. Only rows where the last of `count` equals the next are sorted for it.
    """
    if scores.shape[1] <= count:
        return torch.arange(scores.shape[1], device=scores.device).expand(scores.shape)
    values, places = scores.topk(count + 1, dim=1)
    places = places[:, :count]
    tied = (values[:, count - 1] == values[:, count]) & (values[:, count] > 0)
    if bool(tied.any()):
        places = places.clone()
        places[tied] = scores[tied].argsort(dim=1, descending=True, stable=True)[:, :count]
    return places.sort(dim=1).values


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


def spans_of_windows(windows: Tensor, mask: Tensor) -> Spans:
    """Windows [P, W, 3], as in `Spans.proposals`, with start and end logits derived from them; `mask` [P, L].

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
