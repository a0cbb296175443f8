"""Seals: size and digest of what a job wrote, beside each of its files, so that readers first see whether it is intact.

The seal of `scores.jsonl` is `.scores.jsonl.seal`: one JSON object with bytes, SHA-256 and, for forms that have them,
rows (lines, data sets, tensors, members). The seal of a folder lists its files. Every job checks its inputs before it
reads a byte and seals its outputs when all of them are written (see `runtime.job`); so there is one mechanism for all
forms, and a file without a seal is one whose job did not finish. SHA-256 takes half a second per gigabyte. A user's own
files have no seals and need none; whatever is below `results/` must have one, so commands that write there seal as
well, and commands check what they read (see `runtime.intact`).

A seal says what it seals: the path below `results/`, and the rule and wildcards of its job, so that a file that was
copied over another with its seal is not taken for it. Seals of before that (without `path`) hold for the bytes alone:
what they seal is what was written, and `verified verify --adopt` puts their paths in.
"""

import contextlib
import hashlib
import json
import os
import shlex
import struct
import tarfile
import time
import zipfile
from collections.abc import Callable, Generator, Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from verified.errors import InputError
from verified.io.files import atomic_path, write_text
from verified.io.format_version import require_version
from verified.runtime.snakemake_types import Rule

VERSION = 1
"""Of the form of seals; where none is stated, it is the first."""
BUILT = "results"
"""Folder, relative to the working directory, in which every file comes from a job."""
SHARED = Path(BUILT, "statistics")
"""Folder of what no rule names as its output: jobs make it where they need it (see `statistics.kept`)."""
CONFIGURATIONS = "VERIFIED_CONFIGFILES"
"""Environment variable: the configuration files of the run, for commands that messages give."""
TEMPORARY = "VERIFIED_TEMPORARY"
"""Environment variable: JSON, the positions of temporary outputs by rule."""
LATENCY = "VERIFIED_LATENCY_WAIT"
"""Environment variable: Snakemake's --latency-wait, the seconds after which a file that was written must be seen."""
PATIENCE = "10"
"""Seconds where the command line does not say."""
TIMESTAMP = ".snakemake_timestamp"
"""A file that Snakemake puts into folders that a job wrote."""
VIDEOS = ".videos.jsonl"
"""Ending of the lists that say which files the jobs of a shard decode, with their SHA-256."""
CHUNK = 1 << 20

Seal = dict[str, Any]
"""What a seal says: `sha256`, and `bytes` or `files`; `rows` and their `unit`; `temporary`, `unfinished` where true."""


def seal_of(path: str | os.PathLike[str]) -> Path:
    """Where the seal of a file or folder stands."""
    path = Path(path)
    return path.with_name(f".{path.name}.seal")


def mark_of(path: str | os.PathLike[str]) -> Path:
    """Where it is noted that a damaged file was removed and is to be built again."""
    path = Path(path)
    return path.with_name(f".{path.name}.rebuild")


def begun_of(path: str | os.PathLike[str]) -> Path:
    """Where it is noted that a job began to build a sealed file again; it is gone when the file is sealed."""
    path = Path(path)
    return path.with_name(f".{path.name}.begun")


def seal(
    path: str | os.PathLike[str], temporary: bool = False, rule: str = "", wildcards: Mapping[str, str] | None = None
) -> Seal:
    """Seal a file or folder that is complete; returns the seal. `temporary`: the run will remove it.

    `rule` and `wildcards`: of the job that wrote it; none for what a command wrote.
    """
    path = Path(path)
    facts = {"version": VERSION, **_measure(path), "path": _place(path) or path.name}
    facts |= {"rule": rule, "wildcards": dict(wildcards or {})} if rule else {}
    facts |= {"temporary": True} if temporary else {}
    write_text(seal_of(path), json.dumps(facts) + "\n")
    for mark in (mark_of(path), begun_of(path)):
        mark.unlink(missing_ok=True)
    return facts


def _place(path: Path) -> str | None:
    """The path below `results/`: that of the working directory, else the innermost; None for a path below none."""
    here, parts = (*Path.cwd().parts, BUILT), Path(os.path.abspath(path)).parts
    if parts[: len(here)] == here:
        return "/".join(parts[len(here) :])
    return "/".join(parts[len(parts) - parts[::-1].index(BUILT) :]) if BUILT in parts[:-1] else None


def as_in_run(path: Path) -> Path:
    """A path below the `results/` of the working directory as rules write it, relative; any other as it is."""
    here, parts = (*Path.cwd().parts, BUILT), Path(os.path.abspath(path)).parts
    return Path(*parts[len(here) - 1 :]) if parts[: len(here)] == here else path


