"""Hard limits on the ledger's calls, tokens or money.

A call is made only if its largest possible cost fits the budget after all costs so far and the largest costs of all
running calls, including other jobs'. So simultaneous jobs, on one machine or several, do not exceed the budget
together. Their costs and running calls are in a file among the ledger's parts, which one job at a time changes.
"""

import contextlib
import itertools
import json
import time
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

from verified.io.files import write_text
from verified.lmm.ledger import Ledger
from verified.lmm.ledger_files import explain
from verified.lmm.request import NotNow, Request
from verified.runtime.lock_file import exclusive, has_ended, owner

LOOK_AGAIN_SECONDS = 20.0
"""Seconds after which the totals of the whole ledger are read again: jobs without a budget spend as well."""
SILENT = 3600.0
"""Seconds after which a silent job of another machine counts as ended."""
WAIT, MOST_WAITED = 0.2, 600.0
"""Seconds between two looks whether other jobs' calls took less than they might, and after which looking ends."""
ROUNDING = 1e-9
NAMES: tuple[str, ...] = ("calls", "tokens", "money")

_numbers = itertools.count(1)


class Budget:
    """Limits over the whole ledger; None means unlimited.

    `calls` counts attempts, `tokens` those in and out together, `money` the cost at the configured prices.
    """

    def __init__(self, ledger: Ledger, calls: int | None = None, tokens: int | None = None, money: float | None = None):
        self.ledger = ledger
        self.limits = {
            name: limit for name, limit in zip(NAMES, (calls, tokens, money), strict=True) if limit is not None
        }
        self.name = f"{owner()}-{next(_numbers)}"
        self.spent = dict.fromkeys(NAMES, 0.0)
        self.others = dict.fromkeys(NAMES, 0.0)
        """Largest costs of running calls of other jobs."""
        self.reserved: dict[str, Mapping[str, float]] = {}
        self.looked = -LOOK_AGAIN_SECONDS
        if self.limits:
            ledger.totals()  # reads every line, once: not while others wait

    @property
    def file(self) -> Path:
        """File of all jobs' costs and running calls."""
        return self.ledger.path / "budget.json"

    @property
    def pending(self) -> dict[str, float]:
        """Largest costs of running calls of this job: the sums of `reserved`."""
        return {name: sum(most[name] for most in self.reserved.values()) for name in NAMES}

    def reserve(self, key: str, most: Mapping[str, float]) -> bool:
        """Reserve `most`, the largest costs of a call by the name of the limit; returns whether they fit."""
        if not self.limits:
            return True
        with self._shared():
            if self._exceeded(most, self.others):
                return False
            self.reserved[key] = most
        return True

    def release(self, key: str) -> None:
        """Drop the reservation of a call."""
        if key in self.reserved:
            with self._shared():
                del self.reserved[key]

    @contextlib.contextmanager
    def recording(self, row: Mapping[str, Any]) -> Generator[None]:
        """Count an attempt of this job that the block records, replacing its reservation."""
        if not self.limits:
            yield
            return
        with self._shared() as spent:
            yield
            taken = (row["attempts"], row["tokens_in"] + row["tokens_out"], row["cost"])
            spent.update({name: spent[name] + amount for name, amount in zip(NAMES, taken, strict=True)})
            self.reserved.pop(row["key"], None)

    def check(self, most: Mapping[str, float]) -> None:
        """Raise NotNow when a call of cost at most `most` does not fit, for any cost of other jobs' calls."""
        end = time.monotonic() + MOST_WAITED
        while self.limits:
            with self._shared():
                if not self._exceeded(most, self.others):
                    return
                name = self._exceeded(most, dict.fromkeys(NAMES, 0.0))
            if name or time.monotonic() > end:
                name = name or next(iter(self.limits))
                raise NotNow(
                    "budget",
                    f"the budget is reached: {self.spent[name]:g} of {self.limits[name]:g} {name}, and the next call "
                    f"may take {most[name]:g}",
                    file=self.ledger.path,
                    remedy=f"all answers so far are kept; raise generation.budget.{name} and run again to continue",
                )
            time.sleep(WAIT)

    def close(self) -> None:
        """Release all reservations."""
        if not self.limits:
            return
        self.reserved.clear()
        with self._shared(last=True):
            pass

    @contextlib.contextmanager
    def _shared(self, last: bool = False) -> Generator[dict[str, float]]:
        """Costs of all jobs, to be added to, with `spent` and `others` up to date; other jobs are locked out."""
        with exclusive(self.file.with_name("budget.lock")):
            spent, jobs = self._read()
            living = {name: job for name, job in jobs.items() if not _is_over(name, job["heard"])}
            # A killed job may have recorded calls that it did not count here.
            is_current = self.name in living and len(living) == len(jobs)
            if not is_current or time.monotonic() - self.looked >= LOOK_AGAIN_SECONDS:
                totals = self.ledger.totals()
                held = totals["attempts"], totals["tokens_in"] + totals["tokens_out"], totals["cost"]
                # Answers of another machine may be counted before its file server shows them.
                counted = spent if living else {}
                spent = {name: max(counted.get(name, 0.0), amount) for name, amount in zip(NAMES, held, strict=True)}
                self.looked = time.monotonic()
            living.pop(self.name, None)
            self.spent = spent
            self.others = {name: sum(job["under_way"][name] for job in living.values()) for name in NAMES}
            try:
                yield spent
            finally:
                if not last:
                    living[self.name] = {"heard": time.time(), "under_way": self.pending}
                self._write(spent, living)

    def _read(self) -> tuple[dict[str, float], dict[str, Any]]:
        """The costs so far, and the jobs by name, as last written."""
        try:
            state = json.loads(self.file.read_text(encoding="utf-8"))
            return state["spent"], state["jobs"]
        except (OSError, ValueError, KeyError, TypeError):  # no file, or a foreign one: everything is counted again
            return {}, {}

    def _write(self, spent: Mapping[str, float], jobs: Mapping[str, Any]) -> None:
        try:
            if jobs:
                write_text(self.file, json.dumps({"spent": spent, "jobs": jobs}))
            else:
                self.file.unlink(missing_ok=True)
        except OSError as error:
            raise explain(error, self.file) from None

    def _exceeded(self, most: Mapping[str, float], others: Mapping[str, float]) -> str | None:
        """The limit that such a call might exceed."""
        for name, limit in self.limits.items():
            if self.spent[name] + self.pending[name] + others[name] + most[name] > limit * (1 + ROUNDING):
                return name
        return None


def _is_over(name: str, last_seen: float) -> bool:
    return has_ended(name.rpartition("-")[0]) or abs(time.time() - last_seen) > SILENT


TEMPLATE_TOKENS = 64
"""Tokens that an engine may add to a prompt: roles and marks of a chat."""


def most_tokens(request: Request, pictures: float, most_seen: int) -> tuple[float, float]:
    """The most tokens that a call may take, (in, out).

    A token of text is at least one byte of UTF-8. `pictures` are the tokens of its pictures if a rule is known;
    `most_seen`, the input of the largest call so far, is used otherwise.
    """
    text = len(request.prompt.encode("utf-8", "replace")) + TEMPLATE_TOKENS
    return max(text + pictures, float(most_seen)), float(request.sampling.max_tokens)
