"""Members of a tar archive."""

import tarfile
from typing import IO


def open_member(archive: tarfile.TarFile, name: str | tarfile.TarInfo) -> IO[bytes]:
    """A file of an archive, to be read. Raises KeyError where there is none of this name, or a folder."""
    file = archive.extractfile(name)
    if file is None:
        raise KeyError(f"{name} is no file")
    return file