def _elsewhere(path: Path, written: Seal) -> bool:
    """Whether the seal beside `path` is that of another file. Outside of any `results/`, only names are compared."""
    sealed_path = written.get("path")
    if sealed_path is None:
        return False
    wanted, parts = Path(sealed_path).parts, Path(os.path.abspath(path)).parts
    if len(wanted) > 1 and BUILT in parts[:-1]:
        return parts[-len(wanted) - 1 :] != (BUILT, *wanted)
    return parts[-1] != Path(sealed_path).name


def seal_built(path: str | os.PathLike[str]) -> None:
    """Seal what a command of a user wrote, if it stands below a `results/`, where readers ask for a seal."""
    if BUILT in Path(path).resolve().parts:
        seal(path)


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Generator[Path]:
    """Yield a temporary path; what the block writes there takes the place of `path`, and is sealed.

    Killed at any point, it leaves a seal that agrees with what is there: while the file is exchanged, the seal holds
    both, and is called unfinished.
    """
    path = Path(path)
    written = (read_seal(path) if path.is_file() else None) or {}
    both = (written, written.get("earlier", {}))
    earlier = next((facts for facts in both if facts and _difference(path, facts) is None), None)
    with atomic_path(path) as temporary:
        yield temporary
        facts = {"version": VERSION, **_measure(temporary), "path": _place(path) or path.name, "unfinished": True}
        facts |= {"earlier": {key: earlier[key] for key in earlier if key != "earlier"}} if earlier else {}
        write_text(seal_of(path), json.dumps(facts) + "\n")
    seal(path)


def finished(path: str | os.PathLike[str]) -> bool:
    """Whether `path` is there, and what wrote it came to its end."""
    try:
        written = read_seal(path)
    except InputError:
        return False
    return Path(path).exists() and written is not None and "unfinished" not in written


def read_seal(path: str | os.PathLike[str]) -> Seal | None:
    """The seal of a file or folder; None where there is none.

    Raises InputError if the seal itself is damaged, or of another version.
    """
    seal_file, sound = seal_of(path), False
    written: Seal = {}
    try:
        written = json.loads(seal_file.read_text(encoding="utf-8"))
        content = written["files"] if "files" in written else written["sha256"]
        counts: list[object] = [written.get(name, 0) for name in ("bytes", "rows")]
        sound = isinstance(content, str | dict) and isinstance(written.get("path", ""), str)
        sound = sound and all(isinstance(count, int) for count in counts)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    if not sound:
        raise InputError("its seal is damaged", file=path, remedy=rebuild_command([path]))
    if (version := written.get("version", VERSION)) != VERSION:
        require_version(version, VERSION, "seal", path, rebuild_command([path]))
    return written


def check(path: str | os.PathLike[str]) -> None:
    """Raise InputError unless `path` holds what was sealed: with what was written, what is there, and what to do."""
    path = Path(path)
    if path.parts[0] == BUILT:
        _await(seal_of(path))
    written = read_seal(path)
    if not path.exists():
        raise InputError("no such file", file=path, remedy=rebuild_command([path]))
    if written is None:
        if path.parts[0] == BUILT:
            raise unsealed_error(path)
        return
    if "unfinished" in written:
        raise InputError("unfinished: what writes it was killed", file=path, remedy="start that again")
    hold(path, written)
    if path.name.endswith(VIDEOS) and (problem := _changed_video(path)):
        raise InputError(problem, file=path, remedy=f"look at the videos again: {rebuild_command([path])}")
    for target in link_targets(path):
        if seal_of(target).exists() or target.parts[0] == BUILT:
            check(target)


def unsealed_error(path: Path, remedy: str = "") -> InputError:
    """The error of a file that should have a seal and has none."""
    return InputError(
        "has no seal: it was changed from outside, or what writes it did not end",
        file=path,
        remedy=remedy
        or f"rebuild it: {rebuild_command([path])}; after an update of the workflow, once: verified verify"
        f" --adopt; keep files of your own outside {BUILT}/",
    )


def hold(path: Path, written: Seal, member: str = "", remedy: str = "") -> None:
    """Raise InputError unless `path` is what its seal says, and the seal its own.

    `member`: of a folder, the one file to look at, by its path there. `remedy`: in place of the command that rebuilds
    it. A file whose exchange was broken off may be either of the two that the seal holds (see `replacing`).
    """
    whose = f" by {written['rule']}" if written.get("rule") else ""
    if _elsewhere(path, written):
        raise InputError(
            f"damaged: its seal is that of {written['path']}, written{whose}",
            file=path,
            remedy=remedy
            or f"rebuild it: {rebuild_command([path])}; keep copies under their path, or outside any {BUILT}/",
        )
    problem = _difference_of_member(path, written, member) if member else _difference(path, written)
    if problem and not ("earlier" in written and _difference(path, written["earlier"]) is None):
        raise InputError(
            f"damaged: {problem}",
            file=path / member,
            remedy=remedy or f"rebuild it: {rebuild_command([path])}",
        )


