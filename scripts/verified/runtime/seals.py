"""Seals: size and digest of what a job wrote, beside each of its files, so that readers first see whether it is intact.

The seal of `scores.jsonl` is `.scores.jsonl.seal`: one JSON object with bytes, SHA-256 and, for forms that have them,
rows (lines, data sets, tensors, members). The seal of a folder lists its files. Every job checks its inputs before it
reads a byte and seals its outputs when all of them are written (see `runtime.job`); so there is one mechanism for all
forms, and a file without a seal is one whose job did not finish. SHA-256 takes half a second per gigabyte. A user's own
files have no seals and need none; whatever is below `results/` must have one, so commands that write there seal as
well, and commands check what they read (see `runtime.intact`).

A seal says what it seals: the path below `results/`, and the rule and wildcards of its job, so that a file that was
copied over another with its seal is not taken for it.
"""

import contextlib
import json
import os
import threading
import time
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path
from typing import Any

from verified.errors import InputError
from verified.io.files import atomic_path, write_text
from verified.io.format_version import require_version
from verified.runtime.announcements import LATENCY
from verified.runtime.content import digest_of, files_of, link_targets, measure
from verified.runtime.made_with import METADATA, is_noted
from verified.runtime.rebuilding import begun_of, mark_of, rebuild_command

VERSION = 1
"""Of the form of seals."""
BUILT = "results"
"""Folder, relative to the working directory, in which every file comes from a job."""
SHARED = Path(BUILT, "statistics")
"""Folder of what no rule names as its output: jobs make it where they need it (see `statistics.kept`)."""
PEOPLE = "served"
"""Folder beside pages in which a server keeps what people decide: no job can build that again, and it has no seal."""
VIDEOS = ".videos.jsonl"
"""Ending of the lists that say which files the jobs of a shard decode, with their SHA-256."""

Seal = dict[str, Any]
"""What a seal says: `sha256`, and `bytes` or `files`; `rows` and their `unit`; `temporary`, `unfinished` where true."""


def seal_of(path: str | os.PathLike[str]) -> Path:
    """Where the seal of a file or folder stands."""
    path = Path(path)
    return path.with_name(f".{path.name}.seal")


_looking = threading.local()


@contextlib.contextmanager
def unchecked() -> Generator[None]:
    """In the block, this thread opens files to seal them, or to hold them against their seals: that is no use of them,
    and is not checked itself (see `runtime.intact`)."""
    before, _looking.now = is_unchecked(), True
    try:
        yield
    finally:
        _looking.now = before


def is_unchecked() -> bool:
    """Whether this thread is in such a block."""
    return getattr(_looking, "now", False)


def seal(
    path: str | os.PathLike[str], temporary: bool = False, rule: str = "", wildcards: Mapping[str, str] | None = None
) -> Seal:
    """Seal a file or folder that is complete; returns the seal. `temporary`: the run will remove it.

    `rule` and `wildcards`: of the job that wrote it; none for what a command wrote.
    """
    path = Path(path)
    with unchecked():
        facts = {"version": VERSION, **measure(path), "path": _place(path) or path.name}
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
    wanted, parts = Path(written["path"]).parts, Path(os.path.abspath(path)).parts
    if len(wanted) > 1 and BUILT in parts[:-1]:
        return parts[-len(wanted) - 1 :] != (BUILT, *wanted)
    return parts[-1] != Path(written["path"]).name


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
        facts = {"version": VERSION, **measure(temporary), "path": _place(path) or path.name, "unfinished": True}
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
        sound = _is_sound(written) and ("earlier" not in written or _is_sound(written["earlier"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    if not sound:
        raise InputError("its seal is damaged", file=path, remedy=rebuild_command([path]))
    require_version(written.get("version"), VERSION, "seal", path, rebuild_command([path]))
    return written


def _is_sound(written: Seal) -> bool:
    listed = isinstance(written["files"], dict) if "files" in written else isinstance(written["sha256"], str)
    texts = [written["path"], written["unit"] if "rows" in written else ""]
    counts = [written.get(name, 0) for name in ("bytes", "rows")]
    return listed and all(isinstance(text, str) for text in texts) and all(isinstance(count, int) for count in counts)


def check(path: str | os.PathLike[str]) -> None:
    """Raise InputError unless `path` holds what was sealed: with what was written, what is there, and what to do."""
    path = Path(path)
    built = path.parts[0] == BUILT and path.parent.name != PEOPLE
    if built:
        _await(seal_of(path))
    written = read_seal(path)
    if not path.exists():
        raise InputError("no such file", file=path, remedy=rebuild_command([path]))
    if written is None:
        if built:
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


def is_job_output(path: Path) -> bool:
    """Whether Snakemake has noted a path, or a folder around it, as an output, in the working directory of its run."""
    parts = Path(os.path.abspath(path)).parts
    for at in (number for number, part in enumerate(parts) if part == BUILT):
        notes = Path(*parts[:at], METADATA)
        if notes.is_dir() and any(is_noted("/".join(parts[at:end]), notes) for end in range(at + 2, len(parts) + 1)):
            return True
    return False


def unsealed_error(path: Path, remedy: str = "") -> InputError:
    """The error of a file that should have a seal and has none. What no job is known to have written, nobody is told to
    remove: it may be somebody's work."""
    if is_job_output(path):
        problem = "it was changed from outside, or what writes it did not end"
        way = f"rebuild it: {rebuild_command([path])}"
    else:
        problem = "no job is known to have written it"
        way = f"if it is your own, move it out of {BUILT}/ and name it there; a run writes again what is gone"
    return InputError(f"has no seal: {problem}", file=path, remedy=remedy or way)


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
    return None if digest_of(folder / name)[0] == written["files"][name] else "it is not as it was written"


def _changed_video(path: Path) -> str | None:
    """Which of the videos that a shard's list describes is not the one that was probed; None if all are.

    A download may have gone on since, in a way that sizes and samples do not tell (see `corpus.video_folder`).
    """
    with path.open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            video = Path(row["path"])
            if not video.is_file():
                return f"the video {video} is gone since it was probed"
            if digest_of(video)[0] != row["sha256"]:
                return f"the video {video} has changed since it was probed"
    return None


def _difference(path: Path, written: Seal) -> str | None:
    """What differs from the seal, for a person; None if nothing does."""
    if "files" in written:
        return _difference_of_folder(path, written["files"]) if path.is_dir() else "a folder was written, this is none"
    if not path.is_file():
        return "a file was written, this is none"
    if path.stat().st_size == written.get("bytes"):
        digest = digest_of(path)[0]
        if digest == written["sha256"]:
            return None
        digests = f"SHA-256 {digest[:12]}… instead of {written['sha256'][:12]}…"
        return f"its {written['bytes']:,} bytes are not those that were written ({digests})"
    return f"{_amount(measure(path))} where {_amount(written)} were written"


def _amount(facts: Seal) -> str:
    rows = f"{facts['rows']:,} {facts['unit']}, " if facts.get("rows") is not None else ""
    return f"{rows}{facts.get('bytes', 0):,} bytes"


def _difference_of_folder(path: Path, written: Seal) -> str | None:
    there = files_of(path)
    for kind, names in (("lacks", written.keys() - there.keys()), ("has, unwritten,", there.keys() - written.keys())):
        if names:
            return f"{kind} {', '.join(sorted(names)[:3])}" + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    changed = sorted(name for name in written if there[name] != written[name])
    return f"not as written: {', '.join(changed[:3])}" if changed else None


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
