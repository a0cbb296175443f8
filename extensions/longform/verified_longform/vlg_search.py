"""VLG-Net over whole movies: each window encoded once, each query fused with each window, one ranking per query."""

from collections.abc import Iterator, Sequence
from itertools import repeat

import numpy as np
import torch
from torch import Tensor

from verified.benchmark.lists import best_spans
from verified_longform.grid import Grid
from verified_longform.recall import DEPTH
from verified_longform.vlg_net import VLGNet
from verified_longform.zero_shot import NMS, clip_sums, cosines, span_norms

TOKENS = 50
"""Tokens of a query that are read."""


@torch.inference_mode()
def rank_windows(
    model: VLGNet,
    frames: np.ndarray,
    queries: Sequence[np.ndarray],
    grid: Grid,
    nms_threshold: float = NMS,
    batch: int = 512,
    sentences: np.ndarray | None = None,
) -> list[np.ndarray]:
    """The best spans of a movie for each query: float64 [at most 100, 3] of start, end (seconds) and probability.

    frames: features [n, dim]; queries: token features [tokens, dim] each; `batch` windows go through fusion at once.
    Windows go over the features' frames, as in the published loader. With the queries' sentence features [queries, dim]
    VLG-Net is guided: a span's score is its logit plus its zero-shot cosine, each of mean 0 and deviation 1 over the
    movie's spans.
    """
    starts = grid.starts(len(frames))
    if not len(starts):
        return [np.zeros((0, 3)) for _ in queries]
    device = next(model.parameters()).device
    video = torch.cat(
        [model.encode_video(windows.to(device)) for windows in torch.split(cut_windows(frames, starts, grid), batch)]
    )
    clips = (starts[:, None, None] // grid.clip_frames + grid.anchors).reshape(-1, 2)
    # No window but the one over a movie shorter than itself reaches beyond the movie: its padding holds no proposal.
    inside = clips[:, 1] * grid.clip_frames <= len(frames)
    spans = grid.seconds(clips[inside])
    guides = repeat(None) if sentences is None else _cosines(frames, clips[inside], sentences, grid)
    ranked = []
    for tokens, guide in zip(queries, guides, strict=False):
        query = model.encode_query(torch.from_numpy(tokens[:TOKENS])[None].to(device))
        words = torch.ones(query.shape[0], query.shape[2], dtype=torch.bool, device=device)
        parts = []
        for windows in torch.split(video, batch):
            count = len(windows)
            logits = model.score(windows, query.expand(count, -1, -1), words.expand(count, -1))
            parts.append(logits.float().cpu())
        logits = torch.cat(parts).flatten()[torch.from_numpy(inside)]
        if guide is None:
            scores = logits.sigmoid().double().numpy()
        else:
            scores = _standardise(logits.double().numpy()) + _standardise(guide)
        best = best_spans(scores, spans, nms_threshold, DEPTH)
        ranked.append(np.column_stack([spans[best], scores[best]]))
    return ranked


def _cosines(frames: np.ndarray, clips: np.ndarray, sentences: np.ndarray, grid: Grid) -> Iterator[np.ndarray]:
    """For each sentence, its zero-shot cosine with the spans of `clips` [P, 2], of which windows repeat some."""
    spans, place = np.unique(clips, axis=0, return_inverse=True)
    sums = clip_sums(frames, grid.clip_frames, int(spans[:, 1].max()))
    for scores in cosines(sums, spans, span_norms(sums, spans, grid.clips), sentences):
        yield scores[place.reshape(-1)]


def _standardise(scores: np.ndarray) -> np.ndarray:
    return (scores - scores.mean()) / max(float(scores.std()), 1e-12)


def cut_windows(frames: np.ndarray, starts: np.ndarray, grid: Grid) -> Tensor:
    """Windows [windows, W, dim] from frame `starts`; missing frames are zero."""
    windows = np.zeros((len(starts), grid.window, frames.shape[1]), np.float32)
    for window, start in zip(windows, starts, strict=True):
        seen = frames[start : start + grid.window]
        window[: len(seen)] = seen
    return torch.from_numpy(windows)
