"""The report of the preflight checks: one line for each finding."""

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
