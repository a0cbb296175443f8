"""The index of a corpus: a folder with a manifest, the windows of all videos and a copy of the model.

`index.json`, the manifest, names the build in force, a folder of `builds`. It is the last file written by a change and
replaces its predecessor atomically: a killed change has no effect, and a search in progress continues with its open
files. Each change writes a new build, into which the remaining videos are copied; decoded data of a video file is in
`decoded` until its build is in force, and of a video added by hand as long as it is in the index. Changes are
serialised by the file `.lock`. For another engine, an index is exported as vectors in row order and a table of rows.
"""

import contextlib
import fcntl
import hashlib
import shutil
from collections.abc import Container, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from verified.errors import InputError
from verified.io.files import atomic_path, file_name, require_version
from verified.io.jsonl import iterate_jsonl, read_json, write_json
from verified.nn.checkpoint import Form, load, save
from verified.runtime.seals import finished, read_seal, replacing, seal, seal_of
from verified_search.presence import PASSES
from verified_search.sound import sound
from verified_search.windows import VIDEOS, Item, Windows, write_windows

MANIFEST, BUILDS, DECODED = "index.json", "builds", "decoded"
FORMAT = 7
EMPTY = {"dropped": [], "build": None, "here": None, "unrelated": []}
"""Entries of a manifest without videos, except its format."""
FORM = Form("decoded video of an index", 1, "take the video out of the index and add it again")


def read_manifest(folder: Path) -> dict:
    """Read the manifest of an index. Raises InputError if it is missing, or of another version."""
    if not (folder / MANIFEST).is_file():
        raise InputError("no index here", file=folder, remedy="build one: verified index --configfile CONFIG")
    sound(folder, MANIFEST)
    manifest = read_json(folder / MANIFEST)
    stated = manifest.get("format") if isinstance(manifest, dict) else None
    require_version(stated, FORMAT, "index", folder / MANIFEST, f"remove {folder} and run verified index")
    if manifest["build"] and not str(manifest["build"]["name"]).isdecimal():
        raise InputError("its build has no number", file=folder / MANIFEST, remedy=f"remove {folder}, verified index")
    if manifest["checkpoint"]:
        file_name(manifest["checkpoint"], folder / MANIFEST, "checkpoint")
    return manifest


def write_manifest(folder: Path, manifest: dict) -> None:
    """Put a manifest in force, and remove files that belong to none of its videos."""
    build = manifest["build"] or {"videos": 0, "rows": 0}
    with replacing(folder / MANIFEST) as temporary:
        write_json(temporary, {**manifest, "videos": build["videos"], "clips": build["rows"]})
    finish(folder, manifest)


class Decoded(NamedTuple):
    """Facts of a video, and its decoded data."""

    row: dict
    features: np.ndarray
    """[clips, F]."""
    pictures: list[tuple[float, bytes]]
    """(seconds, JPEG)."""


def decoded_path(folder: Path, video: str) -> Path:
    """Path of the decoded data of a video of an index."""
    return folder / DECODED / f"{hashlib.sha256(video.encode()).hexdigest()[:16]}.safetensors"


def write_decoded(folder: Path, one: Decoded) -> None:
    """Store the decoded data of a video."""
    (folder / DECODED).mkdir(exist_ok=True)
    content = np.frombuffer(b"".join(picture for _, picture in one.pictures), np.uint8)
    tensors = {"features": torch.from_numpy(one.features), "pictures": torch.from_numpy(content.copy())}
    sizes = [[time, len(picture)] for time, picture in one.pictures]
    with replacing(decoded_path(folder, one.row["video"])) as temporary:
        save(temporary, FORM, tensors, {"row": one.row, "sizes": sizes})


def read_decoded(folder: Path, video: str) -> Decoded:
    """Read the decoded data of a video. Raises InputError for a damaged file, no clips, or infinite values."""
    path = decoded_path(folder, video)
    sound(folder, f"{DECODED}/{path.name}")
    tensors, facts = load(path, FORM)
    features = tensors["features"].numpy()
    if not features.size or not np.isfinite(features).all():
        raise InputError("holds no clips, or values that are not finite", file=path, remedy=FORM.remedy)
    content, start, pictures = tensors["pictures"].numpy().tobytes(), 0, []
    for time, size in facts["sizes"]:
        pictures.append((time, content[start : start + size]))
        start += size
    return Decoded(facts["row"], features, pictures)


def finish(folder: Path, manifest: dict) -> bool:
    """Clean up after a killed change behind the manifest in force; returns whether there was anything.

    Builds not in force, decoded data of videos that were not added by hand, and temporary files are deleted.
    """
    unfinished = not finished(folder / MANIFEST)
    if unfinished:
        seal(folder / MANIFEST)
    added = [row["video"] for row in present(folder, manifest).values() if row["origin"] == "added"]
    wanted = {build_folder(folder, manifest), *(decoded_path(folder, video) for video in added)}
    existing = {_sealed_by(path) for below in (BUILDS, DECODED) for path in (folder / below).glob("*")}
    leftovers = sorted({*existing, *folder.glob(".*.partial*")} - wanted)
    for path in leftovers:
        # The checksum record is deleted last: while it exists, a repeated change finds the remaining files.
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        seal_of(path).unlink(missing_ok=True)
    return unfinished or bool(leftovers)


def _sealed_by(path: Path) -> Path:
    """The file that a checksum record belongs to; any other file itself."""
    return path.with_name(path.name[1:].removesuffix(".seal")) if path.suffix == ".seal" else path


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


def build_folder(folder: Path, manifest: dict) -> Path | None:
    """The folder of the build in force; None of an index without videos."""
    return folder / BUILDS / manifest["build"]["name"] if manifest["build"] else None


