"""The networks at the paper's widths as they run on this processor, and the other way.

Linear maps run by oneDNN on AMD's processors and by PyTorch's own library, MKL, on others (`verified.nn.linear`).

    python benchmarks/networks.py                         # a minute
    python benchmarks/networks.py --work conquer hero     # some of them

One thread, random weights from one seed. Outputs (of training: losses and a gradient, computed without dropout, which
draws otherwise there) may differ by 1e-4 at most. XML's step of training as it runs also leaves pads out and draws
dropout its own way; the other does neither. The limit is the multiplications that the work does, of the step those of
real tokens and clips.
"""

import math
import sys
from contextlib import ExitStack
from functools import partial
from unittest.mock import patch

from sides import Row, arithmetic, asked, compare, described, multiplications, side

CLIPS, TOKENS, VIDEO_DIM, TEXT_DIM, XML_HIDDEN = 48, 12, 2048, 768, 256
LENGTHS = [16 + round(pair / 31 * 32) for pair in range(32)]
"""Clips of the pairs of a training step."""


def main() -> None:
    parser = described(__doc__)
    parser.add_argument("--work", nargs="+", choices=sorted(WORK), default=list(WORK))
    options = asked(parser)
    import torch

    torch.set_num_threads(1)
    from verified.nn import linear

    other = "MKL" if linear.BY_ONEDNN else "oneDNN"
    for work in options.work[-1:] if options.tiny else options.work:
        make, what, unit, amount, times, needed = WORK[work]
        torch.manual_seed(0)
        run, compared = make()
        after, before = by_way("as it runs", compared), by_way(other, compared)
        difference = max((one - other).abs().max().item() for one, other in zip(after, before, strict=True))
        print(f"  {work}: outputs differ by {difference:.1e} at most", file=sys.stderr)
        if not difference < 1e-4:
            sys.exit(f"{work}: the outputs differ by {difference:.1e}")
        sides = [side(way, lambda way=way, run=run: by_way(way, run), amount, times) for way in ("as it runs", other)]
        compare(options.turns, Row(what, unit, *sides, arithmetic(needed or multiplications(run), amount)))


def by_way(way: str, run) -> list:
    """What comes of one run, as it runs or by the library `way` on padded sequences with PyTorch's dropout."""
    from torch.nn import functional

    from verified.benchmark.vcmr.models import xml
    from verified.nn import dropout, linear

    with ExitStack() as stack:
        if way != "as it runs":
            stack.enter_context(patch.object(linear, "BY_ONEDNN", way == "oneDNN"))
            stack.enter_context(patch.object(xml, "LEAST_WEIGHTS", math.inf))
            stack.enter_context(patch.object(dropout, "dropout", functional.dropout))
        return [tensor.detach().clone() for tensor in run()]


def built(name: str, **sizes):
    """A model with random weights that computes as the trained ones do."""
    from verified.benchmark.vcmr.registry import build_model

    return build_model(name, {"video_dim": VIDEO_DIM, "context_clips": CLIPS, "text_dim": TEXT_DIM, **sizes}).eval()


def two_stage(name: str):
    """Start and end logits of 8 pairs: 4 queries of 12 tokens and 2 videos that fill the context."""
    import torch

    model = built(name)
    seen = torch.arange(30) < TOKENS
    query = torch.randn(4, 30, TEXT_DIM) * seen[:, None]
    with torch.no_grad():
        queries = model.encode_queries(query, seen.expand(4, -1))
        videos = model.encode_videos(torch.randn(2, CLIPS, VIDEO_DIM), torch.ones(2, CLIPS, dtype=torch.bool))
    pairs = torch.arange(4).repeat(2), torch.arange(2).repeat_interleave(4)

    def run():
        with torch.no_grad():
            spans = model.span_logits(queries, videos, *pairs)
        return spans.start, spans.end

    return run, run


def videos_of(name: str, count: int):
    """Videos that fill the context."""
    import torch

    model = built(name, **({"text_dim": 0, "vocabulary": 1000, "cls_id": 1} if name == "hero" else {}))
    model.requires_grad_(False)  # counting stumbles over a view of a parameter
    video, mask = torch.randn(count, CLIPS, VIDEO_DIM), torch.ones(count, CLIPS, dtype=torch.bool)

    def run():
        with torch.no_grad():
            encoded = model.encode_videos(video, mask)
        return encoded["unit"], encoded["localised"]

    return run, run


def training():
    """A step of training on 32 pairs of 12 tokens and 16 to 48 clips; its losses and a gradient."""
    import torch

    from verified.benchmark.vcmr.contract import Batch

    seen, tokens = torch.arange(CLIPS) < torch.tensor(LENGTHS)[:, None], torch.arange(30) < TOKENS
    pairs = len(LENGTHS)
    batch = Batch(
        torch.randn(pairs, 30, TEXT_DIM) * tokens[:, None],
        tokens.expand(pairs, -1),
        torch.randn(pairs, CLIPS, VIDEO_DIM) * seen[:, :, None],
        seen,
        torch.zeros(pairs, 2, dtype=torch.int64),
    )
    return stepped(batch), stepped(batch, dropout=0.0)


def stepped(batch, **options):
    """A function that takes one step of XML's training, with rate 0, so that every step is the same."""
    import torch

    from verified.nn.optimisers import BertAdam, parameter_groups

    model = built("xml", **options).train()
    optimiser = BertAdam(parameter_groups(model.named_parameters(), 0.0), 0.0)

    def run():
        torch.manual_seed(0)
        optimiser.zero_grad()
        losses = model.losses(batch, epoch=0, step=0, generator=torch.Generator().manual_seed(0))
        losses["total"].backward()
        gradients = [loss.detach() for loss in losses.values()] + [model.video_query_linear.weight.grad.clone()]
        optimiser.step()
        return gradients

    return run


# XML's step, forwards and twice as much backwards: two projections, four maps in each of three blocks for a clip and of
# one for a token, and two products of a clip with every clip of its video in three blocks.
STEP = (
    3
    * XML_HIDDEN
    * (
        sum(LENGTHS) * (VIDEO_DIM + 12 * XML_HIDDEN)
        + len(LENGTHS) * TOKENS * (TEXT_DIM + 4 * XML_HIDDEN)
        + 6 * sum(length**2 for length in LENGTHS)
    )
)

WORK = {
    "conquer": (partial(two_stage, "conquer"), "CONQUER, start and end of 8 pairs of 48 clips", "pairs", 8, 2, None),
    "squidnet": (partial(two_stage, "squidnet"), "SQuiDNet, the same", "pairs", 8, 2, None),
    "hero": (partial(videos_of, "hero", 4), "HERO, 4 videos of 48 clips encoded", "videos", 4, 2, None),
    "xml": (partial(videos_of, "xml", 16), "XML, 16 videos of 48 clips encoded", "videos", 16, 10, None),
    "training": (training, "XML, a step of training on 32 pairs of 16 to 48 clips", "pairs", 32, 2, STEP),
}
"""Work → how it is made, what it is, what is counted, how many of that, how often a turn, multiplications if known."""

if __name__ == "__main__":
    sys.exit(main())
