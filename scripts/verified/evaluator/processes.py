"""Training in several processes: starting them, gathering with gradients, and the share of a batch that one owns."""

import logging
import os
from collections.abc import Callable

import torch
import torch.distributed as dist
from torch import Tensor

from verified.errors import InputError
from verified.runtime.job import log_to
from verified.runtime.processes import die_with


def run_in_processes(count: int, cuda: bool, function: Callable, *arguments) -> None:
    """Call `function(device, *arguments)` in this process, or in `count` processes that form a group, as torchrun does.

    One process a GPU with `cuda`, otherwise on the CPU. function must be importable by name and arguments plain. The
    processes die with this one. Raises InputError with the first failure's message when one fails.
    """
    if count == 1:
        function(torch.device("cuda" if cuda else "cpu"), *arguments)
        return
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    config = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=count,
        rdzv_backend="c10d",
        rdzv_endpoint="localhost:0",
        run_id=f"evaluator-{os.getpid()}",
        max_restarts=0,
    )
    try:
        elastic_launch(config, _member)(os.getpid(), _log_file(), cuda, function, arguments)
    except ChildFailedError as error:
        rank, failure = error.get_first_failure()
        raise InputError(f"process {rank} of the training failed: {failure.message}") from None


def _log_file() -> str | None:
    files = (handler for handler in logging.getLogger("verified").handlers if isinstance(handler, logging.FileHandler))
    return next((handler.baseFilename for handler in files), None)


def _member(*arguments) -> None:
    from torch.distributed.elastic.multiprocessing.errors import record

    record(_run_process)(*arguments)  # so that the first failure and its message reach the parent


def _run_process(parent: int, log_file: str | None, cuda: bool, function: Callable, arguments: tuple) -> None:
    die_with(parent)
    local = int(os.environ["LOCAL_RANK"])
    log_to(log_file if local == 0 else None, mode="a")
    if cuda:
        torch.cuda.set_device(local)
    dist.init_process_group("nccl" if cuda else "gloo")
    try:
        function(torch.device("cuda", local) if cuda else torch.device("cpu"), *arguments)
    finally:
        dist.destroy_process_group()


def processes() -> tuple[int, int]:
    """(rank, world size); (0, 1) without a process group."""
    return (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)


def share(batch: int, rank: int, world_size: int) -> slice:
    """The items of a batch that process `rank` owns; `batch` is a multiple of `world_size`."""
    if batch % world_size:
        raise ValueError(f"a batch of {batch} cannot be split evenly over {world_size} processes")
    return slice(rank * batch // world_size, (rank + 1) * batch // world_size)


class _Gather(torch.autograd.Function):
    """All-gather along the first dimension; its backward pass sums every process's gradient for our share.

    torch.distributed.nn.functional.all_gather, which does the same, is deprecated for one in a private module.
    """

    @staticmethod
    def forward(ctx, local: Tensor) -> Tensor:
        rank, world_size = processes()
        ctx.local_share = share(len(local) * world_size, rank, world_size)
        gathered = [torch.empty_like(local) for _ in range(world_size)]
        dist.all_gather(gathered, local.contiguous())
        return torch.cat(gathered)

    @staticmethod
    def backward(ctx, gradient: Tensor) -> Tensor:
        gradient = gradient.contiguous()
        dist.all_reduce(gradient)
        return gradient[ctx.local_share]


def gather(local: Tensor) -> Tensor:
    """[b, ...] of every process, joined in order of rank: [B, ...]; gradients flow back to every process.

    UMT lets gradients flow through the local part alone, so that its result depends on the number of processes.
    """
    return _Gather.apply(local) if processes()[1] > 1 else local


def total(value: Tensor) -> Tensor:
    """Sum of a detached tensor [...] over all processes."""
    value = value.detach().clone()
    if processes()[1] > 1:
        dist.all_reduce(value)
    return value
