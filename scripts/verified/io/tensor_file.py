"""Tensor files (safetensors) and the JSON header of ours: whatever a file holds, it is read or refused by name."""

import json
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from verified.errors import InputError
from verified.io.jsonl import Row, is_object

if TYPE_CHECKING:
    from torch import Tensor

KEY = "verified"
"""The one entry of our header; a single entry keeps the bytes the same from run to run."""


class Stored(Protocol):
    """What `safetensors.safe_open` yields, which has no types."""

    def metadata(self) -> dict[str, str] | None: ...

    def keys(self) -> list[str]: ...

    def get_tensor(self, name: str) -> "Tensor": ...


def opened(path: Path, device: str = "cpu") -> AbstractContextManager[Stored]:
    """`safetensors.safe_open` for tensors of torch."""
    from safetensors import safe_open

    return safe_open(path, "pt", device=device)


def read_header(path: str | Path) -> Row | None:
    """Our header in a tensor file; None if it has none. Raises InputError if the file is missing or damaged."""
    return _read(path, tensors=False)[1]


def read_tensor_file(path: str | Path, device: str = "cpu") -> tuple["dict[str, Tensor]", Row | None]:
    """Tensors by name, and the header as in `read_header`."""
    return _read(path, tensors=True, device=device)


def _read(path: str | Path, tensors: bool, device: str = "cpu") -> tuple["dict[str, Tensor]", Row | None]:
    from safetensors import SafetensorError

    path = Path(path)
    if not path.is_file():
        raise InputError("no such file", file=path)
    sys.audit("open", str(path), "rb", 0)  # as Python's own open does: commands check seals there
    try:
        with opened(path, device) as stored:
            text = (stored.metadata() or {}).get(KEY)
            tensors_read = {name: stored.get_tensor(name) for name in stored.keys()} if tensors else {}  # noqa: SIM118
        header = None if text is None else json.loads(text)
    # A crafted file makes the library, torch or the JSON parser fail in any of these ways.
    except (SafetensorError, OSError, ValueError, TypeError, LookupError, RuntimeError, AttributeError) as error:
        detail = " ".join(str(error).split())[:200]
        raise InputError(f"damaged, or no tensor file (safetensors): {detail}", file=path) from None
    if header is not None and not is_object(header):
        raise InputError("damaged: its header is no JSON object", file=path)
    return tensors_read, header
