"""What the checks before a run report: one line each."""

from typing import Literal, NamedTuple

Level = Literal["ok", "note", "problem"]


class Finding(NamedTuple):
    """ok: as it should be; note: a run works without it; problem: a run stops there. `remedy` says what to do."""

    level: Level
    key: str
    message: str
    remedy: str = ""

    def __str__(self) -> str:
        text = f"{self.level:<8} {self.key}: {self.message}"
        return " ".join((f"{text} ({self.remedy})" if self.remedy else text).split("\n"))
