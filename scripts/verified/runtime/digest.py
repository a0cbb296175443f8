"""Digests of the code behind a rule, found by following imports, so that an edit re-runs only the rules it affects.

Snakemake notices an edit of a rule's script but not of the modules that the script imports. So each rule with a script
has a param `code`: a digest of the package's modules that the script imports, directly or not, also inside functions,
with the packages around them and the data files that they name (`verified.runtime.imports`). Modules that cannot change
an output are ignored: the configuration's models (values travel as params) but for the constants that are imported from
them, logging, job plumbing and the command line.

Imports do not show choices at run time. A rule passes these itself, as a param: `modules_digest` of the retrieval model
that a wildcard names, or of the engine that the configuration names.

A package of others counts by its source, as ours do, unless it is an installed release. `modules_digest` also holds the
versions of releases, because what a model computes is chiefly theirs.
"""

import hashlib
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from pathlib import Path

from verified.runtime.imports import PACKAGE, Module, around, constant, find, source
from verified.runtime.project import PROJECT

SCRIPTS = PROJECT / "scripts"

IGNORED_MODULES = frozenset(
    {
        "verified.errors",
        "verified.extension",
        "verified.runtime.announcements",
        "verified.runtime.digest",
        "verified.runtime.gpu_leases",
        "verified.runtime.imports",
        "verified.runtime.job",
        "verified.runtime.lock_file",
        "verified.runtime.manifest",
        "verified.runtime.progress",
        "verified.runtime.resources",
        "verified.runtime.checksums",
        "verified.runtime.verify",
    }
)
"""Modules that affect messages, or the place and time of a job, but none of its outputs."""
READING = "verified.io.video.spans"
"""The module through which frames are read by the library that the configuration names."""


def code_param(reader: str, script: str, wildcards: object) -> str:
    """A param: the digest of the code behind `script`.

    `script` is a path below our scripts, or below the project for one of an extension.

    A script that reads frames of videos also depends on `reader`, the library that decodes them (pyav by default).
    Raises FileNotFoundError for a script that is not there.
    """
    file = PROJECT / script if script.startswith("extensions/") else SCRIPTS / script
    return script_digest(file) if reader == "pyav" or not _reads_frames(file) else f"{script_digest(file)} {reader}"


@cache
def _reads_frames(script: Path) -> bool:
    return READING in modules_behind(script)


def modules_behind(script: Path) -> dict[str, Module]:
    """The modules that a script imports, directly or not, if they can change an output, by name."""
    return _closure(source(Module(script)).modules)


@cache
def script_digest(script: Path) -> str:
    """SHA-256 (first 16 hex digits) over all code and data behind a script's outputs, except the script and its
    params."""
    return _digest(modules_behind(script), source(Module(script)).constants)


@cache
def modules_digest(*names: str) -> str:
    """The same digest over modules and their imports.

    `names` are dotted: ``"verified.benchmark.vcmr.models.xml"``. Raises FileNotFoundError for a name that is neither a
    package nor a module.
    """
    if missing := [name for name in names if find(name) is None]:
        raise FileNotFoundError(f"no module {missing[0]}")
    modules = _closure(names, frozenset(names))
    releases = {release for module in modules.values() for release in source(module).releases}
    return _digest(modules, releases=sorted(map(_release, releases)))


def _closure(names: Iterable[str], also: frozenset[str] = frozenset()) -> dict[str, Module]:
    """The named modules and those that they import, by name; those of `also` even if they cannot change an output."""
    modules: dict[str, Module] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in modules or not (_counts(name) or name in also):
            continue
        if above := around(name):
            waiting.append(above)
        if module := find(name):
            modules[name] = module
            waiting += source(module).modules
    return modules


def _counts(name: str) -> bool:
    parts = name.split(".")
    return parts[1:2] not in (["config"], ["cli"], ["__main__"]) and name not in IGNORED_MODULES


def _digest(modules: dict[str, Module], constants: Iterable[tuple[str, str]] = (), releases: Iterable[str] = ()) -> str:
    sources = [source(module) for module in modules.values()]
    files = {module.file for module in modules.values()} | {file for each in sources for file in each.data}
    of_config = {*constants, *(each for part in sources for each in part.constants)}
    digest = hashlib.sha256("\n".join(releases).encode())
    for module, name in sorted(each for each in of_config if each[0].split(".")[1:2] == ["config"]):
        if (read := find(module)) is not None:
            digest.update(f"{module} {constant(read, name)}\0".encode())
    for file in sorted(files):
        bases = (base for base in (PACKAGE, PROJECT) if file.is_relative_to(base))
        name = file.relative_to(base).as_posix() if (base := next(bases, None)) else file.name
        digest.update(name.encode() + b"\0" + _content(file) + b"\0")
    return digest.hexdigest()[:16]


@cache
def _content(file: Path) -> bytes:
    return hashlib.sha256(file.read_bytes()).digest()


def _release(package: str) -> str:
    """An installed package with the versions of the distributions that bring it."""
    owners = sorted(set(_distributions().get(package, [])))
    return f"{package} {' '.join(metadata.version(owner) for owner in owners)}"


_distributions = cache(metadata.packages_distributions)
