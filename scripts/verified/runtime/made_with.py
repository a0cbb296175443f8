"""What Snakemake has noted about the files that its jobs wrote."""

import base64
import contextlib
import json
import os
from pathlib import Path

METADATA = Path(".snakemake", "metadata")
"""Folder of its notes, one for each output, below the working directory."""


def note_of(path: str | os.PathLike[str], notes: Path = METADATA) -> Path:
    """Where Snakemake notes an output; names too long for one file name are cut by it, and not found here."""
    return notes / base64.urlsafe_b64encode(Path(path).as_posix().encode()).decode()


def is_noted(path: str | os.PathLike[str], notes: Path = METADATA) -> bool:
    """Whether Snakemake has noted `path` as an output; names too long for one file name are cut by it, and left."""
    with contextlib.suppress(OSError):  # too long
        return note_of(path, notes).is_file()
    return False


def made_with(path: str | os.PathLike[str], value: object) -> bool:
    """Whether `value` was among the parameters of the job that wrote `path`; True where nothing is noted about it."""
    noted = None
    with contextlib.suppress(OSError, ValueError):
        noted = json.loads(note_of(path).read_text(encoding="utf-8")).get("params")
    return noted is None or repr(value) in noted
