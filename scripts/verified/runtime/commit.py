"""The version of the code and of the packages behind a result."""

import contextlib
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from verified import __version__


def commit(project: Path) -> str:
    """Commit of the project's checkout, marked if files differ from it; without a checkout, the project's version.

    An installed copy may lie inside an unrelated repository, which tracks none of its files.
    """
    try:
        _git(project, "ls-files", "--error-unmatch", ".")
        head = _git(project, "rev-parse", "--short=12", "HEAD")
        changed = _git(project, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.CalledProcessError):
        return f"version {__version__}, no git checkout"
    return f"commit {head}{' with local changes' if changed else ''}"


def versions(*packages: str) -> dict[str, str | None]:
    """Versions of installed packages; None for one that is not installed."""
    found: dict[str, str | None] = dict.fromkeys(packages)
    for package in packages:
        with contextlib.suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def _git(project: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=project, check=True, capture_output=True, text=True).stdout.strip()
