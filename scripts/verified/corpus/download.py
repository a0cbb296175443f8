"""Published files, downloaded and refused when a byte is wrong."""

import logging
import os
from pathlib import Path

from verified.errors import InputError
from verified.released.files import SourceFile, verify
from verified.runtime.download import download_part

log = logging.getLogger("verified")


def download(source: SourceFile, path: str | os.PathLike, pause: float = 2.0) -> None:
    """Fetch `source.url` to `path`, which appears only when its size and SHA-256 are right.

    The bytes received so far stay in ``path.part`` and the next attempt, or the next run, asks for the rest. Raises
    InputError when the attempts are used up, when the server refuses, or when the bytes are not the published ones (the
    partial file is then removed).
    """
    path = Path(path)
    partial = path.with_name(path.name + ".part")
    by_hand = "fetch the file by hand and name its folder in released_dir"
    download_part(source.url, partial, source.bytes, by_hand, pause)
    try:
        verify(partial, source)
    except InputError:
        partial.unlink()
        raise
    partial.replace(path)
    log.info("%s: %d bytes, checksum right", path, path.stat().st_size)
