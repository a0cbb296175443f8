"""Read arrays from .npy and .npz files of any origin: numbers and texts, never objects, or an InputError."""

import os
from pathlib import Path

import numpy as np

from verified.errors import InputError
from verified.io.files import checked

NUMBERS, TEXTS = "biuf", "U"


def read_array(path: str | os.PathLike[str], dimensions: int | None = None, remedy: str | None = None) -> np.ndarray:
    """The numbers [...] of a .npy file, memory-mapped; the file must be as large as its header claims.

    Raises InputError (file, remedy) for a missing or damaged file, and for a number of dimensions other than
    `dimensions`.
    """
    path = checked(path)
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
        if not isinstance(array, np.ndarray):
            raise ValueError("an archive of several arrays")  # to the line below
    except Exception as error:  # numpy's parser fails in many ways over a crafted header
        raise _refusal(path, error, "npy", remedy) from None
    loaded: np.ndarray = array  # pyright: ignore[reportUnknownVariableType] (of any kind so far)
    return _check_kind(loaded, NUMBERS, path, "it", dimensions, remedy)


def read_arrays(path: str | os.PathLike[str], remedy: str | None = None) -> dict[str, np.ndarray]:
    """All arrays of a .npz file, numbers and texts, by name. Raises InputError as `read_array` does."""
    path = checked(path)
    try:
        with np.load(path, allow_pickle=False) as archive:
            if isinstance(archive, np.ndarray):
                raise ValueError("a single array")
            arrays = {name: np.asarray(archive[name]) for name in archive.files}
    except Exception as error:  # numpy's parser fails in many ways over a crafted header
        raise _refusal(path, error, "npz", remedy) from None
    return {name: _check_kind(array, NUMBERS + TEXTS, path, repr(name), None, remedy) for name, array in arrays.items()}


def _refusal(path: Path, error: Exception, kind: str, remedy: str | None) -> InputError:
    if not path.exists():
        return InputError("no such file", file=path, remedy=remedy)
    detail = " ".join(str(error).split())[:200] or type(error).__name__
    # numpy advises to read it with pickle, which is unsafe.
    detail = "it holds objects, not numbers" if "pickle" in detail.lower() else detail
    return InputError(f"damaged, or no .{kind} file: {detail}", file=path, remedy=remedy or "fetch or write it again")


def _check_kind(
    array: np.ndarray, kinds: str, path: Path, name: str, dimensions: int | None, remedy: str | None
) -> np.ndarray:
    if array.dtype.kind not in kinds or (array.dtype.itemsize > 8 and array.dtype.kind != "U"):
        raise InputError(f"{name} holds {array.dtype}, not numbers", file=path, remedy=remedy or "write it again")
    if dimensions is not None and array.ndim != dimensions:
        raise InputError(
            f"{name} has shape {list(array.shape)}, not {dimensions} dimensions",
            file=path,
            remedy=remedy or "write it again",
        )
    return array
