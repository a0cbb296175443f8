"""Figures of one GPU: the evaluator, encoders of frames and words, and the retrieval models.

    python -m benchmarks --gpu            # meant for at most eight minutes of an H200
    python -m benchmarks --gpu --tiny     # on any device, at sizes that say nothing

Seconds are of the wall, the best of three after a first. Shares are of the multiplications a second of one product of
two square matrices in the same number format. Weights are random, so that nothing is fetched: the evaluator is L/16,
the encoders are ResNet-152 and RoBERTa-base, steps have the batch of the paper or of the model's authors.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial

import numpy as np
import torch
from made_video import described_video, made_video
from sides import parsed
from torch.utils.flop_counter import FlopCounterMode

import features
from retrieval import SIZES, TINY, made_up
from verified.benchmark.vcmr.contract import Batch
from verified.benchmark.vcmr.registry import build_model, model_class
from verified.evaluator.inputs import make_batch
from verified.evaluator.model import NoiseEvaluator
from verified.evaluator.score import moment_readings
from verified.evaluator.settings import architecture
from verified.evaluator.training import TrainingStep, adamw, to_device
from verified.features.video import encode_videos
from verified.nn.layers import computing, visible_device

DEVICE = visible_device()
ROLES = ("caption", "positive", "static", "dynamic")
MODELS = ("xml", "reloclnet", "hero", "conquer", "squidnet")
WORDS = "a person in a red shirt slowly opens the wooden door and walks out of the bright room into the garden"
PRECISIONS = ("float32", "bfloat16")
Row = tuple[str, str, float, Callable[[], object], str]
"""Work, unit, how much of it one call does, the call, and the number format of the product beside it."""


def main() -> None:
    tiny = parsed(__doc__).tiny
    torch.manual_seed(0)
    card = torch.cuda.get_device_name() if DEVICE == "cuda" else "a CPU"
    print(f"| work on {card} | a second | of one product | GB |\n|---|---|---|---|", flush=True)
    for rows in (trained, scored, frames, words, stepped, searched):
        for work, unit, amount, call, precision in rows(tiny):
            with FlopCounterMode(display=False) as counter:
                call()
            seconds, memory = best(call)
            rate = counter.get_total_flops() / seconds  # 0 where other threads compute
            share = f"{rate / product_rate(precision, 512 if tiny else 8192):.2f}" if rate else "–"
            print(f"| {work} | {amount / seconds:,.4g} {unit} | {share} | {memory:.1f} |", flush=True)


def best(call: Callable[[], object]) -> tuple[float, float]:
    """The fewest seconds of three calls, and the most gigabytes in use on the card."""
    seconds, wait = [], torch.cuda.synchronize if DEVICE == "cuda" else lambda: None
    if DEVICE == "cuda":
        torch.cuda.reset_peak_memory_stats()
    for _ in range(3):
        wait()
        began = time.perf_counter()
        call()
        wait()
        seconds.append(time.perf_counter() - began)
    return min(seconds), torch.cuda.max_memory_allocated() / 1e9 if DEVICE == "cuda" else 0.0


@cache
def product_rate(precision: str, size: int) -> float:
    """Operations a second of one square product."""
    x = torch.ones(size, size, device=DEVICE, dtype=getattr(torch, precision))
    x @ x
    return 2 * size**3 / best(lambda: x @ x)[0]


def evaluator(tiny: bool) -> NoiseEvaluator:
    """L/16 with 20 frames, as the paper has it."""
    return NoiseEvaluator(architecture(*(("mini/16", 4, 32) if tiny else ("L/16", 20, 224)))).to(DEVICE)


def trained(tiny: bool) -> Iterator[Row]:
    """A step of fine-tuning, with and without activations computed again."""
    clips, model = 2 if tiny else 16, evaluator(tiny)
    step, size = TrainingStep(model, "all", "batch").to(DEVICE).train(), model.size
    shape = (clips, size.frames, size.image_size, size.image_size, 3)
    pixels = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    captions = {role: [f"{WORDS} {role} {number}" for number in range(clips)] for role in ROLES}
    batch = to_device(make_batch(pixels, captions, [str(number) for number in range(clips)]), torch.device(DEVICE))
    call = partial(descend, adamw(step, 1e-5), lambda: step(batch)[0], "bfloat16")
    for checkpointing in (True, False):
        model.use_checkpointing(checkpointing)
        how = "with checkpointing" if checkpointing else "without"
        yield f"fine-tuning, {clips} moments, {how}", "moments", clips, call, "bfloat16"


def descend(optimiser: torch.optim.Optimizer, loss: Callable[[], torch.Tensor], precision: str) -> None:
    """One step of training."""
    with computing(DEVICE, precision):
        value = loss()
    optimiser.zero_grad(set_to_none=True)
    value.backward()
    optimiser.step()


def scored(tiny: bool) -> Iterator[Row]:
    """Six candidates of a moment."""
    model = evaluator(tiny).eval()
    clip = torch.zeros(model.size.frames, model.size.image_size, model.size.image_size, 3, dtype=torch.uint8)
    captions = [f"{WORDS} {number}" for number in range(6)]
    for precision in PRECISIONS:
        call = partial(moment_readings, model, clip.to(DEVICE), captions, precision)
        yield f"scoring in {precision}", "candidates", 6, call, precision


def frames(tiny: bool) -> Iterator[Row]:
    """ResNet-152: the network alone, then from files on, read by one and by several threads."""
    size, workers = 4 if tiny else 256, max(2, (os.cpu_count() or 2) // 2)
    for precision in PRECISIONS:
        backbone = features.resnet([1, 1, 1, 1] if tiny else features.DEPTHS["ResNet-152"], precision)
        batch = np.zeros((size, backbone.size, backbone.size, 3), np.uint8)
        yield f"ResNet-152 in {precision}", "frames", size, partial(backbone, batch), precision
    video = described_video(made_video(2, 120) if tiny else made_video(60, 360))

    def read(network, count: int) -> None:
        with ThreadPoolExecutor(count) as pool:
            one = partial(encode_videos, [video], network, features.FPS, 1.0, size, {})
            list(pool.map(lambda _: list(one()), range(count)))

    for count in (1, workers):
        amount = count * round(video["duration"] * features.FPS)
        yield f"files of 360p, {count} at once", "frames", amount, partial(read, backbone, count), precision


def words(tiny: bool) -> Iterator[Row]:
    """RoBERTa-base on captions of 32 tokens."""
    from transformers import RobertaConfig, RobertaModel

    count, layers = (4, 1) if tiny else (256, 12)
    model = RobertaModel(RobertaConfig(num_hidden_layers=layers)).eval().to(DEVICE)
    ids = torch.randint(5, 50000, (count, 32), device=DEVICE)
    yield "RoBERTa-base", "captions", count, torch.inference_mode()(partial(model, ids)), "float32"


def stepped(tiny: bool) -> Iterator[Row]:
    """A training step of each retrieval model, on videos of 128 clips."""
    clips, tokens, width = (16, 8, 32) if tiny else (128, 30, 2048)
    for name in MODELS:
        kind = model_class(name)
        ids, count, slots = kind.query_input == "ids", 4 if tiny else kind.recipe.batch, 1 + kind.recipe.negatives
        more = {"vocabulary": 30522, "cls_id": 101} if ids else {}
        sizes = {"video_dim": width, "text_dim": 0 if ids else 768, "context_clips": clips, **more}
        model = build_model(name, sizes, kind.small if tiny else {}).to(DEVICE).train()
        shape = (count, slots, clips) if kind.two_stage else (count, clips)
        query = torch.randint(5, 30000, (count, tokens)) if ids else torch.randn(count, tokens, 768)
        batch = Batch(
            query,
            torch.ones(count, tokens, dtype=torch.bool),
            torch.randn(*shape, width),
            torch.ones(*shape, dtype=torch.bool),
            torch.tensor([[1, 5]] * count),
        ).to(DEVICE)

        losses = partial(model.losses, batch, epoch=0, step=0, generator=torch.Generator())
        optimiser = torch.optim.AdamW(model.parameters(), 1e-5)
        call = partial(descend, optimiser, lambda losses=losses: losses()["total"], "float32")
        yield f"a step of {name}, {count} queries", "queries", count, call, "float32"


def searched(tiny: bool) -> Iterator[Row]:
    """XML's lists at the size of Charades-FIG, and those of whole tensors (see `retrieval`)."""
    size = (TINY if tiny else SIZES)[0]
    made = made_up(size, DEVICE)
    yield f"search by XML, {size.name}", "queries", size.queries, made.search, "float32"
    yield "the same from whole tensors", "queries", size.plain, partial(made.plain_lists, size.plain), "float32"


if __name__ == "__main__":
    sys.exit(main())
