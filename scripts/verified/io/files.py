"""Files: checks before reading, atomic writes, spools, records, digests of contents, format versions, and the validity
of paths from data.
"""

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

from verified.errors import InputError

_check: Callable[[Path], None] | None = None


@contextlib.contextmanager
def checking(check: Callable[[Path], None]) -> Generator[None]:
    """Inside the block, the readers of this process call `check` with each file before they read it."""
    global _check
    _check = check
    try:
        yield
    finally:
        _check = None


def checked(path: str | os.PathLike[str]) -> Path:
    """`path`, after the check of `checking`: every reader of a run's file passes its path through here.

    Raises InputError for a pipe or a device, which may have no end or no writer.
    """
    path = Path(path)
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise InputError("a pipe or a device, not a regular file", file=path)
    if _check:
        _check(path)
    return path


def checked_file(path: str | os.PathLike[str]) -> Path:
    """`checked(path)`, which must be a file: raises InputError for a missing one, and for a folder."""
    path = checked(path)
    if not path.is_file():
        raise InputError("a folder, not a file" if path.is_dir() else "no such file", file=path)
    return path


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Generator[Path]:
    """Yield a temporary path next to `path`; rename it to `path` on success, delete it on any error.

    The temporary file keeps the suffix of `path`: pandas and matplotlib choose their format by it. Its name is fixed,
    so that the next run overwrites the remains of a killed process. One writer at a time.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.partial{''.join(path.suffixes)}")
    temporary.unlink(missing_ok=True)
    temporary.touch(exist_ok=False)
    rights = temporary.stat().st_mode
    try:
        yield temporary
        temporary.chmod(rights)  # by the umask: some writers replace the file by one of their own
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def empty_folder(path: str | os.PathLike[str]) -> Path:
    """Create `path` as an empty folder, without remains of a killed job."""
    path = Path(path)
    if path.exists():
        shutil.rmtree(path)
    path.mkdir(parents=True)
    return path


class Spool(contextlib.ExitStack):
    """Contents by name in an unnamed file of a folder, added in any order: for more of them than memory holds."""

    def __init__(self, folder: Path):
        super().__init__()
        folder.mkdir(parents=True, exist_ok=True)
        self._file = self.enter_context(tempfile.TemporaryFile(dir=folder))  # noqa: SIM115 (closed with this)
        self._places: dict[str, tuple[int, int]] = {}

    def add(self, name: str, content: bytes) -> None:
        """Append the content of a name."""
        self._places[name] = self._file.seek(0, os.SEEK_END), len(content)
        self._file.write(content)

    def __getitem__(self, name: str) -> bytes:
        start, length = self._places[name]
        self._file.seek(start)
        return self._file.read(length)


def file_digest(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file's bytes, in hex."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_text(path: str | os.PathLike[str], most: int | None = None) -> str:
    """The text of a regular file in UTF-8, of at most `most` bytes if given, without a byte order mark.

    Raises InputError for anything else: no such file, a folder, a pipe, another encoding.
    """
    path = checked_file(path)
    try:
        if most is not None and path.stat().st_size > most:
            raise InputError(f"more than {most:,} bytes", file=path, remedy="is it the right file?")
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row, problem = error.object.count(b"\n", 0, error.start) + 1, f"{error.reason} at byte {error.start}"
        remedy = "save it as UTF-8 (in a spreadsheet: `CSV UTF-8`)"
        raise InputError(f"not UTF-8 ({problem})", file=path, row=row, remedy=remedy) from None
    except OSError as error:
        raise InputError(error.strerror or str(error), file=path) from None


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write UTF-8 text through a temporary file and a rename."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_record(path: str | os.PathLike[str], value: object) -> None:
    """Write a value as JSON, and the SHA-256 of its text in a second line."""
    text = json.dumps(value)
    write_text(path, f"{text}\n{hashlib.sha256(text.encode()).hexdigest()}\n")


def read_record(path: Path) -> Any:
    """The value of a record. Raises OSError, and ValueError if it is damaged, or no regular file."""
    if path.exists() and not path.is_file():
        raise ValueError("not a regular file")
    text, _, digest = path.read_text(encoding="utf-8").strip().rpartition("\n")
    if hashlib.sha256(text.encode()).hexdigest() != digest:
        raise ValueError("it is not as it was written")
    return json.loads(text)


def is_inside(path: str) -> bool:
    """Whether a path from a file, in parts with slashes between or behind, stays below its folder."""
    parts = path.removesuffix("/").split("/")
    return not {"", ".", ".."} & set(parts) and path.isprintable() and "\\" not in path


def is_in_future(path: str | os.PathLike[str]) -> bool:
    """Whether a file's time is ahead of this machine's clock, which Snakemake refuses."""
    return Path(path).is_file() and os.stat(path).st_mtime > time.time() + 1


def require_version(version: object, newest: int, form: str, file: object, remedy: str) -> None:
    """Raise InputError unless `version`, the version stated by a file of this `form` (None: no version), is `newest`.

    `remedy`: for a file of an older version; a newer one asks for a newer program.
    """
    if isinstance(version, int) and not isinstance(version, bool) and version > newest:
        problem, remedy = f"version {version} is newer than {newest}, the newest known here", "update the workflow"
    elif version != newest or isinstance(version, bool):
        stated = "states no version" if version is None else f"is of version {str(version)[:20]}"
        problem = f"{stated}, and version {newest} is read here"
    else:
        return
    raise InputError(f"{form}: {problem}", file=file, remedy=remedy)
