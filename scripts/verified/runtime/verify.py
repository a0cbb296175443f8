"""Check files against their checksums: the inputs of a job, files that a command reads, and a whole run.

A job checks its inputs all at once (see `runtime.job`). The inputs of a command follow from its arguments, so its
readers check each file (see `io.files.checked`), once in a process unless it changes. A file with checksums, or in a
folder with one, must match it. Another one is refused if the manifest of its run lists it, and else is a
user's own.
"""

import contextlib
import itertools
import json
import os
import stat
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from verified.errors import InputError
from verified.io.files import file_digest
from verified.runtime.announcements import LATENCY, PARENT
from verified.runtime.checksums import (
    ENDING,
    VIDEOS,
    Record,
    checksum_files,
    checksums_of,
    difference,
    record_of,
    records_in,
    write_checksums,
)
from verified.runtime.manifest import BUILT, NAME, manifest_of, place_of, rebuild_command

DEEPEST = 4
"""Parent folders that are searched for a record if the file is not below a `results/`."""

_checked: dict[str, tuple[int, ...]] = {}
"""State (device, inode, bytes, times in nanoseconds) of each file when it matched its record."""


def check(path: str | os.PathLike[str], required: bool = False, remedy: str = "") -> None:
    """Raise InputError unless a file or folder matches its record, or a file that of a folder around it; the message
    names both states and the remedy.

    `required`: one without checksums is refused wherever it is. `remedy` replaces the command that rebuilds it.
    """
    path = Path(path)
    state, key = _state(path), os.path.abspath(path)
    if state and _checked.get(key) == state:
        return
    if not path.exists():
        if required or record_of(path) or is_listed(path):
            raise _refusal("no such file", path, path, remedy)
        return  # the reader reports it
    owner, written = _find_record(path)
    if written is None and path.resolve() != Path(key):
        path = path.resolve()
        owner, written = _find_record(path)
    if written is None:
        if not (has_checksums := is_listed(path)) and not required:
            return
        own = f"if it is your own, move it out of {BUILT}/ and name it there; a run writes again what is gone"
        raise _refusal(
            "has no checksums: no job that ended has written it", path, path, remedy or ("" if has_checksums else own)
        )
    member = path.relative_to(owner).as_posix() if owner != path else ""
    if problem := _problem(owner, written, member):
        raise _refusal(f"damaged: {problem}", path, owner, remedy)
    if path.suffix == ".h5":  # it links to shards, which HDF5 itself opens
        for source in filter(Path.exists, sources_of(owner, written)):
            if source.suffix == ".h5":
                check(source, required=True)
    if state:
        _checked[key] = state


def _refusal(problem: str, path: Path, rebuilt: Path, remedy: str = "") -> InputError:
    if run := run_at_work(path):
        problem, remedy = f"{problem}; {run} is at work", "wait until it ends; if it was killed, start it again"
    return InputError(problem, file=path, remedy=remedy or f"rebuild it: {rebuild_command([rebuilt])}")


def run_at_work(path: Path) -> str:
    """The run that is at work on a path in words; empty if none is, or for a job of a run."""
    manifest = None if PARENT in os.environ else manifest_of(path)
    return manifest.run_at_work() if manifest else ""


def _state(path: Path) -> tuple[int, ...] | None:
    try:
        facts = path.stat()
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(facts.st_mode):
        return None
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns


def _find_record(path: Path) -> tuple[Path, Record | None]:
    """The path itself, or the nearest folder around it, that has a record, with that record."""
    around = path.parents if BUILT in path.parts else list(path.parents)[:DEEPEST]
    for owner in (path, *around):
        if owner.name in ("", BUILT):
            break
        if (written := record_of(owner)) is not None:
            return owner, written
    return path, None


@contextlib.contextmanager
def job_checksums(inputs: Iterable[str], outputs: Sequence[str], **job: Any) -> Generator[None]:
    """Check `inputs` first; write checksums of `outputs`, with facts of the job, if the block ends without an error."""
    made_of = dict[str, str]()
    for path in map(Path, inputs):
        built = path.parts[0] == BUILT
        if built:
            _await(lambda path=path: _find_record(path)[1] is not None)
        check(path, required=built)
        if problem := _changed_video(path):
            raise InputError(problem, file=path, remedy=f"look at the videos again: {rebuild_command([path])}")
        written, place = record_of(path), place_of(path)
        if written and place and "temporary" not in written:
            made_of[place] = written["sha256"]
    for path in outputs:
        checksums_of(path).unlink(missing_ok=True)
    yield
    if there := [path for path in outputs if _await(Path(path).exists)]:  # Snakemake reports missing outputs
        write_checksums(*there, made_of=made_of, **job)


def _problem(path: Path, written: Record, member: str = "") -> str:
    """How `path`, or its file `member`, differs from its record; empty if it does not."""
    if _elsewhere(path, written):
        whose = f"{written['path']}, written by {written['rule'] or 'a command'}"
        return f"its checksums are those of {whose}; keep copies under their path, or outside any {BUILT}/"
    if problem := difference(path, written, member):
        return problem
    return outdated(path, written)


