"""PyTorch's containers and memory layout with the types that its own annotations lack; they compute nothing."""

from collections.abc import Iterator
from typing import Any, TypeVar

import torch
from torch import nn

Net = TypeVar("Net", bound=nn.Module)


class Parts(nn.ModuleDict):
    """A dictionary of modules of any kind, by name."""

    def __getitem__(self, key: str) -> Any:
        return super().__getitem__(key)


class Layers(nn.ModuleList):
    """A list of modules of any kind, to be gone through in order."""

    def __iter__(self) -> Iterator[Any]:
        return super().__iter__()


def channels_last(model: Net) -> Net:
    """The model with its images' channels last in memory, in place: nearly twice as fast on a CPU."""
    return model.to(memory_format=torch.channels_last)  # pyright: ignore[reportCallIssue, reportUnknownVariableType] (documented, not annotated)
