"""The index of a corpus: a folder with a manifest, segments and a copy of the model; videos can be added and removed.

`index.json`, the manifest, lists the segments in force and their removed videos. It is the last file written by a
change and replaces its predecessor atomically: a killed change has no effect, and a search in progress continues with
its open files. Added videos form a new segment; the smallest segments are merged if there are more than
`SMALL_SEGMENTS`, and all are if a third of the videos is removed. Changes are serialised by the file `.lock`.
"""

import contextlib
import fcntl
import hashlib
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from verified.errors import InputError
from verified.io.array_file import read_array
from verified.io.files import file_name, require_version
from verified.io.jsonl import read_json, write_json
from verified.runtime.seals import finished, read_seal, replacing, seal, seal_of
from verified.runtime.verify import check_intact
from verified_search.presence import PASSES
from verified_search.segments import VIDEOS, Segment, write_segment
from verified_search.sound import sound
from verified_search.vectors import EXACT

MANIFEST, SEGMENTS, ADDED = "index.json", "segments", "added"
FORMAT = 6
"""1: the copy of the model named no form. 3: captions had no sentence vectors, and the ranking no measure."""
EMPTY = {"dim": 0, "next": 0, "dropped": [], "segments": [], "here": None, "unrelated": []}
"""What every manifest says beside its format, without a video."""
SMALL_SEGMENTS = 8


def read_manifest(folder: Path) -> dict:
    """Read the manifest of an index. Raises InputError if it is missing, or of another version."""
    if not (folder / MANIFEST).is_file():
        raise InputError("no index here", file=folder, remedy="build one: verified index --configfile CONFIG")
    sound(folder, MANIFEST)
    manifest = read_json(folder / MANIFEST)
    stated = manifest.get("format") if isinstance(manifest, dict) else None
    require_version(stated, FORMAT, "index", folder / MANIFEST, f"remove {folder} and run verified index")
    for entry in manifest["segments"]:
        file_name(entry["name"], folder / MANIFEST, "segment")
    if manifest["checkpoint"]:
        file_name(manifest["checkpoint"], folder / MANIFEST, "checkpoint")
    return manifest


def sound_segments(folder: Path, manifest: dict) -> None:
    """Raise InputError unless all files of the segments in force match their seals: a change reuses them."""
    for entry in manifest["segments"]:
        name = f"{SEGMENTS}/{entry['name']}"
        written = read_seal(folder / name) or {}
        sound(folder, *(f"{name}/{file}" for file in sorted({*written.get("files", ()), VIDEOS})))


def write_manifest(folder: Path, manifest: dict, last: bool = True) -> None:
    """Put a manifest in force and, for the `last` of a change, remove files that belong to none of its videos."""
    videos = [(entry["videos"] - len(entry["removed"])) for entry in manifest["segments"]]
    clips = sum(entry["rows"] for entry in manifest["segments"])
    with replacing(folder / MANIFEST) as temporary:
        write_json(temporary, {**manifest, "videos": sum(videos), "clips": clips})
    if last:
        finish(folder, manifest)


def features_path(folder: Path, video: str) -> Path:
    """Path of the features of an added video in an index."""
    return folder / ADDED / f"{hashlib.sha256(video.encode()).hexdigest()[:16]}.npy"


def write_features(folder: Path, video: str, features: np.ndarray) -> None:
    """Store the features [clips, F] of an added video, in half precision."""
    (folder / ADDED).mkdir(exist_ok=True)
    with replacing(features_path(folder, video)) as temporary, temporary.open("wb") as out:
        np.save(out, features.astype(np.float16))


def read_features(folder: Path, video: str, remedy: str) -> np.ndarray:
    """Read the features [clips, F]. Raises InputError with `remedy` for a damaged file, no clips, or values that are
    not finite."""
    path = features_path(folder, video)
    check_intact(path, required=True, remedy=remedy)
    features = np.array(read_array(path, 2, remedy), np.float32)
    if not features.size or not np.isfinite(features).all():
        raise InputError("holds no clips, or values that are not finite", file=path, remedy=remedy)
    return features


def finish(folder: Path, manifest: dict) -> bool:
    """Clean up after a killed change behind the manifest in force; returns whether there was anything.

    Segments not in force, features of videos outside the index and temporary files are deleted.
    """
    unfinished = not finished(folder / MANIFEST)
    if unfinished:
        seal(folder / MANIFEST)
    named = {entry["name"] for entry in manifest["segments"]}
    left = [path for path in (folder / SEGMENTS).glob("[0-9]*") if path.name not in named]
    left += [path for below in (folder, folder / ADDED) for path in below.glob(".*.partial*")]
    if features := {*(folder / ADDED).glob("*.npy"), *map(_sealed_by, (folder / ADDED).glob(".*.npy.seal"))}:
        rows = present(folder, manifest).values()
        left += sorted(features - {features_path(folder, row["video"]) for row in rows if row["origin"] == "added"})
    left += [path for path in map(_sealed_by, (folder / SEGMENTS).glob(".*.seal")) if path.name not in named]
    for path in dict.fromkeys(left):
        # The seal is deleted last: while it exists, a repeated change finds the remaining files.
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        seal_of(path).unlink(missing_ok=True)
    return unfinished or bool(left)


def _sealed_by(seal_file: Path) -> Path:
    return seal_file.with_name(seal_file.name[1:].removesuffix(".seal"))


