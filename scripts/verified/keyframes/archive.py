"""Read keyframe archives of shards: index rows and images by name."""

import contextlib
import functools
import json
import os
import tarfile

from verified.errors import InputError
from verified.io.files import checked


class KeyframeTar(contextlib.ExitStack):
    """Reads keyframes/SHARD.tar of any number of shards as if they were one: `index.jsonl` first, then the images it
    names.

    Raises InputError for any other file.
    """

    def __init__(self, *paths: str | os.PathLike):
        super().__init__()
        self.rows: dict[int, dict] = {}
        self._holders: dict[str, tarfile.TarFile] = {}
        # `tarfile` looks each name up among all
        self._members = functools.cache(lambda archive: {member.name: member for member in archive})
        for path in paths:
            try:
                archive = self.enter_context(tarfile.open(checked(path)))  # noqa: SIM115 (closed with this)
                index = archive.extractfile("index.jsonl")
                if index is None:
                    raise KeyError("index.jsonl is no file")
                lines = index.read().decode("utf-8").split("\n")
                rows = {row["desc_id"]: row for row in map(json.loads, filter(None, lines))}
            except (OSError, KeyError, tarfile.TarError, ValueError) as error:
                remedy = "delete it and run again"
                raise InputError(f"not a keyframe archive: {error}", file=path, remedy=remedy) from None
            self._holders |= {keyframe["file"]: archive for row in rows.values() for keyframe in row["keyframes"]}
            self.rows |= rows

    def keyframes(self, desc_id: int) -> list[dict]:
        """Keyframes of a moment in temporal order: file, time, segment."""
        return sorted(self.rows[desc_id]["keyframes"], key=lambda keyframe: keyframe["time"])

    def image(self, name: str) -> bytes:
        """Bytes of the image `name`; empty if no archive has it, or holds something else under that name."""
        archive = self._holders.get(name)
        if archive is None:
            return b""
        member = self._members(archive).get(name)
        file = archive.extractfile(member) if member and member.isreg() else None
        return file.read() if file else b""
