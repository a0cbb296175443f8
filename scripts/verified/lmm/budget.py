"""The hard stop: a limit on what the ledger may hold in calls, tokens or money."""

import time

from verified.lmm.ledger import Ledger
from verified.lmm.outcome import NotNow

LOOK_AGAIN_SECONDS = 20.0
"""Seconds after which the totals of the whole ledger are read again: other jobs spend from the same budget."""


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
        self.looked = -LOOK_AGAIN_SECONDS

    def allows(self, flying: int = 0) -> bool:
        """Whether another call may be asked beside `flying` ones, whose tokens and cost are not known yet."""
        if not self.limits:
            return True
        if time.monotonic() - self.looked >= LOOK_AGAIN_SECONDS:
            totals = self.ledger.totals()
            self.spent = {
                "calls": totals["attempts"],
                "tokens": totals["tokens_in"] + totals["tokens_out"],
                "money": totals["cost"],
            }
            self.looked = time.monotonic()
        spent = self.spent | {"calls": self.spent["calls"] + flying}
        return all(spent[name] < limit for name, limit in self.limits.items())

    def add(self, row: dict) -> None:
        """Count an attempt of this job."""
        self.spent["calls"] += row["attempts"]
        self.spent["tokens"] += row["tokens_in"] + row["tokens_out"]
        self.spent["money"] += row["cost"]

    def check(self) -> None:
        """Raise NotNow when nothing is left."""
        if not self.allows():
            name = next(name for name, limit in self.limits.items() if self.spent[name] >= limit)
            raise NotNow(
                "budget",
                f"the budget is reached: {self.spent[name]:g} of {self.limits[name]:g} {name}",
                file=self.ledger.path,
                remedy=f"all answers so far are kept; raise generation.budget.{name} and run again to continue",
            )
