"""Which state of the code and of the packages a result was made with."""

import contextlib
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from verified import __version__


def commit(project: Path) -> str:
    """Commit of the project's checkout, marked when files differ from it; or its version, and that there is none.

    An installed copy may lie inside a repository of somebody else's, which has none of its files.
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
