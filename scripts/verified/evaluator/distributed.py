"""Training in several processes: gathering with gradients, and the share of a batch that a process owns."""

import torch
import torch.distributed as dist
from torch import Tensor


def processes() -> tuple[int, int]:
    """(rank, world size); (0, 1) where no process group was started."""
    return (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)


def share(batch: int, rank: int, world: int) -> slice:
    """The items of a batch that process `rank` owns; `batch` is a multiple of `world`."""
    if batch % world:
        raise ValueError(f"a batch of {batch} cannot be split evenly over {world} processes")
    return slice(rank * batch // world, (rank + 1) * batch // world)


class _Gather(torch.autograd.Function):
    """All-gather along the first dimension whose backward pass sums what every process says about our part."""

    @staticmethod
    def forward(ctx, local: Tensor) -> Tensor:
        rank, world = processes()
        ctx.part = share(len(local) * world, rank, world)
        parts = [torch.empty_like(local) for _ in range(world)]
        dist.all_gather(parts, local.contiguous())
        return torch.cat(parts)

    @staticmethod
    def backward(ctx, gradient: Tensor) -> Tensor:
        gradient = gradient.contiguous()
        dist.all_reduce(gradient)
        return gradient[ctx.part]


def gather(local: Tensor) -> Tensor:
    """[b, ...] of every process, joined in order of rank: [B, ...]; gradients flow back to every process.

    UMT lets gradients flow through the local part alone, so that its result depends on the number of processes.
    """
    return _Gather.apply(local) if processes()[1] > 1 else local


def total(value: Tensor) -> Tensor:
    """Sum of a detached tensor over all processes."""
    value = value.detach().clone()
    if processes()[1] > 1:
        dist.all_reduce(value)
    return value
