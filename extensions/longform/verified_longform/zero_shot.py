"""The zero-shot baseline: mean-pooled frame features of each proposal against the sentence, by cosine.

All queries of a movie are scored at once and no proposal is pooled separately. With clip sums s_c, a proposal from clip
a to b has the sum S = s_a + … + s_(b−1), and the cosine of its mean with a query q is S·q / (|S| |q|). S·q is the
difference of two prefix sums of s_c·q, one matrix product for the movie; |S|² comes from the Gram matrix of each
window's clips, summed over rectangles. A query costs two look-ups a proposal of any length.
"""

from collections.abc import Iterator

import numpy as np

from verified.benchmark.lists import suppress_spans
from verified_longform.grid import Grid
from verified_longform.recall import DEPTH

QUERIES_AT_ONCE = 32
WINDOWS_AT_ONCE = 64
NMS = 0.3


def rank_proposals(
    frames: np.ndarray, queries: np.ndarray, grid: Grid, duration: float | None = None, nms_threshold: float = NMS
) -> list[np.ndarray]:
    """The best spans of a movie for each query: float64 [at most 100, 3] of start, end (seconds) and cosine.

    frames: raw features [n, dim] at ``grid.fps``; queries: sentence features [queries, dim]. The windows go over
    ceil(duration · fps) frames as in the published script, or over the features without a duration; a proposal pools
    its existing frames, and one without any is omitted.
    """
    count = len(frames) if duration is None else grid.frames_of(duration)
    spans = np.unique(grid.proposals(count), axis=0)  # repetitions score equally, and NMS would remove them
    spans = spans[spans[:, 0] * grid.clip_frames < len(frames)]
    if not len(spans):
        return [np.zeros((0, 3)) for _ in queries]
    sums = clip_sums(frames, grid.clip_frames, int(spans[:, 1].max()))
    lengths = span_norms(sums, spans, grid.clips)
    seconds = grid.seconds(spans)
    ranked = []
    for column in cosines(sums, spans, lengths, queries):
        best = best_spans(column, seconds, nms_threshold, DEPTH)
        ranked.append(np.column_stack([seconds[best], column[best]]))
    return ranked


def cosines(sums: np.ndarray, spans: np.ndarray, lengths: np.ndarray, queries: np.ndarray) -> Iterator[np.ndarray]:
    """For each of the sentence features [queries, dim], its cosine with every span of clips: float64 [P].

    sums: of the clips [clips, dim]; lengths: `span_norms` of the spans [P, 2].
    """
    for start in range(0, len(queries), QUERIES_AT_ONCE):
        unit_queries = queries[start : start + QUERIES_AT_ONCE].astype(np.float64)
        unit_queries /= np.maximum(np.linalg.norm(unit_queries, axis=1, keepdims=True), 1e-12)
        prefix = np.zeros((len(sums) + 1, len(unit_queries)))
        np.cumsum(sums @ unit_queries.T, axis=0, out=prefix[1:])
        yield from np.ascontiguousarray(((prefix[spans[:, 1]] - prefix[spans[:, 0]]) / lengths[:, None]).T)


def clip_sums(frames: np.ndarray, clip_frames: int, clips: int) -> np.ndarray:
    """Sums of the frames of each clip, float64 [clips, dim]; missing frames count as zero."""
    whole = np.zeros((clips * clip_frames, frames.shape[1]))
    movie_clips = frames[: len(whole)]
    whole[: len(movie_clips)] = movie_clips
    return whole.reshape(clips, clip_frames, -1).sum(axis=1)


def span_norms(sums: np.ndarray, spans: np.ndarray, clips: int) -> np.ndarray:
    """|S| of each span [P, 2] of clips, none longer than `clips`: float64 [P], at least 1e-12.

    Spans ordered by their start are served block by block; a block is a Gram matrix of a segment of clips.
    """
    norms = np.empty(len(spans))
    width = WINDOWS_AT_ONCE + clips
    first = 0
    while first < len(spans):
        origin = int(spans[first, 0])
        last = int(np.searchsorted(spans[:, 0], origin + WINDOWS_AT_ONCE))
        block = sums[origin : origin + width]
        corners = np.zeros((len(block) + 1, len(block) + 1))
        np.cumsum(np.cumsum(block @ block.T, axis=0), axis=1, out=corners[1:, 1:])
        a, b = (spans[first:last] - origin).T
        norms[first:last] = corners[b, b] - 2 * corners[a, b] + corners[a, a]
        first = last
    return np.maximum(np.sqrt(np.maximum(norms, 0)), 1e-12)


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
        retained = suppress_spans(spans[candidates], threshold, keep)
        if len(retained) == keep or len(candidates) == len(scores):
            return candidates[retained]
        size = min(len(scores), 4 * size)
