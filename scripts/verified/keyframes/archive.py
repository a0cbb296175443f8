"""The keyframe archive of a shard: one uncompressed tar, index first, the same bytes for the same keyframes."""

import io
import json
import os
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

import numpy as np
from PIL import Image

from verified.errors import InputError
from verified.io.files import atomic_path, open_member

QUALITY = 90
"""JPEG quality of keyframes (4:4:4, so that small coloured things keep their colour)."""


def encode_jpeg(image: np.ndarray) -> bytes:
    """JPEG bytes of a uint8 RGB image [H, W, 3]."""
    out = io.BytesIO()
    Image.fromarray(image).save(out, "JPEG", quality=QUALITY, subsampling=0)
    return out.getvalue()


class KeyframeArchive:
    """Collects images in any order, then writes index and images in the order of the index.

    Images wait in a temporary file beside the archive, not in memory. Use as a context manager and call `write` once.
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self._places: dict[str, tuple[int, int]] = {}

    def __enter__(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._images = tempfile.TemporaryFile(dir=self.path.parent)
        return self

    def __exit__(self, *error):
        self._images.close()

    def add(self, name: str, content: bytes) -> None:
        """Keep the bytes of member `name`."""
        self._places[name] = self._images.tell(), len(content)
        self._images.write(content)

    def write(self, rows: list[dict]) -> None:
        """Write the tar: `index.jsonl` with `rows`, then the file of each keyframe that a row names."""
        index = "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows).encode()
        with atomic_path(self.path) as temporary, tarfile.open(temporary, "w", format=tarfile.USTAR_FORMAT) as tar:
            _add_member(tar, "index.jsonl", index)
            for row in rows:
                for keyframe in row["keyframes"]:
                    offset, length = self._places[keyframe["file"]]
                    self._images.seek(offset)
                    _add_member(tar, keyframe["file"], self._images.read(length))


def _add_member(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(content), 0o644
    tar.addfile(member, io.BytesIO(content))


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

    Raises InputError for a file that is no such archive.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = path
        try:
            self.archive = tarfile.open(path)  # noqa: SIM115 — closed by close()
            index = open_member(self.archive, "index.jsonl").read().decode("utf-8")
            self.rows = {row["desc_id"]: row for row in map(json.loads, filter(None, index.split("\n")))}
        except (OSError, KeyError, tarfile.TarError, ValueError) as error:
            raise InputError(f"not a keyframe archive: {error}", file=path, remedy="delete it and run again") from None

    def keyframes(self, desc_id: int) -> list[dict]:
        """Keyframes of a moment in temporal order: file, time, segment."""
        return sorted(self.rows[desc_id]["keyframes"], key=lambda keyframe: keyframe["time"])

    def image(self, name: str) -> bytes:
        """Bytes of the image `name`; empty if the archive lacks it or holds something else under that name."""
        try:
            member = self.archive.extractfile(name)
        except KeyError:
            return b""
        return member.read() if member else b""

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
