"""Tensors of a foreign .pth file, and arrays of a foreign .pkl file, each read in a process of its own.

A pickle can run code when it is read. torch's weights-only reader refuses whatever is not a tensor or plain data, and
of other pickles nothing but arrays of NumPy is built; the process (``python -m verified.io.foreign``) adds a second
wall: it hands over a safetensors or JSON file and ends. `easydict.EasyDict`, in which the TVR family wraps its
settings, is read as a dict.
"""

import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verified.errors import InputError
from verified.io.jsonl import is_array, is_object, read_json

if TYPE_CHECKING:
    from torch import Tensor

REFUSED = 3
WRAPPERS = ("model", "module", "state_dict")
PACKAGE_ROOT = Path(__file__).resolve().parents[2]
ARRAYS = {
    *((f"numpy.{core}.multiarray", name) for core in ("core", "_core") for name in ("_reconstruct", "scalar")),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("_codecs", "encode"),
}
"""All that a pickled array may ask for."""


def read_tensors(source: str | Path) -> "dict[str, Tensor]":
    """Tensors by name. Raises InputError for a missing file and for one that the reader refuses, with its reason."""
    from safetensors.torch import load_file  # pyright: ignore[reportUnknownVariableType] (their paths have no type argument)

    with tempfile.TemporaryDirectory(prefix="foreign-") as folder:
        target = Path(folder, "tensors.safetensors")
        _read_apart(Path(source), target, "plain tensors", "tensors and plain data")
        return load_file(target)


def read_pickled_list(source: str | Path) -> list[Any]:
    """The content of a pickled NumPy array, or list, as nested lists of texts and numbers.

    Raises InputError for a missing file and for one that holds anything else.
    """
    with tempfile.TemporaryDirectory(prefix="foreign-") as folder:
        target = Path(folder, "rows.json")
        _read_apart(Path(source), target, "a plain array", "arrays of texts and numbers")
        return read_json(target)


def _read_apart(source: Path, target: Path, what: str, accepted: str) -> None:
    if not source.is_file():
        raise InputError("no such file", file=source)
    reader = subprocess.run(
        [sys.executable, "-m", "verified.io.foreign", source, target],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PACKAGE_ROOT)},
    )
    if reader.returncode:
        raise InputError(
            f"not readable as {what}: {reader.stderr.strip() or f'the reader died ({reader.returncode})'}",
            file=source,
            remedy=f"only files of {accepted} are accepted; nothing of it was run",
        )


class _ArraysAlone(pickle.Unpickler):
    """Builds arrays and plain data, and nothing else."""

    def find_class(self, module_name: str, global_name: str) -> Any:
        if (module_name, global_name) not in ARRAYS:
            raise pickle.UnpicklingError(f"GLOBAL {module_name}.{global_name}")
        return super().find_class(module_name, global_name)


def _write_list(source: str, target: str) -> int:
    try:
        with open(source, "rb") as file:
            content = _ArraysAlone(file).load()
        content = content if is_array(content) else content.tolist()
        text = json.dumps(_as_lists(content), allow_nan=False)
    except Exception as error:  # whatever a hostile or broken file provokes is a refusal, never a crash of the caller
        print(_reason(error), file=sys.stderr)
        return REFUSED
    if not is_array(content):
        print("it holds no list", file=sys.stderr)
        return REFUSED
    Path(target).write_text(text, encoding="utf-8")
    return 0


def _as_lists(value: Any) -> Any:
    """Lists all through, also where a list or an array of objects holds arrays."""
    if is_array(value):
        return [_as_lists(one) for one in value]
    return value if isinstance(value, str | int | float) else _as_lists(value.tolist())


def main(source: str, target: str) -> int:
    """Write what `source` holds to `target`; the exit status is 0, or 3 with the reason on standard error."""
    if target.endswith(".json"):
        return _write_list(source, target)
    return _write_tensors(source, target)


def _write_tensors(source: str, target: str) -> int:
    import torch
    from safetensors.torch import save_file  # pyright: ignore[reportUnknownVariableType] (their paths have no type argument)

    torch.serialization.add_safe_globals(  # pyright: ignore[reportUnknownMemberType] (classes without arguments there)
        [(OrderedDict, "easydict.EasyDict")]
    )
    try:
        content = torch.load(source, map_location="cpu", weights_only=True)
    except Exception as error:  # whatever a hostile or broken file provokes is a refusal, never a crash of the caller
        print(_reason(error), file=sys.stderr)
        return REFUSED
    for wrapper in WRAPPERS:
        if is_object(content) and is_object(content.get(wrapper)):
            content = content[wrapper]
    named = content.items() if is_object(content) else ()
    tensors = {str(name): value.clone().contiguous() for name, value in named if isinstance(value, torch.Tensor)}
    if not tensors:
        print("it holds no named tensors", file=sys.stderr)
        return REFUSED
    save_file(tensors, Path(target))
    return 0


def _reason(error: Exception) -> str:
    """Why a file was refused; without torch's advice to read it with the guard off."""
    text = " ".join(str(error).split())
    asked = re.search(r"(?:GLOBAL|global|class):? ([A-Za-z_]\w*(?:\.\w+)+)", text)
    if asked:
        return f"it asks for {asked[1]}, which is code and no data"
    if any(word in text.lower() for word in ("weights_only", "torch.load", "pytorch", "trust")):
        return "it holds more than tensors and plain data, or is damaged"
    return text[:200] or type(error).__name__


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