def open_windows(folder: Path, manifest: dict) -> Windows:
    """Open the build in force. Raises InputError for a damaged one, and for an index without videos."""
    if not (build := build_folder(folder, manifest)):
        raise InputError("an index without videos", file=folder, remedy="add some: verified index")
    return Windows(build, manifest["build"])


def present(folder: Path, manifest: dict) -> dict[str, dict]:
    """The rows of all videos in the index, by id. Raises InputError unless all files of the build match their seals:
    a change copies them."""
    if not (build := build_folder(folder, manifest)):
        return {}
    files = sorted({*(read_seal(build) or {}).get("files", ()), VIDEOS})
    sound(folder, *(f"{BUILDS}/{build.name}/{file}" for file in files))
    return {row["video"]: row for row in iterate_jsonl(build / VIDEOS, ("video",))}


def rebuild(folder: Path, manifest: dict, gone: Container[str], items: Iterable[Item] = ()) -> dict:
    """Write a build without the videos `gone`, and with those of `items`; returns the manifest, not yet in force."""
    videos = (row["video"] for row in present(folder, manifest).values())
    stay = any(video not in gone for video in videos)
    every = iter(chain(open_windows(folder, manifest).items(gone) if stay else (), items))
    first = next(every, None)
    if first is None:
        return {**manifest, "build": None}
    name = f"{int(manifest['build']['name']) + 1 if manifest['build'] else 1:06d}"
    build = folder / BUILDS / name
    seal_of(build).unlink(missing_ok=True)
    shutil.rmtree(build, ignore_errors=True)  # of a killed change
    facts = write_windows(build, chain([first], every), first[1][0].search.shape[1])
    seal(build)
    return {**manifest, "build": {"name": name, **facts}}


def describe(manifest: dict) -> list[str]:
    """Describe an index, in lines for a person."""
    lines = [
        f"{manifest['videos']:,} videos of {manifest['title']}, {manifest['clips']:,} clips of"
        f" {manifest['clip_seconds']:g} s, by {manifest['model']}"
    ]
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
        text = (
            f"the right video is before {before['value']:.0%} [{before['low']:.0%}, {before['high']:.0%}] of the"
            f" others on {before['queries']} queries, by chance 50%"
        )
    else:
        text = "not measured, too few known queries"
    because = f" ({'; '.join(ranking['reasons'])})" if ranking["reasons"] else ""
    verdict = ": close to random" if ranking["random"] else ""
    return f"ranking by {ranking['model']}{verdict}: {text}{because}; weights: {weighed}"


def _presence(fitted: dict | None, unrelated: list[float]) -> str:
    text = "whether a sentence is here at all: "
    if fitted is not None and fitted["tells"]:
        low, high = fitted["auroc_interval"]
        measure = f"AUROC {fitted['auroc']:.2f} [{low:.2f}, {high:.2f}] on {fitted['queries']} queries"
        return f"{text}{measure}, by {fitted['known_by']}"
    if unrelated:
        return f"{text}by {len(unrelated)} unrelated sentences, of which {PASSES:.0%} pass as here"
    return f"{text}unknown, no captions or captions of all kinds of things"


ROWS_PER_FILE = 1_000_000


def export(folder: Path, output: Path, rows_per_file: int = ROWS_PER_FILE) -> int:
    """Write `vectors-00000.npy` (float16 [rows, D], length 1) and `rows-00000.parquet` (video, start, end in seconds; a
    row per vector, in the same order), and more pairs of at most `rows_per_file` rows; returns the number of rows.

    Vectors are compared by their inner product; a video's score is the largest of its rows'. The folder appears when
    all files are complete. Raises InputError for an output folder that is not empty.
    """
    windows = open_windows(folder, read_manifest(folder))
    if output.exists() and any(output.iterdir()):
        raise InputError("is not empty", file=output, remedy="name a folder that is not there")
    temporary = output.with_name(f".{output.name}.partial")
    if temporary.exists():
        shutil.rmtree(temporary)  # of a killed export
    temporary.mkdir(parents=True)
    vectors, names, spans = [], [], []
    count = files = buffered = 0

    def write() -> None:
        nonlocal files, buffered
        _write_part(temporary, files, np.concatenate(vectors), np.concatenate(names), np.concatenate(spans))
        files, buffered = files + 1, 0
        for column in (vectors, names, spans):
            column.clear()

    for window, position in enumerate(windows.video):
        clip_vectors = windows.search_vectors(window).astype(np.float16)
        if buffered and buffered + len(clip_vectors) > rows_per_file:
            write()
        starts = windows.offset[window] + np.arange(len(clip_vectors)) * windows.seconds[window]
        vectors.append(clip_vectors)
        names.append(np.full(len(clip_vectors), windows.videos[position]["video"], object))
        spans.append(np.stack([starts, starts + windows.seconds[window]], axis=1))
        buffered, count = buffered + len(clip_vectors), count + len(clip_vectors)
    if buffered:
        write()
    temporary.replace(output)
    return count


def _write_part(output: Path, number: int, vectors: np.ndarray, names: np.ndarray, spans: np.ndarray) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    with atomic_path(output / f"vectors-{number:05d}.npy") as temporary, temporary.open("wb") as out:
        np.lib.format.write_array_header_1_0(out, np.lib.format.header_data_from_array_1_0(vectors))
        out.write(vectors.data)  # np.save reports a full disk by the number of items alone
    table = pa.table({"video": pa.array(names.tolist(), pa.string()), "start": spans[:, 0], "end": spans[:, 1]})
    with atomic_path(output / f"rows-{number:05d}.parquet") as temporary:
        parquet.write_table(table, temporary)
