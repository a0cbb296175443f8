"""Plant the mistakes of planted_mistakes.yaml, one by one, in a copy of the project; name the test that finds each.

A mistake meets the quick tests that `--changed` selects: those of its room first, and the nearest by imports.
The command prints a table and ends with 1 if too few mistakes are found. It needs a tree whose quick tests pass.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from changed import PROJECT, TESTS, distance, is_reached

QUICK = ("-m", "not slow and not night", "-n", "0", "-x", "-q", "--no-header", "-p", "no:cacheprovider")


@dataclass(frozen=True)
class Mistake:
    """`before` occurs once in `file`; with `after` in its place, the project makes the `mistake`."""

    room: str
    file: str
    before: str
    after: str
    mistake: str


def read_mistakes(path: Path) -> list[Mistake]:
    return [Mistake(**row) for row in yaml.safe_load(path.read_text(encoding="utf-8"))]


def copy_tree(folder: Path) -> Path:
    """A copy of all files of the project that git tracks or does not ignore, a repository of its own."""
    words = ("git", "ls-files", "--cached", "--others", "--exclude-standard")
    for name in subprocess.run(words, cwd=PROJECT, check=True, capture_output=True, text=True).stdout.splitlines():
        if (PROJECT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(PROJECT / name, folder / name)
    commit = ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message=copy")
    for words in (("init", "--quiet"), ("add", "--all"), commit):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


def tests_of(file: str, room: str) -> tuple[list[Path], list[Path]]:
    """Test files that an edit of `file` reaches, those of a room and the others; the nearest to it first."""
    reached = [test for test in _all_tests() if is_reached(test, {PROJECT / file})]
    nearest = sorted(reached, key=lambda test: (distance(test, PROJECT / file), test))
    return [test for test in nearest if _room(test) == room], [test for test in nearest if _room(test) != room]


def variables(project: Path) -> dict[str, str]:
    """The environment in which a copy of the project imports itself, its extensions before those that are installed."""
    own = (project / "scripts", *project.glob("extensions/*"))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, own)), "PYTHONDONTWRITEBYTECODE": "1"}


def first_failure(project: Path, files: Iterable[Path], seconds: float) -> str:
    """The first quick test of `files` that fails in a copy of the project, or an empty text."""
    names = [str(file.relative_to(PROJECT)) for file in files]
    if not names:
        return ""
    words = [sys.executable, "-m", "pytest", *QUICK, *names]
    try:
        run = subprocess.run(
            words, cwd=project, env=variables(project), capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return ""
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", run.stdout, re.MULTILINE)
    if failed is None and run.returncode not in (0, 5):
        raise RuntimeError(run.stdout + run.stderr)
    return failed.group(1) if failed else ""


def plant(project: Path, mistake: Mistake, seconds: float) -> tuple[str, float]:
    """The first test that finds a mistake, empty if none does, and the seconds until then."""
    file, began = project / mistake.file, time.monotonic()
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(mistake.before, mistake.after), encoding="utf-8")
    try:
        in_room, others = tests_of(mistake.file, mistake.room)
        found = first_failure(project, in_room, seconds) or first_failure(project, others, seconds)
    finally:
        file.write_text(text, encoding="utf-8")
    return found, time.monotonic() - began


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Plant mistakes; name the test that finds each.")
    parser.add_argument("--list", type=Path, default=TESTS / "planted_mistakes.yaml", help="the mistakes")
    parser.add_argument("--match", default="", help="only mistakes whose room, file or text holds this")
    parser.add_argument("--seconds", type=float, default=600, help="at most so long for the tests of a mistake")
    parser.add_argument("--share", type=float, default=0.85, help="share of mistakes to be found")
    asked = parser.parse_args(arguments)
    mistakes = [row for row in read_mistakes(asked.list) if asked.match in f"{row.room} {row.file} {row.mistake}"]
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        project = copy_tree(Path(folder))
        print("| mistake | first test that finds it | seconds |\n|---|---|---|", flush=True)
        for mistake in mistakes:
            found, seconds = plant(project, mistake, asked.seconds)
            count += bool(found)
            print(f"| {mistake.room}: {mistake.mistake} | {found or 'none'} | {seconds:.0f} |", flush=True)
    print(f"\n{count} of {len(mistakes)} mistakes are found")
    return int(count < asked.share * len(mistakes))


def _all_tests() -> list[Path]:
    return sorted([*TESTS.rglob("test_*.py"), *PROJECT.glob("extensions/*/tests/test_*.py")])


def _room(test: Path) -> str:
    return test.parts[-3] if test.parent.name == "tests" else test.parent.name


if __name__ == "__main__":
    sys.exit(main())
