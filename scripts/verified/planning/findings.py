"""Findings of the checks before a run, and the inputs that they are about."""

from typing import Literal, NamedTuple

Level = Literal["ok", "note", "problem"]


class Finding(NamedTuple):
    """ok: the check passed; note: a run works anyway; problem: a run stops. `remedy` is the fix."""

    level: Level
    key: str
    message: str
    remedy: str = ""

    def __str__(self) -> str:
        text = f"{self.level:<8} {self.key}: {self.message}"
        return " ".join((f"{text} ({self.remedy})" if self.remedy else text).split("\n"))


class Problem(NamedTuple):
    """The configuration key, the problem, and the remedy."""

    key: str
    message: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.key}: {self.message} ({self.remedy})"


class Supplied(NamedTuple):
    """The configuration's key, the path in it, and the first output that a rule makes from it."""

    key: str
    path: str
    is_folder: bool
    made: str
