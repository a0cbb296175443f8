"""Localisation of those pairs alone that can enter the list of a query, for models that take long over a pair.

A span in a video scores w · p_start · p_end. The video's weight w is known before anything is localised, and the others
are probabilities, so no span scores more than its video weighs. Videos are looked into from the heaviest on. Once the
list has all its rows, a video that weighs less than the last of them is omitted; so is one whose weight is not
positive, because its spans are no predictions.

That changes no byte of a list:

- Let t be the last row's score when a video of weight w < t is omitted. `decode.best_spans` rounds twice, and rounding
  keeps order: as 0 ≤ p ≤ 1, fl(fl(w · p_start) · p_end) ≤ fl(w · p_end) ≤ w < t. Each span of the video is thus below
  every row that is there already, and t can only rise; a tie needs equal scores. So none of its spans is a row of the
  full list. With probabilities of zero in their place the rows are the same, as `best_spans` breaks ties by place.
- A pair's probabilities may depend, in the last bit, on the pairs that are computed with it. These follow from the list
  and the lengths of its videos, never from what was omitted: the list is cut into blocks by weight, and a block into
  groups by length, so that few pads are computed. A group is computed whole or not at all.

The query's own video, for SVMR, is always looked into. If a model re-scores the list (`scores_first`), all of its pairs
are begun, as VR lists them all, and those that are needed are finished.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from verified.benchmark.vcmr.contract import Encoded, RetrievalModel
from verified.benchmark.vcmr.decode import best_spans

BLOCK = 16
"""Videos between two looks at the list; a multiple of `GROUP`."""
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
    """Videos of the list that were not looked into."""


def localise_needed(
    model: RetrievalModel,
    query: Encoded,
    corpus: Encoded,
    candidates: Tensor,
    scores: Tensor,
    truth: int,
    spans: tuple[int, int, int],
) -> Needed:
    """Start and end probabilities in the videos of one query's list, and in its own video `truth`.

    `query`: the encodings of one query; `candidates` [K] and their `scores` [K]; `spans` as of `best_spans`: least and
    largest distance of start and end, and rows of a list.
    """
    clips = corpus["mask"].sum(dim=1)
    videos = torch.cat([candidates, candidates.new_tensor([truth])])
    begun: Encoded | None = None
    if model.scores_first:
        scores, begun = _begin(model, query, corpus, videos, clips)
        scores, order = scores[:-1].sort(descending=True, stable=True)
        candidates = candidates[order]
        order = torch.cat([order, order.new_tensor([len(order)])])
        videos, begun = videos[order], {name: tensor[order] for name, tensor in begun.items()}
    weights = model.video_weights(scores.unsqueeze(0)).squeeze(0)
    start = torch.zeros(len(videos), model.config.context_clips)
    end, looked_into = torch.zeros_like(start), torch.zeros(len(videos), dtype=torch.bool)

    def look_into(group: Tensor) -> None:
        index, of_videos = torch.zeros_like(group), videos[group]
        if begun is None:
            found = model.span_logits(query, corpus, index, of_videos)
        else:
            known = {name: tensor[group] for name, tensor in begun.items()}
            found = model.finish_pairs(query, corpus, index, of_videos, known)
        start[group], end[group] = found.start.float().softmax(dim=1), found.end.float().softmax(dim=1)
        looked_into[group] = True

    ranked = weights.argsort(descending=True, stable=True)
    blocks = [_groups(block, clips[videos]) for block in ranked.split(BLOCK)]
    listed = (candidates == truth).nonzero().flatten().tolist()
    own = listed[0] if listed else len(candidates)
    alone = torch.tensor([own])
    look_into(next((group for block in blocks for group in block if own in group), alone))
    least = 0.0
    for first, block in zip(ranked[::BLOCK], blocks, strict=True):
        if not _may_enter(weights[first], least):
            break
        for group in block:
            if not looked_into[group].all() and _may_enter(weights[group].max(), least):
                look_into(group)
        rows = best_spans(start[None, :-1], end[None, :-1], weights[None], *spans)[3]
        least = float(rows[0, -1]) if rows.shape[1] == spans[2] else 0.0
    start[-1], end[-1] = start[own], end[own]
    return Needed(candidates, weights, start, end, int((~looked_into[:-1]).sum()))


def _may_enter(weight: Tensor, least: float) -> bool:
    """Whether a video of this weight can have a row where the last one scores `least` (0: there is none yet)."""
    return bool((weight > 0) & (weight >= least))


def _begin(
    model: RetrievalModel, query: Encoded, corpus: Encoded, videos: Tensor, clips: Tensor
) -> tuple[Tensor, Encoded]:
    """Scores of all pairs of a query and `videos` [K + 1], and what was computed for them."""
    groups = _groups(torch.arange(len(videos)), clips[videos])
    scores, parts = zip(
        *(model.begin_pairs(query, corpus, torch.zeros_like(group), videos[group]) for group in groups), strict=True
    )
    back = torch.cat(groups).argsort()
    return torch.cat(scores)[back], {name: torch.cat([part[name] for part in parts])[back] for name in parts[0]}


def _groups(places: Tensor, clips: Tensor) -> tuple[Tensor, ...]:
    """The `places` of videos by their number of `clips`, four at a time."""
    return places[clips[places].argsort(stable=True)].split(GROUP)
