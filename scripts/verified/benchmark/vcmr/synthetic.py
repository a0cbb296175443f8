"""A synthetic corpus in memory, for the conformance checks: one query per video, and clips that answer it.

It replaces `Videos` (the object itself), `Queries` and `Ranked`, in the form that a model class asks for.
"""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from verified.benchmark.vcmr.contract import Batch, RetrievalModel
from verified.benchmark.vcmr.data import Moments, normalise
from verified.benchmark.vcmr.ranked import Ranked
from verified.benchmark.vcmr.search import SearchSettings

COUNT, CLIPS, TOKENS, VIDEO_DIM, TEXT_DIM, WORDS = 8, 12, 8, 16, 14, 30


class _Queries:
    """Padded tokens and mask of all queries, by index."""

    def __init__(self, tokens: Tensor, mask: Tensor):
        self.tokens, self.mask = tokens, mask

    def __len__(self) -> int:
        return len(self.tokens)

    def batch(self, index: np.ndarray) -> tuple[Tensor, Tensor]:
        return self.tokens[index], self.mask[index]


class SyntheticCorpus:
    """Eight videos of 1 to 12 clips and eight queries of 1 to 8 tokens; query i is about a part of video i.

    The shortest and the longest of both are among them, and moments that begin or end with their video.
    """

    count = COUNT
    context = CLIPS
    clip_seconds = np.ones(COUNT)

    def __init__(self, cls: type[RetrievalModel]):
        self.cls = cls
        draw = np.random.default_rng(11)
        lengths = np.array([12, 1, 12, 7, 8, 9, 10, 11])
        starts, ends = np.array([0, 0, 8, 2, 5, 1, 3, 4]), np.array([3, 1, 12, 6, 8, 4, 8, 7])
        self.times = np.stack([starts, ends], axis=1).astype(float)
        clips = draw.normal(size=(COUNT, CLIPS, VIDEO_DIM))
        meaning = draw.normal(size=(COUNT, VIDEO_DIM))
        for video, (start, end) in enumerate(zip(starts, ends)):
            clips[video, start:end] += 2 * meaning[video]
        self._mask = torch.from_numpy(np.arange(CLIPS)[None] < lengths[:, None])
        clips = (normalise(clips) if cls.normalise_video else clips).astype(np.float32)
        self._clips = torch.from_numpy(clips) * self._mask[:, :, None]
        self.queries = self._make_queries(draw)
        self.true_video = np.arange(COUNT)
        self.span = torch.tensor([cls.label(start, end, 1.0, int(n)) for (start, end), n in zip(self.times, lengths)])
        self.negatives = min(cls.recipe.negatives, 3) if cls.two_stage else 0
        self.searching = SearchSettings(
            min_pred_clips=0, max_pred_clips=6, searched_videos=5, rows=20, chunk=3, quiet=True
        )
        self.ranked = self._rank_videos(draw) if cls.two_stage else None

    def _make_queries(self, draw: np.random.Generator) -> _Queries:
        lengths = np.array([1, 8, 2, 5, 8, 3, 4, 6])
        mask = torch.from_numpy(np.arange(TOKENS)[None] < lengths[:, None])
        if self.cls.query_input == "ids":
            ids = torch.from_numpy(draw.integers(2, WORDS, (COUNT, TOKENS)))
            ids[:, 0] = self.sizes["cls_id"]
            return _Queries(ids * mask, mask)
        tokens = draw.normal(size=(COUNT, TOKENS, TEXT_DIM))
        tokens = (normalise(tokens) if self.cls.normalise_query else tokens).astype(np.float32)
        return _Queries(torch.from_numpy(tokens) * mask[:, :, None], mask)

    def _rank_videos(self, draw: np.random.Generator) -> Ranked:
        order = np.stack([draw.permutation(COUNT) for _ in range(COUNT)])
        cosine = np.sort(draw.uniform(-0.2, 0.8, (COUNT, COUNT)).astype(np.float32), axis=1)[:, ::-1].copy()
        return Ranked(np.arange(COUNT), order, cosine, [f"video{i}" for i in range(COUNT)])

    @property
    def sizes(self) -> dict[str, int]:
        """Config values fixed by the synthetic data."""
        sizes = {"video_dim": VIDEO_DIM, "text_dim": TEXT_DIM, "context_clips": CLIPS, "query_tokens": TOKENS}
        return {**sizes, "vocabulary": WORDS, "cls_id": 1}

    @property
    def all_queries(self) -> tuple[Tensor, Tensor]:
        """Tokens [Q, L, dim] and mask [Q, L] of all queries."""
        return self.queries.tokens, self.queries.mask

    @property
    def all_videos(self) -> tuple[Tensor, Tensor]:
        """Clips [V, L, dim] and mask [V, L] of all videos."""
        return self._clips, self._mask

    def __len__(self) -> int:
        return COUNT

    def batch(self, index: np.ndarray) -> tuple[Tensor, Tensor]:
        """Clips [B, L, dim] and mask [B, L] of the videos at `index` [B], as `Videos.batch` gives them."""
        return self._clips[index], self._mask[index]

    def training_batch(self, seed: int = 0) -> Batch:
        """All queries with their videos and, for two-stage models, negatives that `seed` draws."""
        if not self.cls.two_stage:
            return Batch(*self.all_queries, *self.all_videos, self.span)
        slots = self.slots(seed)
        return Batch(*self.all_queries, self._clips[slots], self._mask[slots], self.span)

    def slots(self, seed: int = 0) -> Tensor:
        """[8, 1 + negatives] videos of each query in `training_batch(seed)` of a two-stage model, its own first."""
        draw = np.random.default_rng(seed)
        rows = [[i, *draw.permutation([j for j in range(COUNT) if j != i])[: self.negatives]] for i in range(COUNT)]
        return torch.tensor(np.array(rows))

    def moments(self, true_video: np.ndarray) -> Moments:
        """The queries as moments, with `true_video` [8] as their videos."""
        names = [f"video{i}" for i in range(COUNT)]
        return Moments(np.arange(COUNT), true_video, self.times, names, names, Path("corpus"))
