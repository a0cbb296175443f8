"""A step of fine-tuning in one, two and four processes: wall seconds, for it is the wall that they shorten.

    python benchmarks/evaluator_processes.py          # a minute on as many cores

The tiny size on 32 moments, of which each process sees its share; the median of six steps. No part of the tables: on
two cores it says little.
"""

import os
import statistics
import time

from sides import described


def main() -> None:
    described(__doc__).parse_args()
    import torch.multiprocessing as mp

    for world in (1, 2, 4):
        mp.spawn(step_times, (world,), nprocs=world)


def step_times(rank: int, world: int, steps: int = 6, batch: int = 32) -> None:
    """Train in `world` processes; the first prints the median wall time of a step."""
    import torch
    import torch.distributed as dist

    from verified.demo.tiny_evaluator.pretrain import world_batch
    from verified.evaluator.architecture import architecture
    from verified.evaluator.model import NoiseEvaluator
    from verified.evaluator.processes import share
    from verified.evaluator.step import TrainingStep
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
