"""`pytest --changed [REVISION]`: only the test files that an edit since a revision can reach by imports."""

import ast
import subprocess
from functools import cache
from pathlib import Path

TESTS = Path(__file__).resolve().parent
PROJECT = TESTS.parent
PACKAGE = PROJECT / "scripts" / "verified"
EXTENSIONS = tuple(file.parent for file in sorted(PROJECT.glob("extensions/*/extension.py")))
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
    reached = _closure(test)
    if reached & changed or PROJECT / "conftest.py" in changed:
        return True
    folders = {file.parent for file in reached}
    texts = [_text(file) for file in reached if not file.is_relative_to(PACKAGE)]
    for file in changed:
        if file.is_relative_to(PACKAGE):
            found = not _is_imported(file) and not folders.isdisjoint((file.parent, file.parent.parent))
        else:
            workflow = TESTS / "running.py" in reached and not file.is_relative_to(TESTS)
            found = workflow or any(file.name in text for text in texts)
        if found:
            return True
    return False


@cache
def _closure(test: Path) -> frozenset[Path]:
    """A test file, the conftest files around it but the topmost, and all modules of ours that these import."""
    around = (folder / "conftest.py" for folder in test.parents if PROJECT in folder.parents)
    seen = {test, *(file for file in around if file.is_file())}
    waiting = list(seen)
    while waiting:
        new = _imports(waiting.pop()) - seen
        seen |= new
        waiting += new
    return frozenset(seen)


@cache
def _imports(file: Path) -> frozenset[Path]:
    """Files of the modules that a file imports, anywhere in it, or names as text, with the packages around them."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(_text(file))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node.value.startswith(("verified.", "verified_"))
        ):
            names.add(node.value)
    parts = (name.split(".") for name in names if name.replace(".", "").isidentifier())
    return frozenset(path for one in parts for end in range(1, len(one) + 1) for path in _files("/".join(one[:end])))


@cache
def _files(name: str) -> tuple[Path, ...]:
    places = (path for root in ROOTS for path in (root / f"{name}.py", root / name / "__init__.py"))
    return tuple(path for path in places if path.is_file())[:1]


@cache
def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


@cache
def _is_imported(file: Path) -> bool:
    modules = (module for folder in (PACKAGE, *EXTENSIONS) for module in folder.rglob("*.py"))
    return any(file in _imports(module) for module in modules)
