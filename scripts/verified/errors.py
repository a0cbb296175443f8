"""Errors that a person can act on."""

import errno
import os

LONGEST = 1000
"""Characters of a problem that are shown."""


FULL = "make room, then give the command again"
DISK = {
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
    seen: BaseException | None = error
    while seen is not None:
        for number, remedy in DISK.items():
            if getattr(seen, "errno", None) == number or os.strerror(number) in str(seen):
                place = f"{seen.filename}: " if isinstance(seen, OSError) and seen.filename else ""
                return f"{place}{os.strerror(number)} ({remedy})"
        seen = seen.__cause__ or seen.__context__
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
        super().__init__(f"{text} ({remedy})" if remedy else text)
        self.problem, self.file, self.row, self.remedy = problem, file, row, remedy
