"""Digests of the code behind a rule, found by following imports, so that an edit re-runs only the rules it affects.

Snakemake notices an edit of a rule's script but not of the modules that the script imports. So each rule with a script
has a param `code`: a digest of the package's modules that the script imports, directly or not, also inside functions,
with the packages around them and the data files beside them that they name. Modules that cannot change an output are
ignored: the configuration's models (values travel as params), logging, job plumbing and the command line.

Imports do not show choices at run time. A rule passes these itself, as a param: `modules_digest` of the retrieval model
that a wildcard names, or of the engine that the configuration names.

A package of others counts by its source, as ours do, unless it is an installed release. `modules_digest` also holds the
versions of releases, because what a model computes is chiefly theirs.
"""

import ast
import hashlib
import importlib.util
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

from verified.runtime.project import EXTENSIONS, PROJECT

PACKAGE = Path(__file__).resolve().parent.parent
PACKAGES = {"verified": PACKAGE} | {
    f"verified_{folder.name}": folder / f"verified_{folder.name}" for folder in EXTENSIONS
}
"""Folders of our packages: the core's and those of extensions."""
SCRIPTS = PROJECT / "scripts"

IGNORED_MODULES = frozenset(
    {
        "verified.errors",
        "verified.extension",
        "verified.runtime.announcements",
        "verified.runtime.digest",
        "verified.runtime.gpu_leases",
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


def code_param(reader: str, script: str) -> Callable[[object], str]:
    """A params function: the digest of the code behind `script`, computed on demand.

    `script` is a path below our scripts, or below the project for one of an extension.

    A script that reads frames of videos also depends on `reader`, the library that decodes them (pyav by default).
    Raises FileNotFoundError for a script that is not there.
    """

    def code(wildcards: object) -> str:
        file = PROJECT / script if script.startswith("extensions/") else SCRIPTS / script
        return script_digest(file) if reader == "pyav" or not _reads_frames(file) else f"{script_digest(file)} {reader}"

    return code


@cache
def _reads_frames(script: Path) -> bool:
    return _file(READING) in _closure(_imports(ast.parse(script.read_bytes()), ""))


def script_of(script: str | None) -> Path:
    """The file in our scripts that a rule runs as `script`; the folder itself if it runs none of them."""
    names = Path(script or "").parts
    below = names[::-1].index(SCRIPTS.name) if SCRIPTS.name in names else 0
    return SCRIPTS.joinpath(*names[len(names) - below :])


@cache
def script_digest(script: Path) -> str:
    """SHA-256 (first 16 hex digits) over all code and data behind a script's outputs, except the script and its
    params."""
    return _digest(_closure(_imports(ast.parse(script.read_bytes()), "")))


@cache
def modules_digest(*names: str) -> str:
    """The same digest over modules and their imports.

    `names` are dotted: ``"verified.benchmark.vcmr.models.xml"``. Raises FileNotFoundError for a name that is neither a
    package nor a module.
    """
    for name in names:
        _known_file(name)
    releases = set[str]()
    files = _closure(names, frozenset(names), releases)
    return _digest(files, sorted(map(_release, releases)))


def _digest(files: Iterable[Path], releases: Iterable[str] = ()) -> str:
    digest = hashlib.sha256("\n".join(releases).encode())
    for file in files:
        bases = (base for base in (PACKAGE, PROJECT) if file.is_relative_to(base))
        name = file.relative_to(base).as_posix() if (base := next(bases, None)) else file.name
        digest.update(name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _release(package: str) -> str:
    """An installed package with the versions of the distributions that bring it."""
    owners = sorted(set(_distributions().get(package, [])))
    return f"{package} {' '.join(metadata.version(owner) for owner in owners)}"


_distributions = cache(metadata.packages_distributions)


def _closure(names: Iterable[str], also: frozenset[str] = frozenset(), releases: set[str] | None = None) -> list[Path]:
    """Files of the named modules, their imports and the data they name, sorted; those of `also` always.

    Installed packages that they import are added to `releases`.
    """
    files: set[Path] = set()
    seen: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in seen or not (_counts(name) or name in also):
            continue
        seen.add(name)
        if _file(name) is None:
            if releases is not None:
                releases.add(name)
            continue
        file, imported, data_files = _module(name)
        files.update((file, *data_files))
        waiting += imported
        above = name.rpartition(".")[0]
        waiting += [above] if above and above not in PACKAGES else []
    return sorted(files)


def _counts(name: str) -> bool:
    parts = name.split(".")
    return parts[1:2] not in (["config"], ["cli"], ["__main__"]) and name not in IGNORED_MODULES


@cache
def _module(name: str) -> tuple[Path, list[str], list[Path]]:
    """The file of a module, the modules that it imports, and data files beside it whose names occur in its text."""
    file = _known_file(name)
    source = file.read_bytes()
    tree = ast.parse(source)
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    imported = list(_imports(tree, package))
    return file, imported, _data(source, tree, file.parent)


def _imports(tree: ast.AST, package: str) -> Iterator[str]:
    """Names of the modules that a source imports, or names if they are ours, as if in a process of its own.

    Of an installed release, the package alone.

    `package` is the one that the source belongs to. Imports for type checkers do not count.
    """
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            waiting += node.orelse
            continue
        waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) + 1 - node.level]
                base = ".".join([*above, base] if base else above)
            modules = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            modules = [node.value] if node.value.partition(".")[0] in PACKAGES else []
        else:
            continue
        for module in modules:
            top = module.partition(".")[0]
            if (top in PACKAGES and "." not in module) or not module.replace(".", "").isidentifier():
                continue
            if _file(module) is not None:
                yield module
            elif top not in PACKAGES and top not in sys.stdlib_module_names and _root(top) is None:
                yield top


@cache
def _beside(folder: Path) -> dict[str, Path]:
    """Files other than Python's in a folder, by name."""
    return {file.name: file for file in folder.iterdir() if file.is_file() and file.suffix not in (".py", ".pyc")}


def _data(source: bytes, tree: ast.AST, folder: Path) -> list[Path]:
    """Files beside a module, other than Python's, that its text constants name."""
    beside = {name: file for name, file in _beside(folder).items() if name.encode() in source}
    if not beside:  # the usual case; a walk over all nodes of all modules takes half a second of each start
        return []
    names = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and 0 < len(node.value) < 100
    }
    return [beside[name] for name in sorted(names & beside.keys())]


@cache
def _root(package: str) -> Path | None:
    """The folder of a package of others, or the file of a module without its suffix; None for an installed release, for
    the standard library, and for a package that is not here."""
    if package in sys.stdlib_module_names:
        return None
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        return None
    path = Path(next(iter(spec.submodule_search_locations or [Path(spec.origin or "").with_suffix("")])))
    installed = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
    return None if any(path.is_relative_to(folder) for folder in installed) else path


@cache
def _file(name: str) -> Path | None:
    """The file of a module or package of ours, or of one that is no installed release, or None."""
    package, *below = name.split(".")
    root = PACKAGES.get(package) or _root(package)
    if root is None:
        return None
    path = root.joinpath(*below)
    if path.with_suffix(".py").is_file():
        return path.with_suffix(".py")
    return path / "__init__.py" if (path / "__init__.py").is_file() else None


def _known_file(name: str) -> Path:
    """The file of such a module or package; FileNotFoundError if there is none."""
    file = _file(name)
    if file is None:
        raise FileNotFoundError(f"no module {name}")
    return file
