"""The outcome of a call: one of five types, and whether a retry is worthwhile."""

import dataclasses
import re
from typing import Any, Literal

from verified.errors import InputError

Status = Literal["ok", "truncated", "invalid", "blocked", "error"]
STATUSES: tuple[Status, ...] = ("ok", "truncated", "invalid", "blocked", "error")
SHORT = "short"
"""Reason of an ``ok`` that holds fewer parts than were asked for, after all attempts."""
PASSING = re.compile(r"connection|timeout|rate-limit|garbage|endpoint|outage|budget|batch|status-(?:408|409|425|5\d\d)")
"""Reasons of an ``error`` that depend on when a call was made and not on the call itself."""


def is_passing(status: str, reason: str) -> bool:
    """Whether a call that ended so is worth asking again: there is no answer yet, but there may be one later."""
    return status == "error" and PASSING.fullmatch(reason) is not None


class NotNow(InputError):
    """There is no answer for now; `reason` is ``outage``, ``budget`` or ``batch``. What was answered is kept."""

    def __init__(self, reason: str, problem: str, **where: Any):
        super().__init__(problem, **where)
        self.reason = reason


@dataclasses.dataclass(slots=True)  # not frozen, for a quote makes a million: that takes three times as long
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


@dataclasses.dataclass(slots=True)
class Outcome:
    """The outcome of one call, as kept in the ledger.

    An outcome is final unless it `passes`: a call whose endpoint was down has not been answered yet.
    `attempts`, `tokens_in`, `tokens_out`, `seconds` and `cost` (in the currency of the configured prices) are totals.
    """

    key: str
    status: Status
    reason: str = ""
    detail: str = ""
    text: str = ""
    parsed: Parsed = dataclasses.field(default_factory=Parsed)
    attempts: int = 1
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    cost: float = 0.0
    notes: dict[str, Any] = dataclasses.field(default_factory=dict)
    """Of the engine; ``thought`` is what the model thought before it answered, which `text` never holds."""
    known: bool = False
    """Whether the ledger already held it when it was asked for."""

    @property
    def passes(self) -> bool:
        """Whether the call is worth asking again."""
        return is_passing(self.status, self.reason)
