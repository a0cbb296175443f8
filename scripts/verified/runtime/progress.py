"""Progress with counts and time left, as lines that read well on a terminal and in a log.

tqdm is unsuitable: its bar redraws itself by carriage returns, which become one endless line in a job's log.
"""

import logging
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

log = logging.getLogger("verified")
Item = TypeVar("Item")


def duration(seconds: float) -> str:
    """``75`` → ``1 min 15 s``."""
    seconds = round(seconds)
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60} s"
    return f"{seconds // 3600} h {seconds % 3600 // 60} min"


class Progress:
    """Counts finished items and logs a line at most every `every` seconds, and one at the end; none if `quiet`."""

    def __init__(self, label: str, total: int, unit: str = "items", every: float = 60.0, quiet: bool = False):
        self.label, self.total, self.unit, self.every, self.quiet = label, total, unit, every, quiet
        self.done = 0
        self.started = self.last = time.monotonic()

    def step(self, count: int = 1, note: str = "") -> None:
        """Report `count` more finished items; `note` (a loss, say) is appended to the line."""
        self.done += count
        now = time.monotonic()
        if now - self.last >= self.every and self.done < self.total:
            self.last = now
            self._line(now, note)

    def finish(self, note: str = "") -> None:
        """Log the closing line with the real count."""
        self._line(time.monotonic(), note)

    def _line(self, now: float, note: str) -> None:
        spent = max(now - self.started, 1e-9)
        rate = self.done / spent
        if self.done >= self.total:
            tail = f"done in {duration(spent)}"
        elif rate:
            tail = f"{duration((self.total - self.done) / rate)} left"
        else:
            tail = "time left unknown"
        share = f" ({100 * self.done / self.total:.0f} %)" if self.total else ""
        text = f"{self.label}: {self.done}/{self.total} {self.unit}{share}, {rate:.1f}/s, {tail}"
        if not self.quiet:
            log.info("%s%s", text, f", {note}" if note else "")


def track(items: Iterable[Item], label: str, total: int, unit: str = "items") -> Iterator[Item]:
    """Iterate over `items`, reporting each one after it has been processed."""
    progress = Progress(label, total, unit)
    for item in items:
        yield item
        progress.step()
    progress.finish()


class JobLines(logging.Handler):
    """Prints a line a minute on the finished jobs of this Snakemake, where its progress bars cannot be drawn."""

    def __init__(self, every: float = 60.0):
        super().__init__()
        self.every, self.started, self.line = every, time.monotonic(), "no job is finished yet"
        self.ended = threading.Event()
        threading.Thread(target=self._print, daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Note the numbers of an event of progress."""
        if getattr(record, "event", None) == "progress":
            self.line = f"{getattr(record, 'done', 0)} of {getattr(record, 'total', 0)} jobs are finished"

    def close(self) -> None:
        """End the lines."""
        self.ended.set()
        super().close()

    def _print(self) -> None:
        while not self.ended.wait(self.every):
            print(f"after {duration(time.monotonic() - self.started)}: {self.line}", file=sys.stderr, flush=True)


def print_progress() -> None:
    """Print `JobLines` if standard error is a file or a pipe; for `onstart`."""
    if not sys.stderr.isatty():
        logging.getLogger("snakemake.logging").addHandler(JobLines())
