"""The ledger of a run whose results are in a bucket: its parts travel while jobs work, its file between runs.

Each Snakemake that runs jobs, in a pod or on a machine of its own, has a ledger in its working directory. Parts that
grew there go to the bucket every few seconds, others come from it: an answer is asked for once, a budget counts all
jobs, and a pod that dies costs seconds of answers. Nobody folds parts in meanwhile (`KEEP`). The Snakemake that a user
started does so when it ends; only then is the file stored, and after it the parts that it holds are removed.
"""

import atexit
import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path

from verified.lmm import ledger_file, ledger_parts
from verified.runtime.bucket import Bucket
from verified.runtime.seals import BUILT

SECONDS = 5.0
"""Between two exchanges of parts."""
PATIENCE = 60.0
"""Seconds that the end of a run waits for commands which are changing the ledger."""

log = logging.getLogger("verified")


class SharedLedger:
    """The ledger `name`, a path in the working directory, and its copy in a bucket."""

    def __init__(self, bucket: Bucket, name: Path):
        self.bucket, self.name, self.path = bucket, name.as_posix(), bucket.here / name
        self.folder = ledger_parts.folder_of(name).as_posix()

    def begin(self) -> None:
        """Copy the file here, or there: the later one, as it holds all that the other one does."""
        there = self._stored_at()
        here = self.path.stat().st_mtime if ledger_file.is_made(self.path) else 0.0
        if there > here:
            self.bucket.fetch(self.name)
        elif here > there:
            self._store()
        self.exchange()

    def exchange(self) -> None:
        """Copy parts that have grown, in either direction; each grows at one place."""
        there = self.bucket.entries(f"{self.folder}/")
        here = {f"{self.folder}/{part}": size for part, size in ledger_parts.sizes(self.path).items()}
        for part in sorted(here.keys() | there.keys()):
            size, stored = here.get(part, 0), there[part][0] if part in there else 0
            if size > stored:
                self.bucket.store(part)
            elif size < stored:
                self.bucket.fetch(part)

    def end(self) -> None:
        """Fold in what has ended, store the file, and remove the parts that it holds."""
        self.exchange()
        if stored := self.bucket.entries(f"{self.folder}/"):
            ledger_file.rewrite(self.path, PATIENCE)
            self._store()
            left = ledger_parts.sizes(self.path)
            for part in stored:
                if Path(part).name not in left:
                    self.bucket.remove(part)

    def _stored_at(self) -> float:
        entries = self.bucket.entries(self.name)
        return entries[self.name][1] if self.name in entries else 0.0

    def _store(self) -> None:
        self.bucket.store(self.name)
        time = self._stored_at()
        os.utime(self.path, (time, time))


def share_ledger(bucket: Bucket, path: Path, started_by_user: bool) -> None:
    """Share a ledger below `results` with the bucket from now until this process ends.

    `started_by_user`: this is not the Snakemake of one job; it folds the parts in at its end.
    """
    if path.parts[0] != BUILT:
        return  # on a file system that all jobs see
    ledger, stopped = SharedLedger(bucket, path), threading.Event()
    ledger.begin()
    os.environ[ledger_parts.KEEP] = "1"

    def exchange() -> None:
        while not stopped.wait(SECONDS):
            _try(ledger.exchange, path)

    def end() -> None:
        stopped.set()
        thread.join()
        del os.environ[ledger_parts.KEEP]
        _try(ledger.end if started_by_user else ledger.exchange, path)

    thread = threading.Thread(target=exchange, daemon=True, name="ledger")
    thread.start()
    atexit.register(end)


def _try(step: Callable[[], None], path: Path) -> None:
    """Do it; what the network does not let through now is tried again, and stays here until then."""
    try:
        step()
    except Exception as error:
        log.warning("%s: answers wait here for their way to the bucket: %s", ledger_parts.folder_of(path), error)
