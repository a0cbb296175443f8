"""The keyframe archive of a shard: one uncompressed tar, index first, the same bytes for the same keyframes."""

import io
import json
import tarfile
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from verified.io.files import atomic_path

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
