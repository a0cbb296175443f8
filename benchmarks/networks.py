"""The networks at the paper's widths with their linear maps by oneDNN, as they run, and by MKL, PyTorch's own way.

XML's step of training has a third side, as it runs: without pads, and with the dropout of wide models. What is compared
of it is computed without dropout, which draws otherwise there.

    python benchmarks/networks.py                         # five turns of each, about half a minute
    python benchmarks/networks.py --work conquer hero     # some of them

One thread, random weights from one seed, processor seconds, the sides in turns in one process. The largest difference
of outputs (of training: losses and a gradient) is printed, and the limit: the multiplications of the network's matrices
at the rate of one large product by oneDNN on this machine, measured in the same run.
"""

import argparse
import math
import statistics
import sys
from contextlib import ExitStack
from functools import partial
from unittest.mock import patch

from sides import compare, here, processor_seconds

here(__file__)
CLIPS, TOKENS, VIDEO_DIM, TEXT_DIM, HIDDEN = 48, 12, 2048, 768, 768
LENGTHS = [16 + round(pair / 31 * 32) for pair in range(32)]
"""Clips of the pairs of a training step."""
PACKED = "as it runs"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", nargs="+", choices=sorted(WORK), default=list(WORK))
    options = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    for work in options.work:
        make, what, limit = WORK[work]
        torch.manual_seed(0)
        (run, compared), outputs = make(), {}
        ways = ("MKL", "oneDNN", PACKED) if work == "xml" else ("MKL", "oneDNN")
        medians = compare(f"{work}: {what}", {way: partial(side, way, run, compared, outputs) for way in ways})
        first, *others = outputs.values()
        difference = max((one - its).abs().max().item() for other in others for one, its in zip(first, other))
        print(f"{'':<34}largest difference {difference:.1e}")
        if limit:
            floor, after = limit / rate(), medians[ways[-1]]
            print(f"{'':<34}limit {floor:.3f} CPU-s ({limit / 1e9:.2f}e9 multiplications), {after / floor:.2f} of it")


def side(way: str, run, compared, outputs: dict[str, list]) -> float:
    """Seconds of one run; before the first of a way, what is compared of it is kept, and it warms up."""
    from torch.nn import functional

    from verified.common import linear
    from verified.retrieval import dropout
    from verified.retrieval.models import xml

    with ExitStack() as stack:
        stack.enter_context(patch.object(linear, "HAS_ONEDNN", way != "MKL"))
        if way != PACKED:
            stack.enter_context(patch.object(xml, "LEAST_WEIGHTS", math.inf))
            stack.enter_context(patch.object(dropout, "dropout", functional.dropout))
        if way not in outputs:
            outputs[way] = [tensor.detach().clone() for tensor in compared()]
            run()
        return processor_seconds(run)


def rate() -> float:
    """Multiplications a second of one large product by oneDNN, of three the median."""
    import torch

    from verified.common.linear import linear

    torch.set_num_threads(1)
    x, weight = torch.randn(2048, 3072), torch.randn(768, 3072)
    seconds = [processor_seconds(lambda: linear(x, weight)) for _ in range(4)][1:]
    return 2048 * 3072 * 768 / statistics.median(seconds)


def built(name: str, **sizes):
    """A model with random weights that computes as the trained ones do."""
    from verified.retrieval.registry import build_model

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


def hero():
    """Four videos that fill the context."""
    import torch

    model = built("hero", text_dim=0, vocabulary=1000, cls_id=1)
    video, mask = torch.randn(4, CLIPS, VIDEO_DIM), torch.ones(4, CLIPS, dtype=torch.bool)

    def run():
        with torch.no_grad():
            encoded = model.encode_videos(video, mask)
        return encoded["unit"], encoded["localised"]

    return run, run


def xml():
    """A step of training on 32 pairs of 12 tokens and 16 to 48 clips; its losses and a gradient."""
    import torch

    from verified.retrieval.contract import Batch

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

    from verified.retrieval.optimisers import BertAdam, parameter_groups

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


def sentences():
    """Embeddings of 64 captions."""
    import torch

    from verified.common.sentences import encode

    texts = [f"a man in {'dark ' * (at % 8)}red opens door {at} and walks out" for at in range(64)]

    def run():
        return [torch.from_numpy(encode(texts))]

    return run, run


# The matrices of a clip, in D² multiplications: CONQUER's FC 4 + 5 + 2, three BERT layers of 12, a kernel of 5 × 128
# twice; SQuiDNet's FC 3 + 4 + 2, the same layers and kernels, and one D² for each of 12 tokens and for the clip.
PAIR = 8 * CLIPS * HIDDEN**2
# XML's step, forwards and twice as much backwards: two projections, four maps in each of three blocks for a clip and of
# one for a token, and two products of a clip with every clip of its video in three blocks.
XML_HIDDEN = 256
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
    "conquer": (partial(two_stage, "conquer"), "8 pairs", PAIR * (11 + 36 + 10 * 128 / HIDDEN)),
    "squidnet": (partial(two_stage, "squidnet"), "8 pairs", PAIR * (9 + 36 + 10 * 128 / HIDDEN + TOKENS + 1)),
    "hero": (hero, "4 videos", 4 * CLIPS * HIDDEN * (9 * 12 * HIDDEN + 2 * VIDEO_DIM)),
    "xml": (xml, "a step of 32", STEP),
    "sentences": (sentences, "64 captions", None),
}

if __name__ == "__main__":
    sys.exit(main())
