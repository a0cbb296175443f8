"""Temporal IoU as MAD measures it, and non-maximum suppression."""

import numpy as np


def iou(spans: np.ndarray, start: np.ndarray | float, end: np.ndarray | float) -> np.ndarray:
    """IoU of spans [..., 2] with [start, end]: intersection over the hull, zero where they do not overlap.

    The hull is the union wherever two spans overlap. Both in the same unit; computed in the precision of `spans`.
    """
    common = np.minimum(spans[..., 1], end) - np.maximum(spans[..., 0], start)
    hull = np.maximum(spans[..., 1], end) - np.minimum(spans[..., 0], start)
    return np.maximum(common, 0) / np.where(hull > 0, hull, 1)


def suppress(spans: np.ndarray, threshold: float, keep: int) -> np.ndarray:
    """Greedy NMS: indices of at most `keep` of the spans [n, 2], which come best first.

    A span goes when its IoU with a better one that stays exceeds `threshold`. Stopping at `keep` changes nothing: what
    follows cannot bring an earlier one back. IoUs are computed in float32, as published: on a grid of 0.4 s an IoU of
    exactly 0.3 is common (1.2 s within 4 s), and which side it falls on decides what is listed.
    """
    spans, limit = np.asarray(spans, np.float32), np.float32(threshold)
    retained = []
    alive = np.ones(len(spans), bool)
    current = 0
    while len(retained) < keep:
        remaining = np.flatnonzero(alive[current:])
        if not len(remaining):
            break
        current += int(remaining[0])
        retained.append(current)
        alive[current:] &= iou(spans[current:], *spans[current]) <= limit
        alive[current] = False
    return np.array(retained, np.int64)


def best_spans(scores: np.ndarray, spans: np.ndarray, threshold: float, keep: int) -> np.ndarray:
    """Indices of the `keep` best spans [n, 2] by `scores` [n] after NMS, best first; equal scores in the order given.

    Only as many spans are sorted as NMS needs: the best 4096 first, more where too few of them stay.
    """
    size = min(len(scores), 4096)
    while True:
        if size < len(scores):
            bound = np.partition(scores, len(scores) - size)[len(scores) - size]
            candidates = np.flatnonzero(scores >= bound)
        else:
            candidates = np.arange(len(scores))
        candidates = candidates[np.argsort(-scores[candidates], kind="stable")]
        retained = suppress(spans[candidates], threshold, keep)
        if len(retained) == keep or len(candidates) == len(scores):
            return candidates[retained]
        size = min(len(scores), 4 * size)
