"""What encoding a moment once saves the evaluator, and what a training step costs in one, two and four processes.

    python benchmarks/evaluator.py                # scoring and fusion at the proportions of L/16, shortened
    python benchmarks/evaluator.py --steps        # step time of the tiny size against the number of processes

The shortened network keeps L/16's proportions: patches of 16 pixels at 224 (196 tokens a frame), four times the width
in the feed-forward layers, heads of 64, and layers as 24 : 19 : 5; width, layers and frames are divided by four or
five. Six captions of 16 words stand for six candidates (64 words would be the full size's limit, with four times the
tokens on the video's side too). Seconds are processor seconds for scoring and wall seconds for steps; both sides of a
ratio run in the same process and give the same logits, which is checked first.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

CAPTIONS, WORDS, FRAMES = 6, 16, 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", action="store_true")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    time_steps() if options.steps else time_scoring(options.repeats)


def time_scoring(repeats: int) -> None:
    import torch

    from verified.evaluator.architecture import Architecture
    from verified.evaluator.model import NoiseEvaluator

    torch.set_num_threads(1)
    torch.manual_seed(0)
    size = Architecture(
        "shortened",
        FRAMES,
        224,
        vision_width=256,
        vision_layers=5,
        vision_heads=4,
        vision_feedforward=1024,
        text_width=256,
        text_layers=4,
        fusion_layers=1,
        text_heads=4,
        text_feedforward=1024,
        vocabulary=1000,
    )
    model = NoiseEvaluator(size).eval()
    pixels = torch.randn(1, FRAMES, 3, 224, 224)
    ids, mask = torch.randint(5, 1000, (CAPTIONS, WORDS)), torch.ones(CAPTIONS, WORDS, dtype=torch.int64)
    with torch.inference_mode():
        tokens, _ = model.encode_video(pixels)
        states = model.text(ids, mask)

        def clip_once():
            tokens, _ = model.encode_video(pixels)
            return model.match(model.text(ids, mask), mask, model.fusion.memory(tokens))

        def clip_per_candidate():
            rows = []
            for one in range(CAPTIONS):
                tokens, _ = model.encode_video(pixels)
                states = model.text(ids[one : one + 1], mask[one : one + 1])
                rows.append(model.match(states, mask[one : one + 1], model.fusion.memory(tokens)))
            return torch.cat(rows)

        def fusion_once():
            return model.match(states, mask, model.fusion.memory(tokens))

        def fusion_per_pair():
            rows = []
            for one in range(CAPTIONS):
                rows.append(model.match(states[one : one + 1], mask[one : one + 1], model.fusion.memory(tokens)))
            return torch.cat(rows)

        for name, ours, literal, aim in (
            ("scoring six candidates", clip_once, clip_per_candidate, 4),
            ("fusion alone", fusion_once, fusion_per_pair, 3),
        ):
            torch.testing.assert_close(ours(), literal(), atol=1e-4, rtol=1e-4)
            fast, slow = processor_seconds(ours, repeats), processor_seconds(literal, repeats)
            print(
                f"{name:24} {fast:7.3f} s once, {slow:7.3f} s per pair, ratio {slow / fast:.2f} (aim {aim})", flush=True
            )


def processor_seconds(function, repeats: int) -> float:
    """The least processor time of a call."""
    spent = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        spent.append(time.process_time() - start)
    return min(spent)


def time_steps() -> None:
    import torch.multiprocessing as mp

    for world in (1, 2, 4):
        mp.spawn(step_times, (world,), nprocs=world)


def step_times(rank: int, world: int, steps: int = 6, batch: int = 32) -> None:
    """Train the tiny size on world items; rank 0 prints the median wall time of a step."""
    import os
    import statistics

    import torch
    import torch.distributed as dist

    from verified.evaluator.architecture import architecture
    from verified.evaluator.model import NoiseEvaluator
    from verified.evaluator.processes import share
    from verified.evaluator.step import TrainingStep
    from verified.evaluator.tiny.pretrain import world_batch
    from verified.evaluator.training import adamw

    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="localhost", MASTER_PORT="29571")
    dist.init_process_group("gloo", rank=rank, world_size=world)
    size = architecture("tiny", 8, 64)
    torch.manual_seed(0)
    step = TrainingStep(NoiseEvaluator(size), "all", "batch")
    wrapped = torch.nn.parallel.DistributedDataParallel(step)
    optimiser, made = adamw(step, 1e-4), world_batch(1, 0, batch, size)
    made.frames = made.frames[share(batch, rank, world)]
    spent = []
    for _ in range(steps):
        start = time.perf_counter()
        loss, _ = wrapped(made)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        spent.append(time.perf_counter() - start)
    if rank == 0:
        print(f"{world} processes, {batch} moments a step: {statistics.median(spent):.3f} s a step", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
