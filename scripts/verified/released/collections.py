"""Collections of published annotations: their available splits and rows."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

from verified.errors import InputError, nearest
from verified.io.jsonl import Row
from verified.released.files import SOURCES, SourceFile, collections, how_to_get, verify
from verified.released.formats import own_form, read_split
from verified.runtime.project import near

DOWNLOADS = Path("resources/released")


class Collected(Protocol):
    """A source of data set whose annotations are files of a collection (see `verified.config.sources`)."""

    @property
    def collection(self) -> str: ...

    @property
    def splits(self) -> tuple[str, ...] | None: ...

    @property
    def released_dir(self) -> str | None: ...


@dataclass(frozen=True)
class Release:
    """The part of a collection that is available."""

    collection: str
    folder: Path
    """Folder of its files, also of those to be downloaded."""
    files: dict[str, tuple[SourceFile, ...]]
    """Split → files, for the available splits, in the order of the configuration."""
    missing: dict[str, str]
    """Split of the collection that is not available (or not requested) → reason."""
    listed: Path
    """The list of published files that it was looked up in."""

    @property
    def splits(self) -> list[str]:
        """Available splits."""
        return list(self.files)

    @property
    def kind(self) -> str:
        """``fig``, or ``cog`` for a collection with coarse captions only."""
        formats = {file.format for files in self.files.values() for file in files}
        return "fig" if formats == {"fig"} else "cog"

    @property
    def inputs(self) -> list[str]:
        """Paths of the files of all available splits, and of the list that names them."""
        paths = [str(self.folder / file.place) for files in self.files.values() for file in files]
        return [*paths, str(near(self.listed))]


def resolve(source: Collected) -> Release:
    """Which splits of `source` can be read: all of their files are in the folder, or are open for download.

    A collection that `config/sources.csv` does not list is a user's own: files of each split in `released_dir`, in the
    forms of `released.formats`. Raises InputError for an unknown collection or split, and when no split is available.
    """
    return _resolve(source.collection, source.splits, source.released_dir, getattr(source, "sources", None))


@cache
def _resolve(
    collection: str, splits: tuple[str, ...] | None, released_dir: str | None, own_list: str | None
) -> Release:
    listed = Path(own_list or SOURCES)
    listing = collections(listed)
    if collection in listing:
        published = listing[collection]
    elif released_dir and splits:
        published = {split: _user_files(collection, split, Path(released_dir)) for split in splits}
    else:
        raise InputError(
            f"unknown collection {collection!r}{nearest(collection, listing)}",
            file=listed,
            remedy="for annotations of your own, name their folder in released_dir, and their splits",
        )
    chosen = published if splits is None else splits
    unknown = [split for split in chosen if split not in published]
    if unknown:
        raise InputError(
            f"collection {collection!r} has no split {unknown[0]!r}",
            remedy=f"its splits are {', '.join(published)}",
        )
    local_folder = released_dir or (own_list and listed.parent)
    folder = Path(local_folder) if local_folder else DOWNLOADS
    files: dict[str, tuple[SourceFile, ...]] = {}
    missing: dict[str, str] = {}
    for split in [*chosen, *(split for split in published if split not in chosen)]:
        absent = [file for file in published[split] if not _is_present(file, folder, bool(local_folder))]
        if split not in chosen:
            missing[split] = "not asked for in the configuration"
        elif absent:
            missing[split] = f"{folder / absent[0].place} is not there: {how_to_get(absent[0])}"
        else:
            files[split] = published[split]
    if not files:
        raise InputError(
            f"no split of collection {collection!r} is available",
            remedy="; ".join(f"{split}: {why}" for split, why in missing.items()),
        )
    return Release(collection, folder, files, missing, listed)


def downloads(sources: Iterable[object]) -> Iterator[tuple[Path, SourceFile]]:
    """Places of the published files of `sources`, of those without a folder of their own that has them."""
    for source in sources:
        collection = collections().get(getattr(source, "collection", ""), {})
        if collection and not getattr(source, "released_dir", None) and not getattr(source, "sources", None):
            yield from ((DOWNLOADS / file.place, file) for files in collection.values() for file in files)


def _user_files(collection: str, split: str, folder: Path) -> tuple[SourceFile, ...]:
    """SPLIT.jsonl, SPLIT.json, or SPLIT.txt beside SPLIT.csv with the lengths of the videos."""
    places = (f"{split}.{ending}" for ending in ("jsonl", "json", "txt"))
    place = next((place for place in places if (folder / place).is_file()), f"{split}.jsonl")
    forms = {own_form(folder / place) if (folder / place).is_file() else "fig": place}
    if "charades-sta" in forms:
        forms["charades-csv"] = f"{split}.csv"
    return tuple(
        SourceFile(collection, split, "", form, file, "", "", None, None, "", "own") for form, file in forms.items()
    )


def _is_present(file: SourceFile, folder: Path, local: bool) -> bool:
    return (folder / file.place).is_file() or (file.access == "open" and not local)


def read_release(source: Collected, split: str) -> list[dict]:
    """Checked rows of one split in FIG form, ids unique over the available splits (see `read_splits`); without all
    annotators' spans."""
    for name, rows in read_splits(source):
        if name == split:
            return [{key: value for key, value in row.items() if key != "annotator_times"} for row in rows]
    raise InputError(f"split {split!r} is not available")


def read_splits(source: Collected) -> Iterator[tuple[str, list[Row]]]:
    """The available splits with their checked rows in FIG form, ids unique over all of them; each file is read once.

    Every file is compared with its published size and SHA-256 first; if none is known, with the number of rows. Raises
    InputError.
    """
    release = resolve(source)
    first_id = 0
    for name, files in release.files.items():
        paths = {file.format: release.folder / file.place for file in files}
        for file in files:
            verify(paths[file.format], file)
        rows = read_split(paths, first_id)
        expected = files[0].rows
        if expected is not None and len(rows) != expected:
            raise InputError(
                f"{len(rows)} rows, {expected} were published", file=paths[files[0].format], remedy=how_to_get(files[0])
            )
        yield name, rows
        first_id += len(rows)


def moments_of(rows: Iterable[Mapping], split: str) -> tuple[list[dict], list[dict], int]:
    """(moments, exclusions, clamped) of the annotation rows of one split.

    Ends past the end of the video are clamped to it and counted; a moment that starts there, or has no length, is
    excluded.
    """
    moments, exclusions, clamped = [], [], 0
    for number, row in enumerate(rows, start=1):
        start, end = row["time"]
        reason = None
        if end <= start:
            reason, detail = "no-length", f"starts at {start} s and ends at {end} s"
        elif start >= row["duration"]:
            reason, detail = "starts-after-the-end", f"starts at {start} s, the video has {row['duration']} s"
        if reason:
            exclusions.append(
                {
                    "row": number,
                    "video": row["video"],
                    "desc_id": row["desc_id"],
                    "reason": reason,
                    "detail": f"split {split}: {detail}",
                }
            )
            continue
        clamped += end > row["duration"]
        moments.append(
            {
                "desc_id": row["desc_id"],
                "video": row["video"],
                "start": start,
                "end": min(end, row["duration"]),
                "duration": row["duration"],
                "split": split,
                "caption": row["cog_desc"],
            }
        )
    return moments, exclusions, clamped
