"""Networks whose weights are not initialised: to know their shapes, or to fill them from a file."""

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode


class _NothingDrawn(TorchFunctionMode):
    """Normal draws leave a tensor as it is: for a ``meta`` tensor PyTorch would import its reference library."""

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Iterable[type],
        arguments: tuple[Any, ...] = (),
        options: dict[str, Any] | None = None,
    ) -> Any:
        options = options or {}
        if function in (Tensor.normal_, nn.init.normal_):
            return arguments[0] if arguments else options["tensor"]
        return function(*arguments, **options)


@contextmanager
def skip_init() -> Generator[None]:
    """Modules built in this block have shapes but no values (device ``meta``), and draw from no generator."""
    with torch.device("meta"), _NothingDrawn():
        yield