@contextlib.contextmanager
def changing(folder: Path) -> Iterator[None]:
    """Lock the index for a change. Raises InputError while another process has the lock."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError("another process is changing the index", file=folder, remedy="wait for it") from None
        yield


def open_segments(folder: Path, manifest: dict) -> list[Segment]:
    """Open the segments in force. Raises InputError for a damaged one."""
    return [Segment(folder / SEGMENTS / entry["name"], entry, entry["removed"]) for entry in manifest["segments"]]


def present(folder: Path, manifest: dict) -> dict[str, dict]:
    """The rows of all videos in the index, by id."""
    from verified.io.jsonl import iterate_jsonl

    sound(folder, *(f"{SEGMENTS}/{entry['name']}/{VIDEOS}" for entry in manifest["segments"]))
    return {
        row["video"]: row
        for entry in manifest["segments"]
        for row in iterate_jsonl(folder / SEGMENTS / entry["name"] / VIDEOS, ("video",))
        if row["video"] not in entry["removed"]
    }


def add_segment(folder: Path, manifest: dict, items: Iterable, dim: int, queries: np.ndarray, seed: int) -> dict:
    """Add a segment of `items` and `queries` [n, dim], in the format of `write_segment`; returns the new manifest.

    The manifest is not in force yet.
    """
    manifest = {**manifest, "next": manifest["next"] + 1}
    name = f"{manifest['next']:06d}"
    segment_folder = folder / SEGMENTS / name
    seal_of(segment_folder).unlink(missing_ok=True)
    shutil.rmtree(segment_folder, ignore_errors=True)  # of a killed change
    facts = write_segment(segment_folder, items, dim, manifest["exact_clips"], queries, seed)
    seal(segment_folder)
    return {**manifest, "segments": [*manifest["segments"], {"name": name, **facts, "removed": []}]}


def without_videos(folder: Path, manifest: dict, videos: set[str]) -> dict:
    """The manifest without these videos; segments without remaining videos are dropped."""
    entries = []
    for entry in manifest["segments"]:
        rows = present(folder, {**manifest, "segments": [entry]})
        removed = [*entry["removed"], *sorted(videos & rows.keys())]
        if len(removed) < entry["videos"]:
            entries.append({**entry, "removed": removed})
    return {**manifest, "segments": entries}


def tidy(folder: Path, manifest: dict, seed: int) -> dict:
    """Merge small segments if there are many, and all of them if many videos were removed; returns the manifest."""
    entries = manifest["segments"]
    removed, videos = sum(len(entry["removed"]) for entry in entries), sum(entry["videos"] for entry in entries)
    joined = entries if 3 * removed > videos else smallest([entry for entry in entries if entry["kind"] == EXACT])
    if not joined:
        return manifest
    segments = open_segments(folder, {**manifest, "segments": joined})
    untouched = [entry for entry in entries if entry not in joined]
    items = (item for segment in segments for item in segment.items())
    none = np.zeros((0, segments[0].dim), np.float32)
    return add_segment(folder, {**manifest, "segments": untouched}, items, segments[0].dim, none, seed)


def smallest(entries: list[dict]) -> list[dict]:
    """Of too many segments the smallest, up to one that is larger than its predecessors together: a video that joins n
    others is copied at most log n times. Empty if there are not too many."""
    if len(entries) <= SMALL_SEGMENTS:
        return []
    rows, joined = 0, []
    for entry in sorted(entries, key=lambda entry: entry["rows"]):
        if len(joined) > 1 and entry["rows"] > rows:
            break
        rows += entry["rows"]
        joined.append(entry["name"])
    return [entry for entry in entries if entry["name"] in joined]


def describe(manifest: dict) -> list[str]:
    """Describe an index, in lines for a person."""
    lines = [
        f"{manifest['videos']:,} videos of {manifest['title']}, {manifest['clips']:,} clips of"
        f" {manifest['clip_seconds']:g} s, by {manifest['model']}"
    ]
    for entry in manifest["segments"]:
        how = (
            "exact search"
            if entry["kind"] == EXACT
            else (
                f"{entry['probes']} of {entry['lists']} inverted lists, which find {entry['recall']:.1%} of the"
                f" {entry['recall_at']} videos of an exact search ({entry['recall_queries']} queries)"
            )
        )
        gone = f", {len(entry['removed'])} of them removed" if entry["removed"] else ""
        lines.append(f"segment {entry['name']}: {entry['videos']:,} videos{gone}, {entry['rows']:,} clips: {how}")
    if manifest.get("folder"):
        return [*lines, f"searched by what {manifest['text_encoder']} sees: nothing was written about these videos"]
    return [
        *lines,
        _ranking(manifest["ranking"], manifest["weights"]),
        _presence(manifest["here"], manifest["unrelated"]),
    ]


def _ranking(ranking: dict, weights: dict[str, float]) -> str:
    weighed = ", ".join(f"{name} {weight:g}" for name, weight in weights.items())
    if before := ranking["before"]:
        told = (
            f"the right video is before {before['value']:.0%} [{before['low']:.0%}, {before['high']:.0%}] of the"
            f" others on {before['queries']} queries, by chance 50%"
        )
    else:
        told = "not measured, too few known queries"
    because = f" ({'; '.join(ranking['reasons'])})" if ranking["reasons"] else ""
    verdict = ": close to random" if ranking["random"] else ""
    return f"ranking by {ranking['model']}{verdict}: {told}{because}; weights: {weighed}"


def _presence(here: dict | None, unrelated: list[float]) -> str:
    told = "whether a sentence is here at all: "
    if here is not None and here["tells"]:
        low, high = here["auroc_interval"]
        measure = f"AUROC {here['auroc']:.2f} [{low:.2f}, {high:.2f}] on {here['queries']} queries"
        return f"{told}{measure}, by {here['known_by']}"
    if unrelated:
        return f"{told}by {len(unrelated)} unrelated sentences, of which {PASSES:.0%} pass as here"
    return f"{told}unknown, no captions or captions of all kinds of things"
