"""VLG-Net over whole movies: each window encoded once, each query fused with each window, one ranking per query."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from verified_longform.grid import Grid
from verified_longform.recall import DEPTH
from verified_longform.vlg_net import VLGNet
from verified_longform.zero_shot import NMS, best_spans

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
) -> list[np.ndarray]:
    """The best spans of a movie for each query: float64 [at most 100, 3] of start, end (seconds) and probability.

    frames: features [n, dim]; queries: token features [tokens, dim] each; `batch` windows go through fusion at once.
    Windows go over the features' frames, as in the published loader.
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
    ranked = []
    for tokens in queries:
        query = model.encode_query(torch.from_numpy(tokens[:TOKENS])[None].to(device))
        words = torch.ones(query.shape[0], query.shape[2], dtype=torch.bool, device=device)
        parts = []
        for windows in torch.split(video, batch):
            count = len(windows)
            logits = model.score(windows, query.expand(count, -1, -1), words.expand(count, -1))
            parts.append(logits.float().cpu())
        logits = torch.cat(parts).flatten()[torch.from_numpy(inside)]
        scores = logits.sigmoid().double().numpy()
        best = best_spans(scores, spans, nms_threshold, DEPTH)
        ranked.append(np.column_stack([spans[best], scores[best]]))
    return ranked


def cut_windows(frames: np.ndarray, starts: np.ndarray, grid: Grid) -> Tensor:
    """Windows [windows, W, dim] from frame `starts`; missing frames are zero."""
    windows = np.zeros((len(starts), grid.window, frames.shape[1]), np.float32)
    for window, start in zip(windows, starts, strict=True):
        part = frames[start : start + grid.window]
        window[: len(part)] = part
    return torch.from_numpy(windows)
