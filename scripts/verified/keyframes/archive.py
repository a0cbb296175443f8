"""Read the keyframe archive of a shard: index rows and images by name."""

import json
import os
import tarfile
from collections.abc import Iterable
from functools import cached_property
from typing import Protocol

from verified.errors import InputError
from verified.io.files import checked, open_member


class Keyframes(Protocol):
    """Interface of a shard's keyframes for captions."""

    def keyframes(self, desc_id: int) -> list[dict]:
        """``{file, time, segment}`` of a moment's keyframes, in the order of time."""
        ...

    def image(self, name: str) -> bytes:
        """The JPEG of this name."""
        ...


class KeyframeTar:
    """Reads keyframes/SHARD.tar: `index.jsonl` first, then the images it names.

    Raises InputError for any other file.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = path
        try:
            self.archive = tarfile.open(checked(path))  # noqa: SIM115 — closed by close()
            index = open_member(self.archive, "index.jsonl").read().decode("utf-8")
            self.rows = {row["desc_id"]: row for row in map(json.loads, filter(None, index.split("\n")))}
        except (OSError, KeyError, tarfile.TarError, ValueError) as error:
            raise InputError(f"not a keyframe archive: {error}", file=path, remedy="delete it and run again") from None

    def keyframes(self, desc_id: int) -> list[dict]:
        """Keyframes of a moment in temporal order: file, time, segment."""
        return sorted(self.rows[desc_id]["keyframes"], key=lambda keyframe: keyframe["time"])

    @cached_property
    def _members(self) -> dict[str, tarfile.TarInfo]:
        """Members by name: `tarfile` looks each name up among all."""
        return {member.name: member for member in self.archive}

    def image(self, name: str) -> bytes:
        """Bytes of the image `name`; empty if the archive lacks it or holds something else under that name."""
        member = self._members.get(name)
        file = self.archive.extractfile(member) if member and member.isreg() else None
        return file.read() if file else b""

    def close(self) -> None:
        """Close the archive."""
        self.archive.close()

    def __enter__(self) -> "KeyframeTar":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class KeyframeTars:
    """The archives of several shards, read as if they were one."""

    def __init__(self, paths: Iterable[str | os.PathLike]):
        self.archives = [KeyframeTar(path) for path in paths]
        self.of_moment = {desc_id: archive for archive in self.archives for desc_id in archive.rows}
        self.of_image = {
            keyframe["file"]: archive
            for archive in self.archives
            for row in archive.rows.values()
            for keyframe in row["keyframes"]
        }

    def keyframes(self, desc_id: int) -> list[dict]:
        """As `KeyframeTar.keyframes`."""
        return self.of_moment[desc_id].keyframes(desc_id)

    def image(self, name: str) -> bytes:
        """As `KeyframeTar.image`."""
        return self.of_image[name].image(name)

    def __enter__(self) -> "KeyframeTars":
        return self

    def __exit__(self, *_: object) -> None:
        for archive in self.archives:
            archive.close()
