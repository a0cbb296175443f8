"""Decode the best spans from start and end probabilities without forming every span.

The score of a span in a video is weight · p_start[i] · p_end[j] with min ≤ j − i < max. Its largest value over j, for
each start i, is a sliding maximum over p_end; the R best spans can only be in the R best (video, start) pairs, so only
those are expanded. Spans of probability zero are not predictions; they are marked by their score of 0.

Some models propose windows with scores instead of scoring starts and ends separately (UniVTG, CG-DETR). P (query,
video) pairs, W windows of each: a window is (start, end, score), start and end in clips and fractions of clips from the
video's beginning, the score from 0 to 1.

`localise_needed` localises those pairs alone that can enter the list of a query, for models that take long over a pair.
A span in a video scores w · p_start · p_end. The video's weight w is known before localisation, and the other factors
are probabilities, so no span scores more than its video weighs. Videos are localised in order of falling weight. Once
the list has all its rows, a video that weighs less than the last of them is omitted; so is one whose weight is not
positive, because its spans are not predictions.

That changes no byte of a list:

- Let t be the last row's score when a video of weight w < t is omitted. `best_spans` rounds twice, and rounding keeps
  order: as 0 ≤ p ≤ 1, fl(fl(w · p_start) · p_end) ≤ fl(w · p_end) ≤ w < t. Each span of the video is thus below every
  present row, and t can only rise; a tie needs equal scores. So none of its spans is a row of the full
  list. With probabilities of zero in their place the rows are the same, as `best_spans` breaks ties by position.
- A pair's probabilities may depend, in the last bit, on the pairs that are computed with it. These follow from the list
  and the lengths of its videos, never from what was omitted: the list is cut into blocks by weight, and a block into
  groups by length, so that few pads are computed. A group is computed whole or not at all.

The query's true video, for SVMR, is always localised. If a model re-scores the list (`scores_first`), the first half of
the computation covers all pairs, as VR lists them all, and the second half only those needed.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from verified.benchmark.vcmr.contract import Encoded, RetrievalModel, Spans
from verified.benchmark.vcmr.query_video import PAD_LOGIT


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
    best_rows = _largest(row_scores, rows)
    offsets = torch.arange(window, device=start.device)
    ends = F.pad(end, (0, widest), value=0.0).flatten(1)
    at = (best_rows // clips) * (clips + widest) + best_rows % clips + min_pred_clips
    expanded = ends.gather(1, (at.unsqueeze(2) + offsets).flatten(1)).view(*at.shape, window)
    scores = (weighted.flatten(1).gather(1, best_rows).unsqueeze(2) * expanded).flatten(1)
    best = _largest(scores, rows)
    order = scores.gather(1, best).argsort(dim=1, descending=True, stable=True)
    best = best.gather(1, order)
    row_start = best_rows.gather(1, best // window)
    first = row_start % clips
    return row_start // clips, first, first + min_pred_clips + best % window, scores.gather(1, best)


def best_windows(windows: Tensor, weight: Tensor, rows: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The `rows` best proposed windows of each query over its K videos, as `best_spans` gives spans.

    `windows` [Q, K, W, 3] starts, ends and scores; `weight` [Q, K], which multiplies the scores. Starts and ends are
    those of the windows.
    """
    scores = (weight.unsqueeze(2) * windows[..., 2]).flatten(1)
    best = _largest(scores, rows)
    best = best.gather(1, scores.gather(1, best).argsort(dim=1, descending=True, stable=True))
    start, end = (windows[..., side].flatten(1).gather(1, best) for side in range(2))
    return best // windows.shape[2], start, end, scores.gather(1, best)


def _largest(scores: Tensor, count: int) -> Tensor:
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


BLOCK = 16
"""Videos between two checks of the list; a multiple of `GROUP`."""
GROUP = 4
"""Pairs that are computed together: at the papers' widths, four give a core as much to do as forty."""


class Needed(NamedTuple):
    """Results of one query and its K listed videos."""

    candidates: Tensor
    """[K] videos, in the order of their scores where the model gave these itself."""
    weights: Tensor
    """[K]."""
    start: Tensor
    """[K + 1, L] probabilities: zeros of videos that were omitted, the query's own video last."""
    end: Tensor
    """[K + 1, L]."""
    left_out: int
    """Videos of the list that were not localised."""


