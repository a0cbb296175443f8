"""Checksums of a job's outputs and inputs, in a file beside the outputs, so that readers detect damage.

A job whose first output is `scores.jsonl` writes `.scores.jsonl.checksums`; outputs in another folder have a file
there. It holds a JSON object and its SHA-256. The object has the rule, its wildcards, a digest of each param, the
SHA-256 of each input, and of each output bytes, SHA-256 and, of JSON lines, rows. Every job checks its inputs before it
reads a byte and writes the checksums of its outputs when all are there (see `runtime.job`); a file without checksums
belongs to a job that did not finish. SHA-256 takes half a second per gigabyte. A user's own files need none; every file
below `results/` must have them, so commands that write there add them too, and commands check the files they read (see
`runtime.verify`).

A file is identified by its path below `results/`, so a copy over another file, with its checksums, is refused. So is
a file made from other versions of its inputs than the present ones, and one that is not the state that the run recorded
last (see `runtime.manifest`).
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from verified.errors import InputError
from verified.io.files import file_digest, read_record, require_version, write_record
from verified.runtime.manifest import BUILT, place_of, rebuild_command

VERSION = 4
"""Version of the form of these files."""
VIDEOS = ".videos.jsonl"
"""Ending of the lists of the videos that the jobs of a shard decode, with their SHA-256."""

ENDING = ".checksums"

Record = dict[str, Any]
"""The record of one file: `path` (below `results/`), `sha256`, and `bytes` or `files`; `rows` of JSON lines;
`temporary` if true; of its job `rule`, `wildcards`, `params` and `made_of`."""


def checksums_of(path: str | os.PathLike[str]) -> Path:
    """The checksum file of a job whose only or first output is `path`."""
    path = Path(path)
    return path.with_name(f".{path.name}{ENDING}")


def write_checksums(
    *paths: str | os.PathLike[str],
    temporary: Iterable[str] = (),
    rule: str = "",
    wildcards: Mapping[str, str] | None = None,
    params: Iterable[object] = (),
    made_of: Mapping[str, str] | None = None,
) -> None:
    """Write the checksums of a job of `rule`, or of a command; the run will remove the outputs in `temporary`."""
    folders: dict[Path, dict[str, Record]] = {}
    for path in map(Path, paths):
        facts: Record = measure(path) | ({"temporary": True} if str(path) in temporary else {})
        folders.setdefault(path.parent, {})[place_of(path) or path.name] = facts
    job = {"version": VERSION, "rule": rule, "wildcards": dict(wildcards or {})}
    job |= {"params": sorted(map(digest_of_param, params)), "made_of": dict(made_of or {})}
    for folder, files in folders.items():
        write_record(checksums_of(folder / Path(next(iter(files))).name), {**job, "files": files})


def digest_of_param(value: object) -> str:
    """SHA-256 of a param of a job."""
    return hashlib.sha256(repr(value).encode()).hexdigest()


def made_with(path: str | os.PathLike[str], value: object) -> bool:
    """Whether `value` was among the params of the job that wrote `path`; True for a path without checksums."""
    written = record_of(path)
    return written is None or digest_of_param(value) in written["params"]


def write_built_checksums(path: str | os.PathLike[str]) -> None:
    """Write the checksums of a command's output if it is below a `results/`, where readers require them."""
    if BUILT in Path(path).resolve().parts:
        write_checksums(path)


def record_of(path: str | os.PathLike[str]) -> Record | None:
    """The record of a file or folder, or None.

    Raises InputError if the checksum file itself is damaged, or of another version.
    """
    path = Path(path)
    own = checksums_of(path)
    with contextlib.suppress(OSError):
        if own.exists():
            return _records(own).get(path.name)
        for checksum_file in sorted(path.parent.glob(f".*{ENDING}")):
            with contextlib.suppress(InputError, KeyError):
                return _records(checksum_file)[path.name]
    return None


_known: dict[str, tuple[tuple[int, ...], dict[str, Record]]] = {}


def _records(checksum_file: Path) -> dict[str, Record]:
    """The records of a checksum file by file name. Raises OSError, and InputError for one that is damaged or of
    another version."""
    stat = checksum_file.stat()
    state, key = (stat.st_ino, stat.st_size, stat.st_mtime_ns), os.path.abspath(checksum_file)
    if _known.get(key, (None,))[0] != state:
        path = checksum_file.with_name(checksum_file.name[1:].removesuffix(ENDING))
        try:
            job: Record = read_record(checksum_file)
            require_version(job.pop("version"), VERSION, "checksums", path, rebuild_command([path]))
            files: dict[str, Record] = job.pop("files")
            _known[key] = state, {Path(place).name: {**job, **facts, "path": place} for place, facts in files.items()}
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            raise InputError("its checksum file is damaged", file=path, remedy=rebuild_command([path])) from None
    return _known[key][1]


def checksum_files(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """The checksum files below a folder."""
    for base, _, names in os.walk(folder):
        yield from (Path(base, name) for name in sorted(names) if name.startswith(".") and name.endswith(ENDING))


def records_in(checksum_file: Path) -> dict[Path, Record]:
    """Files and folders beside a checksum file, with their records in it. Raises InputError for a damaged one."""
    return {checksum_file.with_name(name): record for name, record in _records(checksum_file).items()}


def difference(path: Path, written: Record, member: str = "") -> str:
    """The difference of a file or folder, or of one file of a folder, from its record in words; empty without any."""
    kind, is_there = ("folder", path.is_dir()) if "files" in written else ("file", path.is_file())
    if not is_there:
        return f"a {kind} was written, this is none"
    if "files" in written:
        return _difference_of_folder(path, written["files"], member)
    now = measure(path)
    if now["sha256"] == written["sha256"]:
        return ""
    return f"{_amount(now)} where {_amount(written)} were written"


def _amount(facts: Record) -> str:
    rows = f"{facts['rows']:,} lines, " if "rows" in facts else ""
    return f"{rows}{facts['bytes']:,} bytes, SHA-256 {facts['sha256'][:12]}…"


def _difference_of_folder(path: Path, written: dict[str, str], member: str) -> str:
    there = {member: file_digest(path / member)} if member else files_of(path)
    names = {member} if member else there.keys() | written.keys()
    changed = sorted(name for name in names if there.get(name) != written.get(name))
    more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
    return f"not as written: {', '.join(changed[:3])}{more}" if changed else ""


TIMESTAMP = ".snakemake_timestamp"
"""The file that Snakemake puts into folders that a job wrote."""


def measure(path: Path) -> dict[str, Any]:
    """`bytes`, `sha256` and, of JSON lines, `rows` of a file; `files` and `sha256` of a folder."""
    if path.is_dir():
        return {"files": (files := files_of(path)), "sha256": hashlib.sha256(json.dumps(files).encode()).hexdigest()}
    facts = {"bytes": path.stat().st_size, "sha256": file_digest(path)}
    if path.suffix != ".jsonl":
        return facts
    with path.open("rb") as lines:
        return facts | {"rows": sum(1 for _ in lines)}


def files_of(folder: Path) -> dict[str, str]:
    """SHA-256 of each file below a folder, by its path there."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != TIMESTAMP)
    return {path.relative_to(folder).as_posix(): file_digest(path) for path in files}