def _difference_of_member(folder: Path, written: Seal, name: str) -> str | None:
    """What differs from the seal of its folder in the one file that is looked at."""
    if name not in written.get("files", {}):
        return "it is not among the files that were written there"
    return None if _digest(folder / name)[0] == written["files"][name] else "it is not as it was written"


def _changed_video(path: Path) -> str | None:
    """Which of the videos that a shard's list describes is not the one that was probed; None if all are.

    A download may have gone on since, in a way that sizes and samples do not tell (see `corpus.video_folder`).
    """
    with path.open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            video = Path(row["path"])
            if not video.is_file():
                return f"the video {video} is gone since it was probed"
            if _digest(video)[0] != row["sha256"]:
                return f"the video {video} has changed since it was probed"
    return None


def _difference(path: Path, written: Seal) -> str | None:
    """What differs from the seal, for a person; None if nothing does."""
    if "files" in written:
        return _difference_of_folder(path, written["files"]) if path.is_dir() else "a folder was written, this is none"
    if not path.is_file():
        return "a file was written, this is none"
    if path.stat().st_size == written.get("bytes"):
        digest = _digest(path)[0]
        if digest == written["sha256"]:
            return None
        digests = f"SHA-256 {digest[:12]}… instead of {written['sha256'][:12]}…"
        return f"its {written['bytes']:,} bytes are not those that were written ({digests})"
    return f"{_amount(_measure(path))} where {_amount(written)} were written"


def _difference_of_folder(path: Path, written: Seal) -> str | None:
    there = _files_of(path)
    for kind, names in (("lacks", written.keys() - there.keys()), ("has, unwritten,", there.keys() - written.keys())):
        if names:
            return f"{kind} {', '.join(sorted(names)[:3])}" + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    changed = sorted(name for name in written if there[name] != written[name])
    return f"not as written: {', '.join(changed[:3])}" if changed else None


def _amount(facts: Seal) -> str:
    rows = f"{facts['rows']:,} {facts['unit']}, " if facts.get("rows") is not None else ""
    return f"{rows}{facts.get('bytes', 0):,} bytes"


def _measure(path: Path) -> Seal:
    if path.is_dir():
        return {"files": (files := _files_of(path)), "sha256": hashlib.sha256(json.dumps(files).encode()).hexdigest()}
    digest, lines = _digest(path)
    facts = {"bytes": path.stat().st_size, "sha256": digest}
    if path.suffix == ".jsonl":
        return {**facts, "rows": lines, "unit": "lines"}
    if path.suffix in _COUNTED:
        count, unit = _COUNTED[path.suffix]
        with contextlib.suppress(Exception):  # a damaged file has a size, if no number of rows
            return {**facts, "rows": count(path), "unit": unit}
    return facts


