"""WebDataset shards: tar files whose members of one name before the first dot belong to one caption.

Member by member: NUMBER.json (all columns), NUMBER.txt (the caption) and, where media are exported, NUMBER.mp4 (the
moment's clip) and NUMBER.keyframe-0.jpg and so on. NUMBER is the caption's id. The same rows give the same bytes.
"""

import io
import json
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path

from verified.export.card import write_cards
from verified.export.collection import Collection, caption_of
from verified.io.files import atomic_path

TOLD = (
    "WebDataset shards SPLIT-NUMBER.tar; a sample has `json` (all columns) and `txt` (the caption)"
    "{media}. The library `webdataset` reads them, as does any program that reads tar files."
)
WITH_MEDIA = ", `mp4` (the clip of the moment) and its keyframes, `keyframe-0.jpg` and so on"

Media = Callable[[list[dict]], Mapping[int, dict[str, bytes]]]
"""Rows of one shard → for each caption_id its files by ending."""


def write_webdataset(folder: Path, collection: Collection, shard_captions: int, media: Media | None = None) -> None:
    """Shards of at most `shard_captions` captions; without `media` they hold text alone."""
    for split, rows in collection.splits.items():
        for number, first in enumerate(range(0, len(rows), shard_captions)):
            shard_rows = rows[first : first + shard_captions]
            files = media(shard_rows) if media else {}
            with atomic_path(folder / f"{split}-{number:06d}.tar") as temporary:
                _write_tar(temporary, shard_rows, files)
    write_cards(folder, "webdataset", TOLD.format(media=WITH_MEDIA if media else ""), collection)


def _write_tar(path: Path, rows: list[dict], media: Mapping[int, dict[str, bytes]]) -> None:
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        for row in rows:
            members = {
                "json": json.dumps(row, ensure_ascii=False).encode(),
                "txt": caption_of(row).encode(),
                **media.get(row["caption_id"], {}),
            }
            for ending, content in members.items():
                member = tarfile.TarInfo(f"{row['caption_id']:012d}.{ending}")  # no owner, no time: the same bytes
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
