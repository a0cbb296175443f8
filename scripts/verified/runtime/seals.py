"""Seals: a file beside a job's outputs with the checksums of its outputs and inputs, so that readers detect damage.

The seal of a job whose first output is `scores.jsonl` is `.scores.jsonl.seal`; outputs in another folder have one
there. It is a JSON object with the rule, its wildcards, a digest of each param, the SHA-256 of each input, and of each
file bytes, SHA-256 and, for forms that have them, rows (lines, data sets, tensors, members). Every job checks its
inputs before it reads a byte and seals its outputs when all of them are written (see `runtime.job`); so there is one
mechanism for all forms, and a file without a seal belongs to a job that did not finish. SHA-256 takes half a second per
gigabyte. A user's own files need no seals; every file below `results/` must have one, so commands that write there seal
as well, and commands check the files they read (see `runtime.intact`).

A file is identified by its path below `results/`, so a copy over another file, with its seal, is refused. A file made
from other versions of its inputs than the present ones is refused as well.
"""

import contextlib
import functools
import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from verified.errors import InputError
from verified.io.files import atomic_path, write_text
from verified.io.format_version import require_version
from verified.runtime.announcements import LATENCY, rebuild_command
from verified.runtime.content import digest_of, files_of, link_targets, measure

VERSION = 2
"""Version of the form of seals."""
BUILT = "results"
"""Folder, relative to the working directory, in which every file comes from a job."""
SHARED = Path(BUILT, "statistics")
"""Folder of files that no rule declares as output: jobs make them on demand (see `statistics.kept`)."""
PEOPLE = "served"
"""Folder beside pages in which a server keeps people's decisions: it is unsealed, as no job can rebuild it."""
VIDEOS = ".videos.jsonl"
"""Ending of the lists of the videos that the jobs of a shard decode, with their SHA-256."""

ENDING = ".seal"

Seal = dict[str, Any]
"""The record of one file: `path` (below `results/`), `sha256`, and `bytes` or `files`; `rows` and their `unit`;
`temporary`, `unfinished` if true; and of its job `rule`, `wildcards`, `params` and `made_of`."""


def seal_of(path: str | os.PathLike[str]) -> Path:
    """Path of the seal of a file or folder that was sealed alone, or is its job's first output."""
    path = Path(path)
    return path.with_name(f".{path.name}{ENDING}")


_looking = threading.local()


@contextlib.contextmanager
def unchecked() -> Generator[None]:
    """Inside the block, this thread may open files without a check of their seals (see `runtime.intact`): it opens them
    to seal or check them, not to use them."""
    before, _looking.now = is_unchecked(), True
    try:
        yield
    finally:
        _looking.now = before


def is_unchecked() -> bool:
    """Whether this thread is inside an `unchecked` block."""
    return getattr(_looking, "now", False)


def seal(path: str | os.PathLike[str], **job: Any) -> None:
    """Seal a complete file or folder; `job` as for `seal_all`."""
    seal_all([path], **job)


def seal_all(
    paths: Iterable[str | os.PathLike[str]],
    temporary: Iterable[str] = (),
    rule: str = "",
    wildcards: Mapping[str, str] | None = None,
    params: Iterable[object] = (),
    made_of: Mapping[str, str] | None = None,
) -> None:
    """Seal the outputs of one job of `rule`, or of a command; the run will remove those in `temporary`."""
    folders: dict[Path, dict[str, Seal]] = {}
    for path in map(Path, paths):
        with unchecked():
            facts: Seal = measure(path) | ({"temporary": True} if str(path) in temporary else {})
        folders.setdefault(path.parent, {})[_place(path) or path.name] = facts
    job = {"rule": rule, "wildcards": dict(wildcards or {}), "made_of": dict(made_of or {})}
    for folder, files in folders.items():
        _write(folder, files, **job, params=sorted(map(digest_of_param, params)))


def _write(folder: Path, files: dict[str, Seal], **job: Any) -> None:
    first = folder / Path(next(iter(files))).name
    facts: Seal = {"version": VERSION, "rule": "", "wildcards": {}, "params": [], "made_of": {}, **job, "files": files}
    write_text(seal_of(first), json.dumps(facts) + "\n")


def digest_of_param(value: object) -> str:
    """SHA-256 of a param of a job."""
    return hashlib.sha256(repr(value).encode()).hexdigest()


def made_with(path: str | os.PathLike[str], value: object) -> bool:
    """Whether `value` was among the params of the job that wrote `path`; True for an unsealed path."""
    written = read_seal(path)
    return written is None or digest_of_param(value) in written["params"]


def _place(path: Path) -> str | None:
    """The path below `results/`: that of the working directory, else the innermost; None for a path below none."""
    here, parts = (*Path.cwd().parts, BUILT), Path(os.path.abspath(path)).parts
    if parts[: len(here)] == here:
        return "/".join(parts[len(here) :])
    return "/".join(parts[len(parts) - parts[::-1].index(BUILT) :]) if BUILT in parts[:-1] else None


