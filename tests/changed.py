"""`pytest --changed [REVISION]`: only the test files that an edit since a revision can reach by imports."""

import re
import subprocess
import sys
from collections import deque
from collections.abc import Mapping
from functools import cache
from math import inf
from pathlib import Path

from verified.runtime.imports import PACKAGE, PACKAGES, Module, around, find, source
from verified.runtime.project import EXTENSIONS

TESTS = Path(__file__).resolve().parent
PROJECT = TESTS.parent
CONFIG, EXTENSION = find("verified.config"), find("verified.extension")
sys.path += [str(folder) for folder in (PROJECT, *(folder / "tests" for folder in EXTENSIONS))]
"""Where the modules of tests are, beside those that pytest puts there."""


def changed_files(project: Path, revision: str) -> set[Path]:
    """Files that differ from where this branch left `revision`, also those that git does not know yet."""
    asked = (("diff", "--name-only", "--merge-base", revision), ("ls-files", "--others", "--exclude-standard"))
    told = (subprocess.run(["git", *words], cwd=project, check=True, capture_output=True, text=True) for words in asked)
    return {project / name for one in told for name in one.stdout.splitlines()}


def is_reached(test: Path, changed: set[Path]) -> bool:
    """Whether the imports of a test file lead to a changed file, or to a text of the tests that has its name.

    What no module of the package imports, a page or what is imported by its name at run time, counts for a test that
    reaches its folder; what is no part of the package, such as a rule, for a test that starts the workflow.
    """
    reached = _closure(test).keys()
    if reached & changed or PROJECT / "conftest.py" in changed:
        return True
    folders = {file.parent for file in reached}
    texts = [_text(file) for file in reached if not _is_of_package(file)]
    for file in changed:
        if _is_of_package(file):
            found = not _is_imported(file) and not folders.isdisjoint({file.parent, file.parent.parent} - {PACKAGE})
        else:
            workflow = TESTS / "running.py" in reached and not file.is_relative_to(TESTS)
            found = workflow or any(file.name in text for text in texts)
        if found:
            return True
    return False


def distance(test: Path, file: Path) -> float:
    """Number of imports that lead from a test file to another; infinite if none do."""
    return _closure(test).get(file, inf)


@cache
def _closure(test: Path) -> Mapping[Path, int]:
    """A test file, the conftest files around it but the topmost, and all modules and data of ours that these import.

    Each has the number of imports that lead to it. Tests of an extension reach all that its extension.py imports, if
    they reach a module of the core that asks extensions for more than their sections of the configuration.
    """
    own = [Module(folder / "extension.py") for folder in EXTENSIONS if test.is_relative_to(folder)]
    around_it = (folder / "conftest.py" for folder in test.parents if PROJECT in folder.parents)
    seen = {Module(file): 0 for file in (test, *(file for file in around_it if file.is_file()))}
    if "verified.__main__" in (text := _text(test)):  # which imports the modules of commands by their names
        given = {*re.findall(r"\"([\w-]+)[\" ]", text)}
        seen |= {Module(file): 1 for file, words in _commands().items() if words & given}
    waiting = deque(seen)
    while waiting:
        module = waiting.popleft()
        imported = {*_imports(module)}
        if EXTENSION in imported and module != CONFIG:
            imported.update(own)
        new = imported - seen.keys()
        seen |= dict.fromkeys(new, seen[module] + 1)
        waiting += new
    files = {module.file: number for module, number in seen.items()}
    data = {file: seen[module] + 1 for module in seen if _is_of_package(module.file) for file in source(module).data}
    return data | files


def _is_of_package(file: Path) -> bool:
    return any(file.is_relative_to(folder) for folder in PACKAGES.values())


@cache
def _imports(module: Module) -> tuple[Module, ...]:
    """The modules of ours that a module imports, with the packages around them, and job scripts that it names."""
    names = {*source(module).modules}
    waiting = list(names)
    while waiting:
        if above := around(waiting.pop()):
            names.add(above)
            waiting.append(above)
    found = {read for name in names if (read := find(name)) is not None}
    paths = re.findall(r"[\"']([\w/]+/\w+\.py)[\"']", _text(module.file))
    scripts = (root / path for path in paths for root in (PROJECT / "scripts", PROJECT))
    return (*found, *(Module(path) for path in scripts if path.is_file()))


@cache
def _commands() -> Mapping[Path, set[str]]:
    """First words of the commands of each module of the command line."""
    files = (PACKAGE / "cli").glob("*.py")
    return {file: {*re.findall(r"@command\(\s*\"([\w-]+)", _text(file))} for file in files}


@cache
def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


@cache
def _is_imported(file: Path) -> bool:
    """Whether an import leads to a module: of the core from its modules, of an extension from its tests."""
    for folder in EXTENSIONS:
        if file.is_relative_to(folder):
            return any(file in _closure(test) for test in folder.glob("tests/test_*.py"))
    modules = (Module(script) for script in (PROJECT / "scripts").rglob("*.py"))
    return any(file == found.file for module in modules for found in _imports(module))
