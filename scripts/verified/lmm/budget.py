"""The hard stop: a limit on what the ledger may hold in calls, tokens or money.

A call is asked only if the most that it may take fits beside what was spent and what other calls under way may take, so
that a job does not exceed its budget. What other jobs have under way is not known: each may exceed it by that.
"""

import time
from collections.abc import Mapping

from verified.lmm.ledger import Ledger
from verified.lmm.outcome import NotNow
from verified.lmm.request import Request

LOOK_AGAIN_SECONDS = 20.0
"""Seconds after which the totals of the whole ledger are read again: other jobs spend from the same budget."""
LOOK_CLOSELY_SECONDS = 0.5
"""The same where less is left than FEW_CALLS may take."""
FEW_CALLS = 20
ROUNDING = 1e-9


class Budget:
    """Limits over the whole ledger; None means unlimited.

    `calls` counts attempts, `tokens` those in and out together, `money` the cost at the configured prices.
    """

    def __init__(self, ledger: Ledger, calls: int | None = None, tokens: int | None = None, money: float | None = None):
        self.ledger = ledger
        self.limits = {
            name: limit
            for name, limit in {"calls": calls, "tokens": tokens, "money": money}.items()
            if limit is not None
        }
        self.spent = {"calls": 0.0, "tokens": 0.0, "money": 0.0}
        self.reserved: dict[str, Mapping[str, float]] = {}
        self.looked = -LOOK_AGAIN_SECONDS

    def reserve(self, key: str, most: Mapping[str, float]) -> bool:
        """Whether a call that takes at `most` so much, by the name of the limit, may be asked; it is then reserved."""
        if not self.limits:
            return True
        if self._too_much(most):
            return False
        self.reserved[key] = most
        return True

    def release(self, key: str) -> None:
        """Nothing is reserved for a call any more."""
        self.reserved.pop(key, None)

    def add(self, row: dict) -> None:
        """Count an attempt of this job, in the place of what was reserved for it."""
        self.release(row["key"])
        self.spent["calls"] += row["attempts"]
        self.spent["tokens"] += row["tokens_in"] + row["tokens_out"]
        self.spent["money"] += row["cost"]

    def check(self, most: Mapping[str, float]) -> None:
        """Raise NotNow when a call that takes at `most` so much does not fit."""
        if self.limits and (name := self._too_much(most)):
            raise NotNow(
                "budget",
                f"the budget is reached: {self.spent[name]:g} of {self.limits[name]:g} {name}, and the next call may "
                f"take {most[name]:g}",
                file=self.ledger.path,
                remedy=f"all answers so far are kept; raise generation.budget.{name} and run again to continue",
            )

    def _too_much(self, most: Mapping[str, float]) -> str | None:
        """The limit that such a call might exceed."""
        waited = time.monotonic() - self.looked
        if waited >= LOOK_AGAIN_SECONDS or (waited >= LOOK_CLOSELY_SECONDS and self._exceeded(most, FEW_CALLS)):
            totals = self.ledger.totals()
            self.spent = {
                "calls": totals["attempts"],
                "tokens": totals["tokens_in"] + totals["tokens_out"],
                "money": totals["cost"],
            }
            self.looked = time.monotonic()
        return self._exceeded(most, 1)

    def _exceeded(self, most: Mapping[str, float], times: int) -> str | None:
        for name, limit in self.limits.items():
            under_way = sum(one[name] for one in self.reserved.values())
            if self.spent[name] + under_way + times * most[name] > limit * (1 + ROUNDING):
                return name
        return None


TEMPLATE_TOKENS = 64
"""Tokens that an engine may add to a prompt: roles and marks of a chat."""


def most_tokens(request: Request, pictures: float, most_seen: int) -> tuple[float, float]:
    """The most tokens that a call may take, (in, out).

    A token of text is at least one byte of UTF-8. `pictures` are the tokens of its pictures as far as a rule is known;
    `most_seen` is what the largest call so far took in, for where none is.
    """
    text = len(request.prompt.encode("utf-8", "replace")) + TEMPLATE_TOKENS
    return max(text + pictures, float(most_seen)), float(request.sampling.max_tokens)
