"""Files of tensors (safetensors). Ours begin with a JSON header: the form, its version, and facts such as settings.

A file of any other content is refused by name. Foreign files, without such a header, are read as tensors.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file  # pyright: ignore[reportUnknownVariableType] (their paths have no type argument)
from torch import Tensor, nn

from verified.errors import InputError
from verified.io.files import atomic_path, checked_file, require_version
from verified.io.jsonl import Row, is_object

KEY = "verified"
"""The one entry of our header; a single entry keeps the bytes the same from run to run."""


class Form(NamedTuple):
    """A form of our files of tensors."""

    name: str
    version: int
    remedy: str
    """Remedy for a file of another form, or of an older version of this one."""


def save(path: str | Path, form: Form, tensors: Mapping[str, Tensor], facts: Row) -> None:
    """Write tensors and `facts`, through a temporary file; equal ones give equal bytes."""
    header = {"format": form.name, "version": form.version, **facts}
    # Copies: tensors may share memory, which the library refuses.
    plain = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}
    with atomic_path(path) as temporary:
        save_file(plain, temporary, metadata={KEY: json.dumps(header)})


def load(path: str | Path, form: Form) -> tuple[dict[str, Tensor], Row]:
    """Tensors by name, and the facts of the header.

    Raises InputError for a missing or damaged file, one of another form, and one of another version.
    """
    tensors, header = _read(path)
    return tensors, _facts(header, form, path)


def load_facts(path: str | Path, form: Form) -> Row:
    """The facts alone; see `load`."""
    return _facts(_read(path, tensors=False)[1], form, path)


def load_tensors(path: str | Path) -> dict[str, Tensor]:
    """The tensors of any such file, also of others. Raises InputError for a missing or damaged one."""
    return _read(path)[0]


def fill(module: nn.Module, tensors: Mapping[str, Tensor], name: str, path: str | Path) -> None:
    """Load all tensors of a module; see `require_fit`."""
    require_fit(module, tensors, name, path)
    module.load_state_dict(tensors)


def require_fit(module: nn.Module, tensors: Mapping[str, Tensor], owner: str, path: str | Path) -> None:
    """Raise InputError that names the first tensor of a module that is missing, misshapen or unknown."""
    if problem := misfit(tensors, module.state_dict()):
        raise InputError(f"does not fit {owner}: {problem}", file=path)


def misfit(tensors: Mapping[str, Tensor], expected: Mapping[str, Tensor]) -> str | None:
    """The first difference between the names and shapes of two sets of tensors in words, or None."""
    for name, own in expected.items():
        if name not in tensors:
            return f"tensor {name} {list(own.shape)} is missing"
        if tensors[name].shape != own.shape:
            return f"tensor {name} is {list(tensors[name].shape)}, not {list(own.shape)}"
    unknown = sorted(set(tensors) - set(expected))
    return f"tensor {unknown[0]} is unknown" if unknown else None


def _facts(header: Row | None, form: Form, path: str | Path) -> Row:
    header = header or {}
    name = header.pop("format", None)
    if name != form.name:
        stated = "its header names no form" if name is None else f"it is one of {str(name)[:40]!r}"
        raise InputError(f"no file of the form {form.name!r}: {stated}", file=path, remedy=form.remedy)
    require_version(header.pop("version", None), form.version, f"form {form.name!r}", path, form.remedy)
    return header


def _read(path: str | Path, tensors: bool = True) -> tuple[dict[str, Tensor], Row | None]:
    path = checked_file(path)
    try:
        opened: Any = safe_open(path, "pt")
        with opened as stored:
            metadata: dict[str, str] = stored.metadata() or {}
            tensors_read = {name: stored.get_tensor(name) for name in stored.keys()} if tensors else {}  # noqa: SIM118
        header = json.loads(metadata[KEY]) if KEY in metadata else None
    # A crafted file makes the library, torch or the JSON parser fail in any of these ways.
    except (SafetensorError, OSError, ValueError, TypeError, LookupError, RuntimeError, AttributeError) as error:
        detail = " ".join(str(error).split())[:200]
        raise InputError(f"damaged, or no tensor file (safetensors): {detail}", file=path) from None
    if header is not None and not is_object(header):
        raise InputError("damaged: its header is no JSON object", file=path)
    return tensors_read, header