def as_in_run(path: Path) -> Path:
    """A path below the `results/` of the working directory as rules write it, relative; other paths unchanged."""
    here, parts = (*Path.cwd().parts, BUILT), Path(os.path.abspath(path)).parts
    return Path(*parts[len(here) - 1 :]) if parts[: len(here)] == here else path


def _elsewhere(path: Path, written: Seal) -> bool:
    """Whether the seal beside `path` belongs to another file. Outside of any `results/`, only names are compared."""
    wanted, parts = Path(written["path"]).parts, Path(os.path.abspath(path)).parts
    if len(wanted) > 1 and BUILT in parts[:-1]:
        return parts[-len(wanted) - 1 :] != (BUILT, *wanted)
    return parts[-1] != Path(written["path"]).name


def seal_built(path: str | os.PathLike[str]) -> None:
    """Seal the output of a user's command if it is below a `results/`, where readers require a seal."""
    if BUILT in Path(path).resolve().parts:
        seal(path)


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Generator[Path]:
    """Yield a temporary path; its content then replaces `path`, and is sealed.

    A kill at any point leaves a seal that matches the file: during the replacement, the seal holds both versions and
    the mark `unfinished`.
    """
    path = Path(path)
    written = (read_seal(path) if path.is_file() else None) or {}
    both = (written, written.get("earlier", {}))
    earlier = next((facts for facts in both if facts and _difference(path, facts) is None), None)
    with atomic_path(path) as temporary:
        yield temporary
        facts = {**measure(temporary), "unfinished": True}
        facts |= {"earlier": {key: earlier[key] for key in earlier if key != "earlier"}} if earlier else {}
        _write(path.parent, {_place(path) or path.name: facts})
    seal(path)


def finished(path: str | os.PathLike[str]) -> bool:
    """Whether `path` exists and its writer finished."""
    try:
        written = read_seal(path)
    except InputError:
        return False
    return Path(path).exists() and written is not None and "unfinished" not in written


def read_seal(path: str | os.PathLike[str]) -> Seal | None:
    """The sealed record of a file or folder, or None.

    Raises InputError if the seal itself is damaged, or of another version.
    """
    path = Path(path)
    own, damage = seal_of(path), None
    with contextlib.suppress(OSError):
        for seal_file in _seals_for(path):
            try:
                written = _read(seal_file)
            except FileNotFoundError:
                continue
            except InputError as error:
                if seal_file == own:
                    raise
                damage = error
                continue
            for place, facts in written["files"].items():
                if place.rpartition("/")[2] == path.name:
                    return {**{key: written[key] for key in written if key != "files"}, **facts, "path": place}
    if damage:
        raise damage
    return None


def _seals_for(path: Path) -> Iterator[Path]:
    """The path's own seal, then the other seals of its folder, the newest first."""
    yield seal_of(path)
    yield from sorted(path.parent.glob(f".*{ENDING}"), key=lambda seal_file: -seal_file.stat().st_mtime)


_known: dict[str, tuple[tuple[int, ...], Seal]] = {}


def _read(seal_file: Path) -> Seal:
    """A seal. Raises FileNotFoundError, and InputError for one that is damaged or of another version."""
    found = seal_file.stat()
    state = found.st_ino, found.st_size, found.st_mtime_ns
    key = os.path.abspath(seal_file)
    if _known.get(key, (None,))[0] != state:
        path = seal_file.with_name(seal_file.name[1:].removesuffix(ENDING))
        try:
            written = json.loads(seal_file.read_text(encoding="utf-8"))
            version = written.get("version")
            sound = version != VERSION or _is_sound(written)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            version, written, sound = VERSION, {}, False
        if not sound:
            raise InputError("its seal is damaged", file=path, remedy=rebuild_command([path]))
        require_version(version, VERSION, "seal", path, rebuild_command([path]))
        _known[key] = state, written
    return _known[key][1]


def _is_sound(written: Seal) -> bool:
    job = isinstance(written["rule"], str) and all(isinstance(digest, str) for digest in written["made_of"].values())
    earlier = [facts["earlier"] for facts in written["files"].values() if "earlier" in facts]
    everything = [*written["files"].values(), *earlier]
    return job and isinstance(written["params"], list) and bool(everything) and all(map(_are_facts, everything))


def _are_facts(facts: Seal) -> bool:
    listed = isinstance(facts.get("files", {}), dict) and isinstance(facts["sha256"], str)
    counts = [facts.get(name, 0) for name in ("bytes", "rows")]
    return listed and ("rows" not in facts or isinstance(facts["unit"], str)) and all(type(n) is int for n in counts)