def localise_needed(
    model: RetrievalModel,
    query: Encoded,
    corpus: Encoded,
    candidates: Tensor,
    scores: Tensor,
    truth: int,
    spans: tuple[int, int, int],
) -> Needed:
    """Start and end probabilities in the videos of one query's list, and in its true video `truth`.

    `query`: the encodings of one query; `candidates` [K] and their `scores` [K]; `spans` as of `best_spans`: least and
    largest distance of start and end, and rows of a list.
    """
    clips = corpus["mask"].sum(dim=1)
    videos = torch.cat([candidates, candidates.new_tensor([truth])])
    state: Encoded | None = None
    if model.scores_first:
        scores, state = _begin(model, query, corpus, videos, clips)
        scores, order = scores[:-1].sort(descending=True, stable=True)
        candidates = candidates[order]
        order = torch.cat([order, order.new_tensor([len(order)])])
        videos, state = videos[order], {name: tensor[order] for name, tensor in state.items()}
    weights = model.video_weights(scores.unsqueeze(0)).squeeze(0)
    start = torch.zeros(len(videos), model.config.context_clips)
    end, looked_into = torch.zeros_like(start), torch.zeros(len(videos), dtype=torch.bool)

    def localise_group(group: Tensor) -> None:
        index, of_videos = torch.zeros_like(group), videos[group]
        if state is None:
            found = model.span_logits(query, corpus, index, of_videos)
        else:
            known = {name: tensor[group] for name, tensor in state.items()}
            found = model.finish_pairs(query, corpus, index, of_videos, known)
        start[group], end[group] = found.start.float().softmax(dim=1), found.end.float().softmax(dim=1)
        looked_into[group] = True

    ranked = weights.argsort(descending=True, stable=True)
    blocks = [_groups(block, clips[videos]) for block in ranked.split(BLOCK)]
    listed = (candidates == truth).nonzero().flatten().tolist()
    own = listed[0] if listed else len(candidates)
    alone = torch.tensor([own])
    localise_group(next((group for block in blocks for group in block if own in group), alone))
    least = 0.0
    for first, block in zip(ranked[::BLOCK], blocks, strict=True):
        if not _may_enter(weights[first], least):
            break
        for group in block:
            if not looked_into[group].all() and _may_enter(weights[group].max(), least):
                localise_group(group)
        rows = best_spans(start[None, :-1], end[None, :-1], weights[None], *spans)[3]
        least = float(rows[0, -1]) if rows.shape[1] == spans[2] else 0.0
    start[-1], end[-1] = start[own], end[own]
    return Needed(candidates, weights, start, end, int((~looked_into[:-1]).sum()))


def _may_enter(weight: Tensor, least: float) -> bool:
    """Whether a video of this weight can have a row if the last one scores `least` (0: no row yet)."""
    return bool((weight > 0) & (weight >= least))


def _begin(
    model: RetrievalModel, query: Encoded, corpus: Encoded, videos: Tensor, clips: Tensor
) -> tuple[Tensor, Encoded]:
    """Scores of all pairs of a query and `videos` [K + 1], and the intermediate tensors."""
    groups = _groups(torch.arange(len(videos)), clips[videos])
    scores, parts = zip(
        *(model.begin_pairs(query, corpus, torch.zeros_like(group), videos[group]) for group in groups), strict=True
    )
    back = torch.cat(groups).argsort()
    return torch.cat(scores)[back], {name: torch.cat([part[name] for part in parts])[back] for name in parts[0]}


def _groups(places: Tensor, clips: Tensor) -> tuple[Tensor, ...]:
    """The `places` of videos by their number of `clips`, four at a time."""
    return places[clips[places].argsort(stable=True)].split(GROUP)


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
    return Spans(start, end, windows=windows)


def generalised_iou(first: Tensor, second: Tensor) -> Tensor:
    """IoU minus the share of the hull outside both; spans [..., 2] that broadcast, start ≤ end → [...].

    From −1, far apart, to 1, equal (Rezatofighi et al., CVPR 2019, in one dimension). At least one span has a positive
    length.
    """
    shared = (torch.minimum(first[..., 1], second[..., 1]) - torch.maximum(first[..., 0], second[..., 0])).clamp(min=0)
    union = (first[..., 1] - first[..., 0]) + (second[..., 1] - second[..., 0]) - shared
    hull = torch.maximum(first[..., 1], second[..., 1]) - torch.minimum(first[..., 0], second[..., 0])
    return shared / union - (hull - union) / hull
