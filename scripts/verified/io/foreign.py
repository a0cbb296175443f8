"""Tensors of a foreign .pth file: read weights-only, in a separate process (``python -m verified.io.foreign``).

A pickle can run code when it is read. torch's weights-only reader refuses everything except tensors and plain data; the
process adds a second wall: it hands over a safetensors file and ends. `easydict.EasyDict`, the TVR family's wrapper of
settings, is read as a dict; `argparse.Namespace`, the DETR family's, has attributes alone.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING

from verified.errors import InputError
from verified.io.files import checked_file
from verified.io.jsonl import is_object

if TYPE_CHECKING:
    from torch import Tensor

REFUSED = 3
WRAPPERS = ("model", "module", "state_dict", "model_state_dict", "net", "ema", "model_ema", "ema_state_dict")
"""Keys of a file that may contain its tensors; averaged weights (EMA) are read if there are no others."""
PREFIXES = ("module.", "_orig_mod.", "model.", "net.", "ema.", "ema_model.", "model_ema.")
"""Prefixes of all names: from parallel training, torch.compile, Lightning and averages of weights."""
BOOKKEEPING = re.compile(r"n_averaged|initted|step|num_updates|decay|(criterion|loss|loss_fn)\..*")
"""Names without such a prefix that do not belong to a model."""
MOST_TENSORS = 20_000
"""Tensors of a file; the largest known models have a tenth."""
PACKAGE_ROOT = Path(__file__).resolve().parents[2]


def read_tensors(source: str | Path) -> "dict[str, Tensor]":
    """Tensors by name, without the prefixes of wrappers.

    Raises InputError for a missing file, one that the reader refuses, with its reason, and numbers that are not finite.
    """
    import torch
    from safetensors.torch import load_file  # pyright: ignore[reportUnknownVariableType] (their paths have no type argument)

    source = checked_file(source)
    with tempfile.TemporaryDirectory(prefix="foreign-") as folder:
        target = Path(folder, "tensors.safetensors")
        reader = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "verified.io.foreign", source, target],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(PACKAGE_ROOT)},
        )
        if reader.returncode:
            raise InputError(
                f"not readable as plain tensors: {reader.stderr.strip() or f'the reader died ({reader.returncode})'}",
                file=source,
                remedy="only files of tensors and plain data are accepted; nothing of it was run",
            )
        tensors = _unwrap(load_file(target))
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not (finite := torch.isfinite(tensor)).all():
            raise InputError(
                f"tensor {name} {list(tensor.shape)} has {int((~finite).sum())} numbers that are NaN or infinite",
                file=source,
                remedy="take a checkpoint of before the training diverged",
            )
    return tensors


def _unwrap(tensors: "dict[str, Tensor]") -> "dict[str, Tensor]":
    tensors = {name.replace("._orig_mod.", "."): tensor for name, tensor in tensors.items()}
    while True:
        for prefix in PREFIXES:
            inner = {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
            rest = [name for name in tensors if not name.startswith(prefix)]
            other = ("model_ema.", "ema_model.", "ema.") if prefix in ("module.", "model.", "net.") else ()
            if inner and all(BOOKKEEPING.fullmatch(name) or name.startswith(other) for name in rest):
                tensors = inner
                break
        else:
            return tensors


def main(source: str, target: str) -> int:
    """Write the tensors of `source` to `target`; the exit status is 0, or 3 with the reason on standard error."""
    try:
        _convert(source, Path(target))
    except InputError as error:
        print(error, file=sys.stderr)
        return REFUSED
    except Exception as error:  # any failure on a hostile or broken file is a refusal, never a crash of the caller
        print(_reason(error), file=sys.stderr)
        return REFUSED
    return 0


def _convert(source: str, target: Path) -> None:
    import torch
    from safetensors.torch import save_file  # pyright: ignore[reportUnknownVariableType] (their paths have no type argument)

    torch.serialization.add_safe_globals(  # pyright: ignore[reportUnknownMemberType] (classes without arguments there)
        [(OrderedDict, "easydict.EasyDict"), argparse.Namespace]
    )
    content = torch.load(source, map_location="cpu", weights_only=True)
    while is_object(content) and (inside := [key for key in WRAPPERS if is_object(content.get(key))]):
        content = content[inside[0]]
    named = content.items() if is_object(content) else ()
    tensors = {str(name): value for name, value in named if isinstance(value, torch.Tensor)}
    if len(tensors) > MOST_TENSORS:
        raise InputError(f"it holds {len(tensors):,} tensors, and at most {MOST_TENSORS:,} are read")
    for name, value in tensors.items():
        if kind := _unusual(value):
            raise InputError(f"tensor {name} is {kind}: save it as a plain one")
        held = value.untyped_storage().nbytes()
        if value.numel() * value.element_size() > held:  # a view that repeats a few numbers at any size
            raise InputError(f"tensor {name} {list(value.shape)} claims more than the {held} bytes that it holds")
    if not tensors:
        keys = [repr(name)[:40] for name, _ in named]
        raise InputError(f"it holds no named tensors, but {', '.join(keys[:8]) or type(content).__name__}")
    save_file({name: value.clone().contiguous() for name, value in tensors.items()}, target)


def _unusual(tensor: "Tensor") -> str:
    """The kind of a tensor that is no array of numbers; empty for a plain one."""
    import torch

    kinds = {"without data": tensor.is_meta, "quantised": tensor.is_quantized, "nested": tensor.is_nested}
    kinds["sparse"] = tensor.layout is not torch.strided
    return next((kind for kind, holds in kinds.items() if holds), "")


def _reason(error: Exception) -> str:
    """The reason of a refusal, without torch's advice to disable the guard."""
    text = " ".join(str(error).split())
    refused = re.search(r"(?:GLOBAL|global|class):? ([A-Za-z_]\w*(?:\.\w+)+)", text)
    if refused:
        return f"it asks for {refused[1]}, which is code and no data"
    if any(word in text.lower() for word in ("weights_only", "torch.load", "pytorch", "trust")):
        return "it holds more than tensors and plain data, or is damaged"
    return text[:200] or type(error).__name__


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("source", "target"):
        parser.add_argument(name)
    sys.exit(main(**vars(parser.parse_args())))
