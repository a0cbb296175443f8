"""Forms with all columns: CSV files, and WebDataset shards, which may hold clips and keyframes as well.

A shard is a tar file whose members of one name before the first dot belong to one caption: NUMBER.json (all columns),
NUMBER.txt (the caption) and, where media are exported, NUMBER.mp4 (the moment's clip) and NUMBER.keyframe-0.jpg and so
on. NUMBER is the caption's id. The same rows give the same bytes.
"""

import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from verified.config import Config
from verified.export.card import COLUMN_TABLE, write_cards
from verified.export.collection import COLUMNS, Collection, caption_of
from verified.export.form import ExportForm
from verified.io import text_tables
from verified.io.files import atomic_path
from verified.io.jsonl import read_jsonl
from verified.layout import Layout
from verified_field.config import Rows

if TYPE_CHECKING:
    from verified.keyframes.archive import KeyframeTar

CSV_TEXT = (
    "SPLIT.csv in UTF-8 with a header, one row a caption; an empty cell is no value, and an apostrophe before =, +, -"
    f" or @ keeps spreadsheets from running a text.\n\n{COLUMN_TABLE}"
)
SHARDS_TEXT = (
    "WebDataset shards SPLIT-NUMBER.tar; a sample has `json` (all columns) and `txt` (the caption)"
    "{media}. The library `webdataset` reads them, as does any program that reads tar files."
)
WITH_MEDIA = ", `mp4` (the clip of the moment) and its keyframes, `keyframe-0.jpg` and so on"


def write_csv(folder: Path, collection: Collection) -> None:
    """SPLIT.csv of every split; floats are written so that reading them gives the same number."""
    for split, rows in collection.splits.items():
        cells = ([row.get(name) for name in COLUMNS] for row in rows)
        text_tables.write_csv(folder / f"{split}.csv", [[*COLUMNS], *cells])
    write_cards(folder, "csv", CSV_TEXT, collection)


def write_webdataset(
    folder: Path,
    collection: Collection,
    shard_captions: int,
    clip_side: int,
    videos: Sequence[str] = (),
    keyframes: Sequence[str] = (),
) -> None:
    """Shards of at most `shard_captions` captions.

    With files of `videos` and `keyframes`, they hold clips of at most `clip_side` pixels, and keyframes; else text.
    """
    from verified.keyframes.archive import KeyframeTar

    with KeyframeTar(*keyframes) as stills:
        known = read_jsonl(videos[0]) if videos else []
        for split, rows in collection.splits.items():
            for number, first in enumerate(range(0, len(rows), shard_captions)):
                shard_rows = rows[first : first + shard_captions]
                files = media_of(shard_rows, known, stills, clip_side) if videos else {}
                with atomic_path(folder / f"{split}-{number:06d}.tar") as temporary:
                    _write_tar(temporary, shard_rows, files)
    write_cards(folder, "webdataset", SHARDS_TEXT.format(media=WITH_MEDIA if videos else ""), collection)


def media_of(rows: list[dict], videos: list[dict], keyframes: "KeyframeTar", side: int) -> dict[int, dict[str, bytes]]:
    """For each caption_id its files by ending: the clip, each video decoded once, and the keyframes."""
    from verified.io.video.cut import clips_of

    spans = ((row["caption_id"], row["video"], row["start"], row["end"]) for row in rows)
    clips, media = clips_of(spans, videos, side), {}
    for row in rows:
        seen = keyframes.keyframes(row["desc_id"]) if row["desc_id"] in keyframes.rows else ()  # else people's
        stills = {f"keyframe-{number}.jpg": keyframes.image(one["file"]) for number, one in enumerate(seen)}
        media[row["caption_id"]] = {"mp4": clips[row["caption_id"]]} | stills
    return media


def _media_inputs(settings: Config, dataset: str) -> dict[str, list[str]]:
    """Videos and keyframes, if media are configured, of a data set that has keyframes."""
    if not (settings.section(Rows).webdataset.media and settings.datasets[dataset].source.annotated_here):
        return {}
    layout = Layout(settings)
    return {"videos": [layout.path(layout.videos, dataset)], "keyframes": layout.shards(layout.keyframes, dataset)}


def _cutting(settings: Config, dataset: str) -> dict[str, int]:
    section = settings.section(Rows).webdataset
    return {"shard_captions": section.shard_captions, "clip_side": section.clip_side}


CSV = ExportForm(write_csv)
WEBDATASET = ExportForm(write_webdataset, _media_inputs, _cutting)


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
