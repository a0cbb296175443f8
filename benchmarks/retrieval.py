"""VR, SVMR and VCMR lists of XML at the sizes of Charades-FIG and ActivityNet-FIG, beside a plain implementation.

    python benchmarks/retrieval.py          # a minute, 3 GB of memory

Encodings of a corpus are made up; half of its videos fill the context, the others a quarter of it or more. Charades-FIG
has 3,720 queries, 1,334 videos and 48 clips; of ActivityNet-FIG's 17,000 queries 170 are asked, each over all of its
4,885 videos of 240 clips. The plain implementation forms the same lists from whole tensors: logits of all videos, every
span, full sorts; it is given some of the queries. The limit is the products of each query with the clips there are, and
with those of the hundred videos that are looked into.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sides import Row, arithmetic, asked, compare, side

TOKENS, VIDEO_DIM, TEXT_DIM, HIDDEN = 30, 64, 768, 256
LENGTHS = 11, 14, 17, 18, 20, 22, 24, 27, 30
"""Tokens of queries in turn: Charades-FIG's captions have 17 words on average, and a tokeniser adds some."""


class Size(NamedTuple):
    """A corpus and how it is searched."""

    name: str
    queries: int
    videos: int
    clips: int
    min_pred_clips: int
    max_pred_clips: int
    plain: int = 0
    """Queries of the plain implementation."""


SIZES = (
    Size("3,720 queries of Charades-FIG", 3720, 1334, 48, 2, 12, plain=50),
    Size("170 of ActivityNet-FIG's 17,000 queries", 170, 4885, 240, 1, 180, plain=2),
)
TINY = (Size("tiny", 20, 30, 16, 2, 12, plain=4),)


def main() -> None:
    options = asked(__doc__)
    import torch

    torch.set_num_threads(1)
    for size in TINY if options.tiny else SIZES:
        made = made_up(size)
        found = made.search()["VR"].video[: size.plain, 0]
        if (found != made.plain_lists(size.plain)[:, 0].numpy()).any():
            sys.exit(f"{size.name}: the two ways find different videos")
        own = side("ours", made.search, size.queries)
        plain = side("plain", lambda made=made, size=size: made.plain_lists(size.plain), size.plain)
        compare(options.turns, Row(size.name, "queries", own, plain, arithmetic(made.products(), size.queries)))


@dataclass
class MadeUp:
    """A corpus that is encoded, and queries."""

    size: Size
    model: object
    corpus: dict
    tokens: object
    """Token features [Q, T, E]."""
    device: str = "cpu"

    def __post_init__(self):
        import numpy as np

        from verified.benchmark.vcmr.data import Moments
        from verified.benchmark.vcmr.search import SearchSettings

        size = self.size
        numbers = np.arange(size.queries)
        names = [f"v{number:05d}" for number in range(size.videos)]
        spans = np.zeros((size.queries, 2))
        self.moments = Moments(numbers, numbers % size.videos, spans, [""] * size.queries, names, Path("none"))
        limits = size.min_pred_clips, size.max_pred_clips
        self.settings = SearchSettings(*limits, memory_mb=3000, quiet=True, device=self.device)
        self.context, self.clip_seconds = size.clips, np.ones(size.videos)

    def __len__(self) -> int:
        return self.size.videos

    def search(self):
        """The lists of all queries."""
        from verified.benchmark.vcmr.search import search

        corpus = dict(self.corpus)
        return search(self.model, self, Texts(self.tokens), self.moments, self.settings, corpus=corpus)

    def products(self) -> float:
        """Multiplications that no search can leave out."""
        looked_into = min(self.settings.searched_videos, self.size.videos) * self.size.clips
        return self.size.queries * HIDDEN * (int(self.corpus["mask"].sum()) + looked_into)

    def plain_lists(self, count: int):
        """Literal decoding of the first queries, four at a time; their videos, best first."""
        import torch

        from verified.benchmark.vcmr.search import encode_queries

        rankings = []
        with torch.no_grad():
            for at in range(0, count, 4):
                index = list(range(at, min(at + 4, count)))
                queries = encode_queries(self.model, Texts(self.tokens), index, self.device)
                rankings.append(self._plainly(queries, torch.from_numpy(self.moments.video[index])))
        return torch.cat(rankings).cpu()

    def _plainly(self, queries, truth):
        import torch
        import torch.nn.functional as F

        unit, localised, mask = (self.corpus[name].to(self.device) for name in ("unit", "localised", "mask"))
        scores = torch.einsum("qd,vld->qvl", queries["unit"], unit).masked_fill(~mask, -1e10).amax(dim=2)
        weights, ranking = torch.exp(20 * scores).sort(dim=1, descending=True)
        weights, ranking = weights[:, :100], ranking[:, :100]
        products = torch.einsum("qd,vld->qvl", queries["localiser"], localised)
        count, videos, clips = products.shape
        probabilities = []
        for kernel in (self.model.video_st_predictor, self.model.video_ed_predictor):
            logits = F.conv1d(products.view(-1, 1, clips), kernel.weight, padding=2).view(count, videos, clips)
            probabilities.append(logits.masked_fill(~mask, -1e10).softmax(dim=2))
        places = torch.arange(clips, device=self.device)
        distance = places[None] - places[:, None]
        allowed = ((distance >= self.settings.min_pred_clips) & (distance < self.settings.max_pred_clips)).float()
        start, end = (one[torch.arange(count)[:, None], ranking] for one in probabilities)
        for row in range(count):
            spans = torch.einsum("v,vm,vn->vmn", weights[row], start[row], end[row]) * allowed
            spans.flatten().sort(descending=True)
            alone = probabilities[0][row, truth[row]][:, None] * probabilities[1][row, truth[row]][None] * allowed
            alone.flatten().sort(descending=True)
        return ranking


@dataclass
class Texts:
    """Queries in the form that the search reads."""

    tokens: object

    def __len__(self) -> int:
        return len(self.tokens)

    def batch(self, index):
        """Token features and mask of the queries at `index`."""
        import numpy as np
        import torch

        lengths = torch.tensor(LENGTHS)[torch.from_numpy(np.asarray(index)) % len(LENGTHS)]
        return self.tokens[index], torch.arange(self.tokens.shape[1]) < lengths[:, None]


def made_up(size: Size, device: str = "cpu") -> MadeUp:
    """An untrained XML, encodings of a corpus of unit length, and queries."""
    import torch

    from verified.benchmark.vcmr.registry import build_model

    torch.manual_seed(0)
    model = build_model("xml", {"video_dim": VIDEO_DIM, "text_dim": TEXT_DIM, "context_clips": size.clips}).eval()
    vectors = torch.randn(size.videos, size.clips, HIDDEN)
    vectors /= vectors.norm(dim=2, keepdim=True)
    half = size.videos // 2
    lengths = torch.full((size.videos,), float(size.clips))
    lengths[half:] = torch.linspace(size.clips // 4, size.clips, size.videos - half).round()
    mask = torch.arange(size.clips) < lengths[:, None]
    corpus = {"unit": vectors, "localised": vectors, "mask": mask}
    return MadeUp(size, model.to(device), corpus, torch.randn(size.queries, TOKENS, TEXT_DIM), device)


if __name__ == "__main__":
    sys.exit(main())
