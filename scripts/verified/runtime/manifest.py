"""The manifest of a run: its configuration files, and each output with the SHA-256 that its job recorded last.

Checksums beside an output can be put back with it, so they alone do not tell an older state from the last one.
Snakemake's main process writes `results/NAME/run.manifest` when jobs are about to run, without digests of the outputs
that they will make, and with them when all have ended. So it says which outputs must have checksums, which state of
each is valid, and whether a run is at work. It is not hidden: a copy without hidden files still says which checksums
are missing.
"""

import os
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from verified.errors import InputError
from verified.io.files import read_record, require_version, write_record
from verified.runtime.announcements import CONFIGURATIONS
from verified.runtime.lock_file import exclusive, has_ended, owner
from verified.runtime.project import PROJECT

VERSION = 1
"""Version of the form of these files."""
NAME = "run.manifest"
BUILT = "results"
"""Folder, relative to the working directory, in which every file comes from a job."""


class Manifest(NamedTuple):
    """The content of a manifest."""

    configurations: str
    """Configuration files of the last run, quoted for a shell."""
    settings: str
    """Digest of its configuration."""
    process: str
    """The run at work (see `lock_file.owner`), or empty."""
    outputs: dict[str, str]
    """SHA-256 by path below `results/`; empty until the run that makes it has ended."""

    def run_at_work(self) -> str:
        """The run at work in words; empty if none is."""
        if not self.process or has_ended(self.process):
            return ""
        host, _, pid, _ = self.process.rsplit("-", 3)
        return f"a run (process {pid} on {host})"


def place_of(path: str | os.PathLike[str]) -> str | None:
    """The path below `results/`: that of the working directory, else the innermost; None for a path below none."""
    here, parts = (*Path.cwd().parts, BUILT), Path(os.path.abspath(path)).parts
    if parts[: len(here)] == here:
        return "/".join(parts[len(here) :])
    return "/".join(parts[len(parts) - parts[::-1].index(BUILT) :]) if BUILT in parts[:-1] else None


def results_of(path: str | os.PathLike[str]) -> Path | None:
    """The folder `results/` around a path, as `place_of` takes it."""
    place = place_of(path)
    return Path(os.path.abspath(path)).parents[place.count("/")] if place else None


_known: dict[Path, tuple[tuple[int, ...], Manifest]] = {}


def manifest_of(path: str | os.PathLike[str]) -> Manifest | None:
    """The manifest of the run that has a path; None without one. Raises InputError for a damaged one."""
    if (place := place_of(path)) is None or (results := results_of(path)) is None:
        return None
    file = results / place.partition("/")[0] / NAME
    try:
        facts = file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    state = facts.st_ino, facts.st_size, facts.st_mtime_ns
    if _known.get(file, (None,))[0] != state:
        remedy = "start the run again, which writes it"
        try:
            version, *content = read_record(file)
            require_version(version, VERSION, "manifest", file, remedy)
            _known[file] = state, Manifest(*content)
        except (OSError, ValueError, TypeError):
            raise InputError("the manifest of the run is damaged", file=file, remedy=remedy) from None
    return _known[file][1]


def write_manifest(home: str, settings: str, outputs: Mapping[str, str | None], ended: bool) -> None:
    """Update the manifest of the run in `home` when it starts, or has `ended`.

    `outputs`: digests by path below `results/`; None keeps the one that is known. Outputs of other targets stay listed
    until the configuration changes.
    """
    file = Path(home, NAME)
    with exclusive(file.with_name(f".{NAME}.lock")):
        try:
            before = manifest_of(file)
        except InputError:
            before = None
        earlier = before.outputs if before else {}
        listed = {place: earlier.get(place, "") if digest is None else digest for place, digest in outputs.items()}
        if before and before.settings == settings:
            listed |= {place: digest for place, digest in earlier.items() if place not in listed}
        manifest = Manifest(os.environ.get(CONFIGURATIONS, ""), settings, "" if ended else owner(), listed)
        if manifest != before:
            write_record(file, [VERSION, *manifest])


def rebuild_command(paths: Iterable[str | os.PathLike[str]], configurations: str | None = None) -> str:
    """The command that rebuilds these files of a run, and no intact file.

    Snakemake removes the earlier files itself, once it is about to make them again. `configurations`: configuration
    files, quoted for a shell; None: those of the run that this job belongs to, or that its manifest names.
    """
    names = list(map(str, paths))
    results = results_of(names[0])
    elsewhere = results is not None and results.parent != Path.cwd()
    if configurations is None:
        manifest = manifest_of(names[0])
        configurations = os.environ.get(CONFIGURATIONS) or (manifest.configurations if manifest else "")
        if results and elsewhere:
            configurations = shlex.join(str(results.parent / path) for path in shlex.split(configurations))
    targets = [f"{BUILT}/{place_of(name)}" if elsewhere else name for name in names]
    words = ["snakemake", "--cores", "all", *targets]
    words += ["--force"] if any(map(os.path.lexists, names)) else []
    words += ["--directory", str(results.parent)] if results and elsewhere else []
    words += [] if Path("Snakefile").is_file() else ["--snakefile", str(PROJECT / "Snakefile")]
    return shlex.join(words) + (f" --configfile {configurations}" if configurations else "")