def seals_below(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """The seals below a folder."""
    for base, _, names in os.walk(folder):
        yield from (Path(base, name) for name in sorted(names) if name.startswith(".") and name.endswith(ENDING))


def sealed_below(seal_file: Path) -> list[Path]:
    """The files and folders of a seal, beside it. Raises InputError for a damaged one."""
    return [seal_file.with_name(place.rpartition("/")[2]) for place in _read(seal_file)["files"]]


def unsealed_inputs(folder: str | os.PathLike[str]) -> set[str]:
    """Paths below `results/` that jobs with outputs below `folder` have read, and that have no seal there any more.

    Either a job failed while it rebuilt them, or somebody has removed the seal.
    """
    read, sealed = set[str](), set[str]()
    for seal_file in seals_below(folder):
        with contextlib.suppress(InputError, FileNotFoundError):
            written = _read(seal_file)
            read |= written["made_of"].keys()
            sealed |= written["files"].keys()
    return read - sealed


def check(path: str | os.PathLike[str]) -> None:
    """Raise InputError unless `path` matches its seal; the message names both states and the remedy."""
    path = Path(path)
    built = path.parts[0] == BUILT and path.parent.name != PEOPLE
    if built:
        _await(lambda: read_seal(path) is not None)
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
        if target.parts[0] == BUILT or read_seal(target) is not None:
            check(target)


def is_job_output(path: Path) -> bool:
    """Whether a job of the run has read a path, or a folder around it, so that another job must have written it."""
    place = _place(path)
    if place is None:
        return False
    home = Path(os.path.abspath(path)).parents[place.count("/")] / place.partition("/")[0]
    unsealed = _unsealed_inputs(home)
    return any("/".join(place.split("/")[:end]) in unsealed for end in range(2, place.count("/") + 2))


@functools.cache
def _unsealed_inputs(home: Path) -> set[str]:
    return unsealed_inputs(home)


def unsealed_error(path: Path, remedy: str = "") -> InputError:
    """The error for a missing seal. The remedy suggests removal only of files known to be a job's output: others may be
    the user's work."""
    if is_job_output(path):
        problem = "it was changed from outside, or what writes it did not end"
        way = f"rebuild it: {rebuild_command([path])}"
    else:
        problem = "no job is known to have written it"
        way = f"if it is your own, move it out of {BUILT}/ and name it there; a run writes again what is gone"
    return InputError(f"has no seal: {problem}", file=path, remedy=remedy or way)


def hold(path: Path, written: Seal, member: str = "", remedy: str = "") -> None:
    """Raise InputError unless `path` matches its seal and the seal belongs to it.

    `member`: the path of the one file to check in a folder. `remedy` replaces the command that rebuilds it. After an
    interrupted replacement, either version in the seal is accepted (see `replacing`).
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
    own: str = written["path"]
    made_of: dict[str, str] = written["made_of"]
    for place, digest in made_of.items():
        source = path.parents[own.count("/")] / place
        with contextlib.suppress(InputError):  # damage of that file is reported elsewhere
            now = read_seal(source)
            if now and now["sha256"] != digest and source.exists():
                break
    else:
        return
    raise InputError(
        f"damaged: it was made of another {source.name} than the one that is there ({source})",
        file=path,
        remedy=remedy or f"rebuild it: {rebuild_command([path])}",
    )


def _difference_of_member(folder: Path, written: Seal, name: str) -> str | None:
    """The difference of one file of a folder from the folder's seal, or None."""
    if name not in written.get("files", {}):
        return "it is not among the files that were written there"
    return None if digest_of(folder / name)[0] == written["files"][name] else "it is not as it was written"


def _changed_video(path: Path) -> str | None:
    """The first video of a shard's list that changed since it was probed, in words; None if all are unchanged.

    A download may have continued since, which sizes and samples cannot show (see `corpus.video_folder`).
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
    """The difference from the seal in words, or None."""
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
    params: Iterable[object] = (),
) -> Generator[None]:
    """Check `inputs` first; seal `outputs`, of a job of `rule`, if the block ends without an error."""
    outputs, made_of = list(outputs), dict[str, str]()
    for path in inputs:
        check(path)
        written, place = read_seal(path), _place(Path(path))
        if written and place and "temporary" not in written:
            made_of[place] = written["sha256"]
    files = set(map(Path, outputs))
    for seal_file in [file for folder in {path.parent for path in files} for file in folder.glob(f".*{ENDING}")]:
        with contextlib.suppress(InputError, FileNotFoundError):
            if not files.isdisjoint(sealed_below(seal_file)):
                seal_file.unlink(missing_ok=True)
    for path in files:
        seal_of(path).unlink(missing_ok=True)
    yield
    there = [path for path in outputs if _await(Path(path).exists)]  # Snakemake reports missing outputs
    if there:
        seal_all(there, temporary, rule, wildcards, params, made_of)


def _await(arrived: Callable[[], bool]) -> bool:
    """Whether a file appears within the run's --latency-wait, for network file systems."""
    end = time.monotonic() + float(os.environ.get(LATENCY, 0))
    while not arrived():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True
