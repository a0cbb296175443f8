"""Errors that a person can act on, and the characters that they show."""

import difflib
import errno
import os
import re
from collections.abc import Iterable

LONGEST = 1000
"""Characters of a problem that are shown."""

CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Control characters except tab and line ends (ESC, NUL, BEL, the C1 set), Unicode's own line ends, and halves of
surrogate pairs."""
INVISIBLE = re.compile(
    r"[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff"
    r"\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    r"|(?<![^\x00-\x7f])[\u200c\u200d]|(?<=[\u200c\u200d])[\u200c\u200d]|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]"
)
"""Characters that nobody sees, and in which a text can hide: marks of direction, tags, fillers and blanks without
width. A joiner is allowed behind a letter that is not ASCII, and one variation selector behind a sign: scripts and
emoji need them."""
HIDDEN = re.compile(f"{CONTROL.pattern}|{INVISIBLE.pattern}")
"""Characters that terminals and pages act on, or do not show."""


def visible(text: str) -> str:
    """`text` with each such character, and carriage returns, as an escape."""
    return re.sub(rf"\r|{HIDDEN.pattern}", lambda match: ascii(match[0])[1:-1], text)


def nearest(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'KNOWN'?`` for the end of a problem; empty if no known name is near."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.4)
    return f"; did you mean {near[0]!r}?" if near else ""


FULL = "make room, then give the command again"
RIGHT = "give yourself the right to it, or choose another folder"
DISK = {
    errno.EACCES: RIGHT,
    errno.EPERM: RIGHT,
    errno.ENOSPC: FULL,
    errno.EDQUOT: FULL,
    errno.EFBIG: "choose a file system that takes files of this size",
    errno.EROFS: "choose a folder that can be written to",
}
"""Remedies for errors of a disk, by the system's number of the error."""


def disk_problem(error: BaseException) -> str | None:
    """The error of a disk behind an exception, in a sentence with its remedy; None if there is none.

    Libraries such as safetensors and HDF5 pass on the system's message alone, and closing a file fails again after a
    failed write.
    """
    cause: BaseException | None = error
    while cause is not None:
        for number, remedy in DISK.items():
            if getattr(cause, "errno", None) == number or os.strerror(number) in str(cause):
                place = f"{cause.filename}: " if isinstance(cause, OSError) and cause.filename else ""
                return f"{place}{os.strerror(number)} ({remedy})"
        cause = cause.__cause__ or cause.__context__
    return None


class InputError(Exception):
    """Input of the user that cannot be used.

    The message states the problem, its location (file, row, id) and the remedy. Entry points print the message alone,
    without a traceback.
    """

    def __init__(self, problem: str, *, file: object = None, row: int | None = None, remedy: str | None = None):
        if len(problem) > LONGEST:  # something quoted from a hostile file
            problem = f"{problem[: LONGEST - 200]} … {problem[-200:]}"
        place = ", ".join(
            location for location in (str(file) if file else "", f"row {row}" if row is not None else "") if location
        )
        text = f"{place}: {problem}" if place else problem
        super().__init__(visible(f"{text} ({remedy})" if remedy else text))
        self.problem, self.file, self.row, self.remedy = problem, file, row, remedy
