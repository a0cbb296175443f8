"""The index of a corpus: a folder with numbered builds, of which the last complete one is in force.

Build `N` is a folder with the windows of all videos, the annotated moments and a copy of the model, and `N.json`, its
manifest. The manifest gets its checksums last, and only then earlier builds are removed: a killed change has no effect,
and a search in progress continues with its open files. Videos that stay are copied from the build before; decoded data
of a video file is in `decoded` until its build is in force. Changes are serialised by the file `.lock`.
"""

import contextlib
import fcntl
import hashlib
import re
import shutil
from collections.abc import Container, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from verified.errors import InputError
from verified.io.files import require_version
from verified.io.jsonl import iterate_jsonl, read_json, write_json
from verified.nn.checkpoint import Form, load, save
from verified.runtime.checksums import checksums_of, write_checksums
from verified_search.presence import PASSES
from verified_search.sound import sound
from verified_search.windows import VIDEOS, Item, Windows, write_windows

DECODED, LOCK = "decoded", ".lock"
FORMAT = 9
OURS = re.compile(r"\.?\d{6}(\.json)?(\.checksums)?|decoded|\..*\.partial.*")
"""Names in the folder of an index that a change may remove."""
FORM = Form("decoded video of an index", 1, "remove it and index the folder again")


def manifest_file(folder: Path) -> Path | None:
    """The manifest in force: the last that has checksums, if there is one."""
    return max((path for path in folder.glob("[0-9]*.json") if checksums_of(path).is_file()), default=None)


def read_manifest(folder: Path) -> dict:
    """Read the manifest of an index. Raises InputError if there is none, or of another version."""
    if (path := manifest_file(folder)) is None:
        raise InputError(
            "no index here", file=folder, remedy="build one: verified index; one is copied with its hidden files: cp -a"
        )
    sound(folder, path.name)
    manifest = read_json(path)
    stated = manifest.get("format") if isinstance(manifest, dict) else None
    require_version(stated, FORMAT, "index", path, f"remove {folder} and run verified index")
    if manifest["build"]["name"] != path.stem:
        raise InputError("its build has another number", file=path, remedy=f"remove {folder} and run verified index")
    return manifest


def write_manifest(folder: Path, manifest: dict) -> dict:
    """Put a manifest in force, remove earlier builds and decoded videos, and return it."""
    build = manifest["build"]
    path = folder / f"{build['name']}.json"
    write_json(path, {**manifest, "videos": build["videos"], "clips": build["rows"]})
    write_checksums(path)
    return tidy(folder)


def tidy(folder: Path) -> dict:
    """Remove all that a change wrote and the build in force does not need; returns the manifest."""
    manifest = read_manifest(folder)
    build = build_folder(folder, manifest)
    manifest_path = build.with_suffix(".json")
    current = {build, checksums_of(build), manifest_path, checksums_of(manifest_path)}
    for path in {path for path in folder.iterdir() if OURS.fullmatch(path.name)} - current:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return manifest


class Decoded(NamedTuple):
    """Facts of a video, and its decoded data."""

    row: dict
    features: np.ndarray
    """[clips, F]."""
    pictures: list[tuple[float, bytes]]
    """(seconds, JPEG)."""


def _decoded_path(folder: Path, video: str) -> Path:
    return folder / DECODED / f"{hashlib.sha256(video.encode()).hexdigest()[:16]}.safetensors"


def write_decoded(folder: Path, one: Decoded) -> None:
    """Store the decoded data of a video."""
    content = np.frombuffer(b"".join(picture for _, picture in one.pictures), np.uint8)
    tensors = {"features": torch.from_numpy(one.features), "pictures": torch.from_numpy(content.copy())}
    sizes = [[time, len(picture)] for time, picture in one.pictures]
    path = _decoded_path(folder, one.row["video"])
    save(path, FORM, tensors, {"row": one.row, "sizes": sizes})
    write_checksums(path)


def read_decoded(folder: Path, video: str) -> Decoded:
    """Read the decoded data of a video. Raises InputError for a missing or damaged file."""
    path = _decoded_path(folder, video)
    sound(folder, f"{DECODED}/{path.name}")
    tensors, facts = load(path, FORM)
    content, start, pictures = tensors["pictures"].numpy().tobytes(), 0, []
    for time, size in facts["sizes"]:
        pictures.append((time, content[start : start + size]))
        start += size
    return Decoded(facts["row"], tensors["features"].numpy(), pictures)


@contextlib.contextmanager
def changing(folder: Path) -> Iterator[None]:
    """Lock the index for a change. Raises InputError while another process has the lock."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError("another process is changing the index", file=folder, remedy="wait for it") from None
        yield


def build_folder(folder: Path, manifest: dict) -> Path:
    """The folder of a manifest's build."""
    return folder / manifest["build"]["name"]


def present(folder: Path, manifest: dict) -> dict[str, dict]:
    """The rows of all videos in the index, by id; none of an empty manifest. Raises InputError unless all files of the
    build match its checksums: a change copies them."""
    if not manifest:
        return {}
    sound(folder, manifest["build"]["name"])
    return {row["video"]: row for row in iterate_jsonl(build_folder(folder, manifest) / VIDEOS, ("video",))}


def new_build(folder: Path, old: dict) -> Path:
    """An empty folder for the build behind that of `old`, the manifest in force or an empty one."""
    build = folder / f"{int(old['build']['name']) + 1 if old else 1:06d}"
    for path in (build.with_suffix(".json"), checksums_of(build.with_suffix(".json")), checksums_of(build)):
        path.unlink(missing_ok=True)  # of a killed change
    shutil.rmtree(build, ignore_errors=True)
    build.mkdir(parents=True)
    return build


def finish_build(build: Path, old: dict, gone: Container[str], items: Iterable[Item]) -> dict:
    """Write the windows of videos into a new build, those of `old` that are not `gone` and those of `items`, with its
    checksums; returns its facts for the manifest. Raises InputError without any video."""
    earlier = Windows(build_folder(build.parent, old), old["build"]).items(gone) if old else ()
    every = iter(chain(earlier, items))
    first = next(every, None)
    if first is None:
        raise InputError("an index without videos", file=build.parent, remedy="add some, and index them again")
    facts = write_windows(build, chain([first], every), first[1][0].search.shape[1])
    write_checksums(build)
    return {"name": build.name, **facts}


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
        _presence(manifest["unrelated"]),
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
    verdict = "" if ranking["trusted"] or not before else ": close to random"
    return f"ranking by {ranking['model']}{verdict}: {text}; weights: {weighed}"


def _presence(unrelated: list[float]) -> str:
    text = "whether a sentence is here at all: "
    if unrelated:
        return f"{text}by {len(unrelated)} unrelated sentences, of which {PASSES:.0%} pass as here"
    return f"{text}unknown, no captions or captions of all kinds of things"
