"""Cache of measures of captions, `results/statistics`, shared by all configurations.

Outputs of rules belong to one configuration. Another one, of other settings or of more splits, reads the same files of
annotations, whose sentence vectors and parts of speech take minutes. So what is measured on the captions of one kind in
one file is an entry of its own, named by a digest of all that decides its bytes. It is sealed as outputs are, made
again where it is gone or damaged, and may be removed at any time.
"""

import contextlib
import fcntl
import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from verified.errors import InputError
from verified.runtime.seals import SHARED, seal, seal_of
from verified.runtime.verify import check

KINDS = ("cog_desc", "fig_desc")
"""Keys of the captions of a row, coarse and fine."""

log = logging.getLogger("verified")
Value = TypeVar("Value")


def caption_lists(rows: Iterable[dict], key: str) -> dict[str, list[str]]:
    """The captions ``row[key]`` of each split, both in the order of `rows`; splits without any are omitted."""
    lists: dict[str, list[str]] = {}
    for row in rows:
        if key in row:
            lists.setdefault(row["split"], []).append(row[key])
    return lists


def place(kind: str, ending: str, **decided_by: object) -> Path:
    """Path of the entry of a kind (``vectors``, ``words``) for these JSON values."""
    text = json.dumps(decided_by, sort_keys=True)
    return SHARED / f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:32]}{ending}"


def keep(path: Path, make: Callable[[], Value], write: Callable[[Path, Value], None]) -> bool:
    """Have `path` hold a whole entry, by ``write(path, make())`` where it does not; whether that was needed.

    Jobs of several runs may want the same entry at once: each makes it, and the first one's stays.
    """
    if _whole(path):
        return False
    value = make()
    path.parent.mkdir(parents=True, exist_ok=True)
    with _in_turn(path.parent):
        if not _whole(path):
            write(path, value)
            seal(path)
    return True


def _whole(path: Path) -> bool:
    if not (path.exists() and seal_of(path).exists()):
        return False
    try:
        check(path)
    except InputError as error:
        log.warning("%s: %s; it is measured again", path, error.problem)
        return False
    return True


@contextlib.contextmanager
def _in_turn(folder: Path) -> Iterator[None]:
    with (folder / ".lock").open("a") as turn:
        with contextlib.suppress(OSError):  # a file system without locks: runs side by side are on their own
            fcntl.flock(turn, fcntl.LOCK_EX)
        yield