def outdated(path: Path, written: Record) -> str:
    """How the record of a path differs from the last state of the run in words; empty if it does not."""
    manifest = manifest_of(path)
    last = manifest.outputs.get(place_of(path) or "") if manifest else None
    if last and last != written["sha256"]:
        return f"another state than the last one of the run, SHA-256 {last[:12]}…"
    for source, digest in sources_of(path, written).items():
        with contextlib.suppress(InputError):  # damage of that file is reported elsewhere
            now = record_of(source)
            if now and now["sha256"] != digest and source.exists() and not outdated(source, now):
                return f"it was made of another {source.name} than the one that is there ({source})"
    return ""


def sources_of(path: Path, written: Record) -> dict[Path, str]:
    """The files that `path` was made of, with their SHA-256 then; none for a copy below no `results/`."""
    if place_of(path) is None:
        return {}
    depth = str(written["path"]).count("/")
    results = (path if len(path.parents) > depth else Path(os.path.abspath(path))).parents[depth]
    return {results / place: digest for place, digest in written["made_of"].items()}


def is_listed(path: Path) -> bool:
    """Whether the manifest of the run lists a path, or a folder around it, so that a job must have written it."""
    manifest, place = manifest_of(path), Path(place_of(path) or "")
    return manifest is not None and any(str(around) in manifest.outputs for around in (place, *place.parents))


def _elsewhere(path: Path, written: Record) -> bool:
    """Whether the checksums beside `path` belong to another file. Outside any `results/`, only names are compared."""
    there, place = os.path.abspath(path), written["path"]
    if "/" in place and f"/{BUILT}/" in there:
        return not there.endswith(f"/{BUILT}/{place}")
    return Path(there).name != Path(place).name


def _changed_video(path: Path) -> str | None:
    """The first video that changed since it was probed, in words; None if all are unchanged, or `path` lists none.

    A download may have continued since, which sizes and samples cannot show (see `corpus.video_folder`).
    """
    if not path.name.endswith(VIDEOS):
        return None
    with path.open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            video = Path(row["path"])
            if not video.is_file():
                return f"the video {video} is gone since it was probed"
            if file_digest(video) != row["sha256"]:
                return f"the video {video} has changed since it was probed"
    return None


def _await(arrived: Callable[[], bool]) -> bool:
    """Whether a file appears within the run's --latency-wait, for network file systems."""
    end = time.monotonic() + float(os.environ.get(LATENCY, 0))
    while not (there := arrived()) and time.monotonic() < end:
        time.sleep(0.1)
    return there


class Finding(NamedTuple):
    """A file or folder that differs from its job's output."""

    path: Path
    kind: str
    """damaged, gone or unrecorded."""
    message: str
    temporary: bool = False
    """Whether a run removes it, so that nobody has to request it."""


def verify(folder: Path) -> tuple[int, list[Finding]]:
    """Check everything below `folder` (relative to the working directory) against its checksums and manifests.

    Returns the number of recorded files and folders, and the findings. Files that no job wrote, such as a user's notes,
    are skipped.
    """
    _checked.clear()
    findings = dict[Path, Finding]()
    count, homes = 0, {folder} if folder.parent.name == BUILT else set[Path]()
    for checksum_file in sorted(checksum_files(folder)):
        try:
            records = records_in(checksum_file)
        except InputError as error:
            path = checksum_file.with_name(checksum_file.name[1:].removesuffix(ENDING))
            findings[path] = Finding(path, "damaged", error.problem)
            continue
        count += len(records)
        findings |= {path: finding for path, record in records.items() if (finding := _finding(path, record))}
        homes |= {Path(*path.parts[:2]) for path, record in records.items() if record["rule"]}
    for home in sorted(homes):
        try:
            if manifest := manifest_of(home / NAME):
                listed = (Path(BUILT, place) for place in manifest.outputs)
                unrecorded = (path for path in listed if path not in findings and record_of(path) is None)
                findings |= {path: _unrecorded(path) for path in unrecorded}
            else:
                message = "no manifest says which files there must be; copy it from the run, or start the run again"
                findings[home / NAME] = Finding(home / NAME, "gone", message)
        except InputError as error:
            findings[home / NAME] = Finding(home / NAME, "damaged", error.problem)
    return count, list(findings.values())


def _unrecorded(path: Path) -> Finding:
    if path.exists():
        return Finding(path, "unrecorded", "its checksums are gone")
    return Finding(path, "gone", "it was removed, or not made yet")


def _finding(path: Path, written: Record) -> Finding | None:
    temporary = "temporary" in written
    try:
        if not path.exists():
            return None if temporary else Finding(path, "gone", "it was removed")
        check(path)
    except InputError as error:
        # The shards of an HDF5 file are checked under their own names.
        same = str(error.file) == str(path)
        return Finding(path, "damaged", error.problem.removeprefix("damaged: "), temporary) if same else None
    problem = _changed_video(path)
    return Finding(path, "damaged", problem) if problem else None


def build_order(findings: Iterable[Finding]) -> list[list[Path]]:
    """The paths in the order of the chain, neighbours of one folder together: rebuilt in this order, one command each,
    they outdate nothing else, and no job reads one that is still damaged."""

    def place(finding: Finding) -> tuple[int, Path]:
        manifest, name = manifest_of(finding.path), place_of(finding.path)
        listed = list(manifest.outputs) if manifest else []
        return listed.index(name) if name in listed else len(listed), finding.path

    paths = (finding.path for finding in sorted(findings, key=place))
    return [list(together) for _, together in itertools.groupby(paths, key=lambda path: path.parent)]
