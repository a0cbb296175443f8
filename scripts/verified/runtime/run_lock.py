"""Locks on a folder that end with the processes that hold them: a killed run leaves nothing to clean up by hand.

Snakemake marks its working folder by files in .snakemake/locks. A SIGKILL leaves them behind, and the next run would be
refused until somebody runs --unlock. Each run, and each of its jobs, therefore holds a lock of the operating system for
as long as it lives. A run that finds Snakemake's marks but no live process behind them cancels what the lost run still
has in SLURM's queue, waits for its last jobs to end, and removes the marks. While a run is alive the marks stay, and
Snakemake refuses a second one. Where the file system has no locks, or the marks were made on another machine (locks of
some network file systems do not reach that far), the marks stay as well, and `snakemake --unlock` is needed.
"""

import contextlib
import fcntl
import platform
import re
import shutil
import subprocess
import time
from collections.abc import Generator
from pathlib import Path
from typing import IO

from verified.errors import InputError
from verified.runtime.children import hold_alone

RUN, JOBS = "run.lock", "jobs.lock"
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
# Files of this process that hold its locks; closing one, or the end of the process however it comes, gives it up.
_held: list[IO[str]] = []


def enter(folder: Path, patience: float = 120.0) -> str | None:
    """Hold the lock of a run in `folder` (Snakemake's own, .snakemake) until this process ends.

    Marks of a dead run are removed first; returns a message about it, or None. Raises InputError when jobs of
    that run are still at work after `patience` seconds.
    """
    marks, message = folder / "locks", None
    with contextlib.suppress(OSError):  # no locks on this file system, or no right to write here
        folder.mkdir(parents=True, exist_ok=True)
        lock_file = (folder / RUN).open("a+", encoding="utf-8")
        _held.append(lock_file)
        hold_alone(lock_file.fileno())
        try:
            if not _has_marks(marks):
                _note_machine(lock_file)
            elif _machine(lock_file) == platform.node() and _alone(lock_file, 1.0):
                _end_jobs(folder, patience)
                shutil.rmtree(marks)
                message = "An earlier run here was killed; its lock is removed."
        finally:
            fcntl.flock(lock_file, fcntl.LOCK_SH)
    return message


def is_at_work(folder: Path) -> bool:
    """Whether a run or one of its jobs is alive in `folder` on this machine."""
    for name in (RUN, JOBS):
        with contextlib.suppress(FileNotFoundError), (folder / name).open("r+") as lock_file:
            try:
                fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
    return False


@contextlib.contextmanager
def working(folder: Path = Path(".snakemake")) -> Generator[None]:
    """Hold the lock of a job in `folder`, if there is one (a job started by hand needs none)."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            lock_file = stack.enter_context((folder / JOBS).open("a+"))
            hold_alone(lock_file.fileno())
            fcntl.flock(lock_file, fcntl.LOCK_SH)
        yield


def _has_marks(marks: Path) -> bool:
    return marks.is_dir() and any(marks.iterdir())


def _machine(lock_file: IO[str]) -> str:
    lock_file.seek(0)
    return lock_file.read()


def _note_machine(lock_file: IO[str]) -> None:
    lock_file.truncate(0)
    lock_file.write(platform.node())
    lock_file.flush()


def _alone(lock_file: IO[str], patience: float) -> bool:
    """Get an exclusive lock; other holders may be about to end, or only be checking."""
    end = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() > end:
                return False
            time.sleep(0.1)


def _end_jobs(folder: Path, patience: float) -> None:
    """Cancel the lost run's jobs in SLURM's queue and wait until neither there nor here any is left."""
    end = time.monotonic() + patience
    while queued := _queued_jobs(folder):
        # The signal reaches those that run, the second call those that wait.
        for options in (["--full", "--signal", "KILL"], []):
            subprocess.run(["scancel", *options, *queued], check=False, capture_output=True)
        if time.monotonic() > end:
            break
        time.sleep(1.0)
    with (folder / JOBS).open("a+") as jobs:
        if queued or not _alone(jobs, end - time.monotonic()):
            raise InputError(
                "jobs of an earlier run, which was killed, are still at work here",
                remedy="wait for them, or end them, and start again",
            )


def _queued_jobs(folder: Path) -> list[str]:
    """Numbers of the jobs that SLURM still has of runs in this folder.

    Snakemake gives them a UUID as name and the folder as working directory. Its own list of unfinished files is
    not enough: a run may be killed after a job was submitted and before its number was noted.
    """
    if not (folder / "slurm_logs").is_dir():  # no run here has used SLURM
        return []
    listed = subprocess.run(["squeue", "--me", "--noheader", "--format", "%A %j %Z"], capture_output=True, text=True)
    if listed.returncode:
        raise InputError(
            f"an earlier run here was killed, and SLURM does not say what became of its jobs: {listed.stderr.strip()}",
            remedy="try again; when no job is left, `snakemake --unlock` frees the folder",
        )
    here = str(folder.resolve().parent)
    jobs = [line.split(" ", 2) for line in listed.stdout.splitlines()]
    return [number for number, name, directory in jobs if UUID.search(name) and directory == here]
