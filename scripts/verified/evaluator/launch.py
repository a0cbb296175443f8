"""One process a GPU, as torchrun starts them."""

import os
from collections.abc import Callable

import torch
import torch.distributed as dist
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError, record
from torch.distributed.launcher.api import LaunchConfig, elastic_launch

from verified.common.errors import InputError
from verified.common.job import log_to


def run_in_processes(count: int, function: Callable, *arguments) -> None:
    """Call `function(device, *arguments)` once in this process, or in `count` processes that form a group.

    function must be importable by name and arguments plain. With `count` 0 the device is the CPU. Raises InputError
    with the first failure's message when a process fails.
    """
    if count <= 1:
        function(torch.device("cuda" if count else "cpu"), *arguments)
        return
    config = LaunchConfig(
        min_nodes=1, max_nodes=1, nproc_per_node=count, rdzv_backend="c10d", rdzv_endpoint="localhost:0",
        run_id=f"evaluator-{os.getpid()}", max_restarts=0,
    )  # fmt: skip
    try:
        elastic_launch(config, _member)(function, arguments)
    except ChildFailedError as error:
        rank, failure = error.get_first_failure()
        raise InputError(f"process {rank} of the training failed: {failure.message}") from None


@record
def _member(function: Callable, arguments: tuple) -> None:
    log_to()
    local = int(os.environ["LOCAL_RANK"])
    cuda = torch.cuda.is_available()
    if cuda:
        torch.cuda.set_device(local)
    dist.init_process_group("nccl" if cuda else "gloo")
    try:
        function(torch.device("cuda", local) if cuda else torch.device("cpu"), *arguments)
    finally:
        dist.destroy_process_group()
