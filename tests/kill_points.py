"""A change of files that is killed before each of its writes in turn, and then repeated; a small disk."""

import contextlib
import os
import resource
import shutil
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

CHANGES = {
    "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.chmod",
    "shutil.rmtree",
}  # fmt: skip
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def contents(folder: Path) -> dict[str, bytes]:
    """Bytes of all files but locks by path."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(("lock", ".turn")))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def killed_at(number: int, change: Callable[[], object]) -> bool:
    """Run `change` in a child that ends without any cleaning up before its `number`-th change of a file.

    Returns whether it came that far; a change that fails by itself is an error. With 0 it is not killed.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert status in (0, 9), "the change failed by itself"
        return status == 9
    seen = 0

    def count(event, arguments):
        nonlocal seen
        writes = event == "open" and (
            (isinstance(arguments[1], str) and bool(set(arguments[1]) & set("wax+")))
            or (isinstance(arguments[2], int) and bool(arguments[2] & WRITING))
        )
        if event in CHANGES or writes:
            seen += 1
            if seen == number:
                os._exit(9)

    try:
        if "torch" in sys.modules:
            sys.modules["torch"].set_num_threads(1)
        sys.addaudithook(count)
        change()
        os._exit(0)
    except BaseException:
        os.write(2, traceback.format_exc().encode())
        os._exit(1)


def finished_by_repeating(start: Path, place: Path, change: Callable[[], object]) -> int:
    """Kill `change` at each of its changes of files. Repeated, it must leave what an undisturbed run leaves.

    Each time `place`, which is the working directory then, begins as a copy of `start`. All runs are children of this
    process and leave nothing in it. Returns how many kills it were.
    """

    def begin() -> None:
        os.chdir(start)
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(start, place)
        os.chdir(place)

    before = Path.cwd()
    try:
        begin()
        killed_at(0, change)
        undisturbed, number = contents(place), 1
        while begin() or killed_at(number, change):
            killed_at(0, change)
            found = contents(place)
            differing = {name for name in found.keys() | undisturbed.keys() if found.get(name) != undisturbed.get(name)}
            assert not differing, f"killed at change {number}: {sorted(differing)} differ"
            number += 1
        return number - 1
    finally:
        os.chdir(before)


@contextlib.contextmanager
def small_files(limit: int):
    """Inside, no file grows over `limit` bytes, as on a disk with as little room."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
