"""Members of a tar archive."""

import tarfile
from typing import IO


def open_member(archive: tarfile.TarFile, name: str | tarfile.TarInfo) -> IO[bytes]:
    """Open a file of an archive for reading. Raises KeyError for a missing name, or a folder."""
    file = archive.extractfile(name)
    if file is None:
        raise KeyError(f"{name} is no file")
    return file
