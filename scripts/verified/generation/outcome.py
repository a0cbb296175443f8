"""What became of a call: one of five typed outcomes."""

import dataclasses
from typing import Any, Literal

Status = Literal["ok", "truncated", "invalid", "blocked", "error"]
STATUSES: tuple[Status, ...] = ("ok", "truncated", "invalid", "blocked", "error")


@dataclasses.dataclass(frozen=True)
class Parsed:
    """What the parser found in an answer.

    `items` are the captions, questions or answers in order; `sections` the named parts (background, foreground,
    description). `positions` gives for each item its 0-based place among all candidates that the answer held. `refused`
    lists candidates that must not be used, each with a reason. `missing` counts items and sections that were asked for
    and are not there; `form` names the format that was recognised.
    """

    items: tuple[str, ...] = ()
    sections: dict[str, str] = dataclasses.field(default_factory=dict)
    positions: tuple[int, ...] = ()
    refused: tuple[dict[str, str], ...] = ()
    missing: int = 0
    form: str = "none"

    @property
    def usable(self) -> bool:
        """Whether anything at all can be kept."""
        return bool(self.items) or any(self.sections.values())


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The outcome of one call, as kept in the ledger.

    Only ``ok`` is final. An ``ok`` with the reason ``short`` holds fewer parts than asked for, after all attempts.
    `attempts`, `tokens_in`, `tokens_out`, `seconds` and `cost` (in the currency of the configured prices) are totals.
    """

    key: str
    status: Status
    reason: str = ""
    detail: str = ""
    text: str = ""
    parsed: Parsed = Parsed()
    attempts: int = 1
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    cost: float = 0.0
    notes: dict[str, Any] = dataclasses.field(default_factory=dict)
    known: bool = False
    """Whether the ledger already held it when it was asked for."""
