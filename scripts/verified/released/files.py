"""The list of published files, `config/sources.csv`: origin, checksum, licence, where to put each; their download.

Downloads resume and retry. Not pooch, which restarts an interrupted download of gigabytes from the beginning.
"""

import csv
import hashlib
import logging
import os
import shutil
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from verified.errors import InputError
from verified.io.files import is_inside
from verified.runtime.project import PROJECT, WORKFLOW, check_installed

log = logging.getLogger("verified")

SOURCES = PROJECT / "config" / "sources.csv"
ACCESS = ("open", "form", "none", "own")
"""open: a rule downloads it; form: a person fetches it from the page `url`; none: not published; own: a user's file."""

ATTEMPTS = 5
TIMEOUT_SECONDS = 60
CHUNK = 1 << 20


@dataclass(frozen=True)
class SourceFile:
    """One file of a collection. Empty text and None mean: unknown."""

    collection: str
    split: str
    version: str
    format: str
    """fig, charades-sta, charades-csv, activitynet-captions, didemo (`released.formats`) or archive."""
    place: str
    """Path below the folder of released files."""
    url: str
    sha256: str
    bytes: int | None
    rows: int | None
    """Captions in the file (videos in a charades-csv)."""
    licence: str
    access: str


@cache
def read_sources(path: Path = SOURCES) -> tuple[SourceFile, ...]:
    """All rows of `config/sources.csv`. Raises InputError for a missing file or an impossible row."""
    if not path.is_file():
        raise InputError("no such list of published files", file=path, remedy="put it there, or name another")
    check_installed(WORKFLOW, [path])
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    files = []
    for number, row in enumerate(rows, start=2):
        numbers = {key: int(row[key]) if row[key] else None for key in ("bytes", "rows")}
        if row["access"] not in ACCESS or not (row["place"] == "" or is_inside(row["place"])):
            raise InputError("unknown access class, or a place outside the folder", file=path, row=number)
        files.append(SourceFile(**{**row, **numbers}))
    return tuple(files)


def collections(path: Path = SOURCES) -> dict[str, dict[str, tuple[SourceFile, ...]]]:
    """Collection → split → its files, in the order of the list, without files of no split."""
    listed: dict[str, dict[str, tuple[SourceFile, ...]]] = {}
    for file in read_sources(path):
        if file.split:
            splits = listed.setdefault(file.collection, {})
            splits[file.split] = (*splits.get(file.split, ()), file)
    return listed


def verify(path: str | os.PathLike, source: SourceFile) -> None:
    """Raise InputError unless `path` has the bytes that `source` names (if its size and SHA-256 are known)."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{source.place} is not there", file=path, remedy=how_to_get(source))
    with path.open("rb") as file:
        head = file.read(512).lstrip()
        file.seek(0)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    size = path.stat().st_size
    if (source.sha256 and digest != source.sha256) or (source.bytes is not None and size != source.bytes):
        kind = "it is a web page" if head.startswith(b"<") else f"it has {size} bytes and SHA-256 {digest}"
        raise InputError(f"this is not the published {source.place}: {kind}", file=path, remedy=how_to_get(source))


def how_to_get(source: SourceFile) -> str:
    """One line for a person: the file to fetch, its address, and how to verify it."""
    size = f"{source.bytes} bytes" if source.bytes is not None else "size not known"
    digest = f"SHA-256 {source.sha256}" if source.sha256 else "SHA-256 not known"
    if source.access == "open":
        return f"`verified fetch --annotations` fetches it from {source.url}; expected {size}, {digest}"
    if source.access == "form":
        return f"fetch it by hand from {source.url} and save it as {source.place}; expected {size}, {digest}"
    if source.access == "own":
        return f"save your annotations of split {source.split} as {source.place} in the folder released_dir"
    return f"{source.place} was not published"


def download(source: SourceFile, path: str | os.PathLike, pause: float = 2.0) -> None:
    """Fetch `source.url` to `path`, which appears only when its size and SHA-256 are right.

    The bytes received so far are in ``path.part`` and the next attempt, or the next run, requests the rest. Raises
    InputError when the attempts are used up, when the server refuses, or when the bytes are not the published ones (the
    partial file is then removed).
    """
    path = Path(path)
    partial = path.with_name(path.name + ".part")
    by_hand = "fetch the file by hand and name its folder in released_dir"
    download_part(source.url, partial, source.bytes, by_hand, pause)
    try:
        verify(partial, source)
    except InputError:
        partial.unlink()
        raise
    partial.replace(path)
    log.info("%s: %d bytes, checksum right", path, path.stat().st_size)


def download_part(url: str, partial: Path, size: int | None, by_hand: str, pause: float = 2.0) -> None:
    """Fetch `url` to `partial`, resuming after the bytes that it already has; the caller checks the content.

    `size` in bytes if known; `by_hand` is the remedy if the download fails. Waits `pause` seconds, then twice as long,
    and so on between attempts. Raises InputError when the attempts are used up or the server refuses.
    """
    partial.parent.mkdir(parents=True, exist_ok=True)
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _fetch(url, partial, size)
            return
        except urllib.error.HTTPError as error:
            if error.code == 416 and partial.is_file():  # the file is complete: the checksum decides
                return
            if error.code < 500 and error.code not in (408, 429):
                problem = f"the server answers {error.code} {error.reason} for {url}"
                raise InputError(problem, file=partial, remedy=by_hand) from None
            problem = f"{error.code} {error.reason}"
        except (OSError, urllib.error.URLError) as error:
            problem = str(error)
        if attempt == ATTEMPTS:
            raise InputError(
                f"{url} could not be fetched in {ATTEMPTS} attempts: {problem}",
                file=partial,
                remedy=f"run again to resume, or {by_hand}",
            )
        log.warning("attempt %d of %d: %s; trying again", attempt, ATTEMPTS, problem)
        time.sleep(pause * 2 ** (attempt - 1))


def _fetch(url: str, partial: Path, size: int | None) -> None:
    have = partial.stat().st_size if partial.is_file() else 0
    if size is not None and have >= size:
        return
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
        resumed = have and answer.status == 206
        with partial.open("ab" if resumed else "wb") as file:
            shutil.copyfileobj(answer, file, CHUNK)
        expected = answer.headers.get("Content-Length")
    if expected is not None and partial.stat().st_size - (have if resumed else 0) < int(expected):
        raise OSError("the connection ended early")