def _files_of(folder: Path) -> dict[str, str]:
    """SHA-256 of each file below a folder, by its path there."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != TIMESTAMP)
    return {path.relative_to(folder).as_posix(): _digest(path)[0] for path in files}


def _digest(path: Path) -> tuple[str, int]:
    """SHA-256 and the number of line ends, in one pass."""
    digest, lines, buffer = hashlib.sha256(), 0, bytearray(CHUNK)
    view, counts = memoryview(buffer), path.suffix == ".jsonl"
    with path.open("rb", buffering=0) as file:
        while size := file.readinto(buffer):
            digest.update(view[:size])
            lines += buffer.count(b"\n", 0, size) if counts else 0
    return digest.hexdigest(), lines


def _count_tensors(path: Path) -> int:
    with path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        return len(json.loads(file.read(min(length, 100 * CHUNK))).keys() - {"__metadata__"})


def _count_members(path: Path) -> int:
    if path.suffix == ".tar":
        with tarfile.open(path) as archive:
            return len(archive.getnames())
    with zipfile.ZipFile(path) as archive:
        return len(archive.namelist())


def _count_data_sets(path: Path) -> int:
    import h5py  # pyright: ignore[reportMissingTypeStubs] (it has none)

    with h5py.File(path, "r", locking=False) as file:
        return len(file)


def _count_array(path: Path) -> int:
    import numpy as np

    return len(np.load(path, mmap_mode="r", allow_pickle=False))


_COUNTED = {
    ".h5": (_count_data_sets, "data sets"),
    ".npy": (_count_array, "rows"),
    ".npz": (_count_members, "arrays"),
    ".safetensors": (_count_tensors, "tensors"),
    ".tar": (_count_members, "members"),
}


def link_targets(path: Path) -> list[Path]:
    """Files into which the links of an HDF5 file lead, each once; none for other files."""
    if path.suffix != ".h5":
        return []
    import h5py  # pyright: ignore[reportMissingTypeStubs] (it has none)

    with h5py.File(path, "r", locking=False) as file:
        links: list[object] = [
            file.get(key, getlink=True)  # pyright: ignore[reportUnknownMemberType] (has no types)
            for key in map(str, file)
        ]
        names = dict.fromkeys(link.filename for link in links if isinstance(link, h5py.ExternalLink))
    return [Path(os.path.normpath(path.parent / name)) for name in names]


@contextlib.contextmanager
def sealed(
    inputs: Iterable[str],
    outputs: Iterable[str],
    temporary: Iterable[str] = (),
    rule: str = "",
    wildcards: Mapping[str, str] | None = None,
) -> Generator[None]:
    """Check `inputs` first; seal `outputs`, of a job of `rule`, when the block has ended without an error."""
    outputs, temporary = list(outputs), set(temporary)
    for path in inputs:
        check(path)
    for path in outputs:
        if seal_of(path).exists() and path not in temporary:
            begun_of(path).touch()
        seal_of(path).unlink(missing_ok=True)
    yield
    for path in outputs:
        if _await(Path(path)):  # else Snakemake says so
            seal(path, path in temporary, rule, wildcards)


def _await(path: Path) -> bool:
    """Whether `path` is there, after such time as the run grants to files on network file systems."""
    end = time.monotonic() + float(os.environ.get(LATENCY, 0))
    while not path.exists():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def announce(rules: Iterable[Rule], configurations: Iterable[str | os.PathLike[str]], arguments: list[str]) -> None:
    """Tell the jobs of this Snakemake which outputs are temporary, its configuration files and its --latency-wait.

    `arguments`: Snakemake's own. A job on a node of a cluster is run by a Snakemake that is given --latency-wait there.
    """
    temporary = {
        rule.name: indices
        for rule in rules
        if (indices := [index for index, path in enumerate(rule.output) if getattr(path, "flags", {}).get("temp")])
    }
    os.environ[TEMPORARY] = json.dumps(temporary)
    os.environ[LATENCY] = dict(pairwise(arguments)).get("--latency-wait", PATIENCE)
    os.environ[CONFIGURATIONS] = shlex.join(map(str, configurations))


def temporary_outputs(rule: str, outputs: list[str]) -> list[str]:
    """Those of a job's outputs that the run will remove."""
    return [outputs[index] for index in json.loads(os.environ.get(TEMPORARY, "{}")).get(rule, ())]


def rebuild_command(paths: Iterable[str | os.PathLike[str]], configurations: str | None = None) -> str:
    """The commands that build these files again, and nothing else that is sound.

    `configurations`: configuration files, quoted for a shell; None: those of the run that this job belongs to.
    """
    names = list(map(str, paths))
    there = [name for name in names if os.path.lexists(name)]
    if configurations is None:
        configurations = os.environ.get(CONFIGURATIONS, "")
    options = f" --configfile {configurations}" if configurations else ""
    build = f"snakemake --cores all {shlex.join(names)}{options}"
    return f"rm -r {shlex.join(there)} && {build}" if there else build


def marked_files(folder: str | os.PathLike[str]) -> list[str]:
    """Files below `folder` that a healing removed and that are still to be built again."""
    return _absent(folder, ".rebuild")


def files_to_rebuild(workflow: Any, folder: str) -> Callable[[object], list[str]]:
    """An input function of Snakemake's `workflow`: what a healing removed below `folder`, no later run has built again,
    and a rule still makes."""

    def files(wildcards: object) -> list[str]:
        return [path for path in marked_files(folder) if any(rule.is_producer(path) for rule in workflow.rules)]

    return files


def begun_again(folder: str | os.PathLike[str]) -> list[str]:
    """Files below `folder` that a job began to build again and did not: the job failed, and they are gone."""
    return _absent(folder, ".begun")


def _absent(folder: str | os.PathLike[str], ending: str) -> list[str]:
    paths: list[str] = []
    for base, _, names in os.walk(folder):
        marks = (name for name in names if name.startswith(".") and name.endswith(ending))
        paths += [os.path.join(base, name[1:].removesuffix(ending)) for name in marks]
    return sorted(path for path in paths if not os.path.exists(path))


def finish_begun(workflow: Any, folder: str | os.PathLike[str]) -> None:
    """Have this Snakemake build what failed jobs left undone, wherever it is behind a target, and what depends on it.

    Snakemake removes what a failed job had written. A file that is gone and behind others that are there counts for it
    as one that nobody needs, so it would say that there is nothing to be done, and keep what was made of the earlier
    state. Unlike `--forcerun`, this makes no targets of the files.
    """
    if not workflow.is_main_process:
        return
    build: Callable[[], None] = workflow._build_dag

    def build_with_begun() -> None:
        workflow.dag.forcefiles.update(begun_again(folder))
        build()

    workflow._build_dag = build_with_begun
