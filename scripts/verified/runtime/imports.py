"""Imports and data files of a source, in the digest of a job's code and in the choice of tests alike.

Sources are modules of the core and of extensions, and of packages of others that are no installed release.
"""

import ast
import importlib.util
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from verified.runtime.project import EXTENSIONS

PACKAGE = Path(__file__).resolve().parent.parent
PACKAGES = {"verified": PACKAGE} | {
    f"verified_{folder.name}": folder / f"verified_{folder.name}" for folder in EXTENSIONS
}
"""Folders of our packages: the core's and those of extensions."""


class Module(NamedTuple):
    """A file of Python, and the package that it belongs to or is; empty for a script."""

    file: Path
    package: str = ""


class Source(NamedTuple):
    """Contents of a module that others are found by."""

    modules: tuple[str, ...]
    """Modules that it imports anywhere, also inside functions, or whose names are its texts; not for types alone."""
    constants: tuple[tuple[str, str], ...]
    """(module, name) of the constants that it imports."""
    releases: tuple[str, ...]
    """Packages of installed releases that it imports."""
    data: tuple[Path, ...]
    """Files beside it, other than Python's, that its texts name; in a package of ours all files of folders as well."""


@cache
def find(name: str) -> Module | None:
    """A module or package by its dotted name; None for one of an installed release, and for one that is not here."""
    package, *below = name.split(".")
    root = PACKAGES.get(package) or _root(package)
    if root is None:
        return None
    path = root.joinpath(*below)
    if path.with_suffix(".py").is_file():
        return Module(path.with_suffix(".py"), name.rpartition(".")[0])
    return Module(path / "__init__.py", name) if (path / "__init__.py").is_file() else None


def around(name: str) -> str:
    """The package around a module, whose own code runs when the module is imported; empty for ours at the top."""
    above = name.rpartition(".")[0]
    return "" if above in PACKAGES else above


@cache
def source(module: Module) -> Source:
    """The contents of a module."""
    text = module.file.read_bytes()
    tree = ast.parse(text)
    modules, constants, releases = dict[str, None](), dict[tuple[str, str], None](), dict[str, None]()
    # The configuration lists modules by name, from which it chooses.
    named = not module.file.is_relative_to(PACKAGE / "config")
    for name, constant in _references(tree, module.package, named):
        top = name.partition(".")[0]
        if (top in PACKAGES and "." not in name) or not name.replace(".", "").isidentifier():
            continue
        if find(name) is not None:
            modules[name] = None
            if constant.isupper():
                constants[name, constant] = None
        elif top not in PACKAGES and top not in sys.stdlib_module_names and _root(top) is None:
            releases[top] = None
    return Source(tuple(modules), tuple(constants), tuple(releases), tuple(_data(text, tree, module.file.parent)))


@cache
def constant(module: Module, name: str) -> str:
    """The source of a constant of a module, with that of the module's other constants in it."""
    values = {
        target.id: node.value
        for node in ast.parse(module.file.read_bytes()).body
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    if name not in values:
        return ""
    others = {node.id for node in ast.walk(values[name]) if isinstance(node, ast.Name)} & values.keys() - {name}
    return "\n".join([f"{name} = {ast.unparse(values[name])}", *(constant(module, other) for other in sorted(others))])


def running_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a source but those for type checkers alone."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            waiting += node.orelse
            continue
        waiting += ast.iter_child_nodes(node)
        yield node


def _references(tree: ast.AST, package: str, named: bool) -> Iterator[tuple[str, str]]:
    """Dotted names that may be modules: imports with the name that is imported from them, and texts if `named`."""
    for node in running_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) + 1 - node.level]
                base = ".".join([*above, base] if base else above)
            for alias in node.names:
                yield base, alias.name
                yield f"{base}.{alias.name}", ""
        elif named and isinstance(node, ast.Constant) and str(node.value).partition(".")[0] in PACKAGES:
            yield str(node.value), ""


@cache
def _beside(folder: Path) -> dict[str, list[Path]]:
    """Files other than Python's in a folder and, in a package of ours, in folders that are no packages, by name."""
    ours = any(folder.is_relative_to(package) for package in PACKAGES.values())
    files_of: dict[str, list[Path]] = {}
    for path in folder.iterdir():
        if path.is_file() and path.suffix not in (".py", ".pyc"):
            files_of[path.name] = [path]
        elif ours and path.is_dir() and path.name != "__pycache__" and not any(path.glob("*.py")):
            files_of[path.name] = [file for file in path.rglob("*") if file.is_file()]
    return files_of


def _data(text: bytes, tree: ast.AST, folder: Path) -> list[Path]:
    beside = {name: files for name, files in _beside(folder).items() if name.encode() in text}
    if not beside:  # the usual case; a walk over all nodes of all modules takes half a second of each start
        return []
    names = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return sorted(file for name in names & beside.keys() for file in beside[name])


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
