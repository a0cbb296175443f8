"""`pytest --changed [REVISION]`: only the test files that an edit since a revision can reach by imports."""

import ast
import re
import subprocess
from collections import deque
from collections.abc import Iterator, Mapping
from functools import cache
from math import inf
from pathlib import Path

TESTS = Path(__file__).resolve().parent
PROJECT = TESTS.parent
PACKAGE = PROJECT / "scripts" / "verified"
EXTENSIONS = tuple(file.parent for file in sorted(PROJECT.glob("extensions/*/extension.py")))
PACKAGES = (PACKAGE, *(folder / f"verified_{folder.name}" for folder in EXTENSIONS))
ROOTS = (PROJECT / "scripts", *EXTENSIONS, *(folder / "tests" for folder in EXTENSIONS), TESTS, PROJECT)


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
    """A test file, the conftest files around it but the topmost, and all modules of ours that these import.

    Each has the number of imports that lead to it.
    """
    around = (folder / "conftest.py" for folder in test.parents if PROJECT in folder.parents)
    seen = dict.fromkeys((test, *(file for file in around if file.is_file())), 0)
    waiting = deque(seen)
    while waiting:
        file = waiting.popleft()
        new = _imports(file) - seen.keys()
        seen |= dict.fromkeys(new, seen[file] + 1)
        waiting += new
    return seen


def _is_of_package(file: Path) -> bool:
    return any(file.is_relative_to(folder) for folder in PACKAGES)


@cache
def _imports(file: Path) -> frozenset[Path]:
    """Files of the modules that a file imports, anywhere in it, or names as text, with the packages around them.

    Job scripts that it names by their paths are among them. The configuration and `extension.py` only list names.
    """
    names: set[str] = set()
    scripts: set[Path] = set()
    lists = file.is_relative_to(PACKAGE / "config") or file.name == "extension.py"
    for node in _nodes(ast.parse(_text(file))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not lists:
            if node.value.startswith(("verified.", "verified_")):
                names.add(node.value.partition(":")[0])  # MODULE:NAME
            elif re.fullmatch(r"[\w/]+/\w+\.py", node.value):
                scripts |= {root / node.value for root in (PROJECT / "scripts", PROJECT)}
    parts = (name.split(".") for name in names if name.replace(".", "").isidentifier())
    modules = (path for one in parts for end in range(1, len(one) + 1) for path in _files("/".join(one[:end])))
    return frozenset(modules) | {path for path in scripts if path.is_file()}


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below one, but for imports that only type checkers see."""
    yield node
    unseen = isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    for child in node.orelse if unseen else ast.iter_child_nodes(node):
        yield from _nodes(child)


@cache
def _files(name: str) -> tuple[Path, ...]:
    places = (path for root in ROOTS for path in (root / f"{name}.py", root / name / "__init__.py"))
    return tuple(path for path in places if path.is_file())[:1]


@cache
def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


@cache
def _is_imported(file: Path) -> bool:
    """Whether an import leads to a module: of the core from its modules, of an extension from its tests."""
    for folder in EXTENSIONS:
        if file.is_relative_to(folder):
            return any(file in _closure(test) for test in folder.glob("tests/test_*.py"))
    return any(file in _imports(module) for module in (PROJECT / "scripts").rglob("*.py"))
