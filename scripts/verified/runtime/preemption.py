"""Preemption of a job: a scheduler sends SIGTERM, waits (SLURM: `KillWait`, 30 s), and kills."""

import contextlib
import signal
import threading
from collections.abc import Callable, Generator
from types import FrameType

ENDED = 128 + signal.SIGTERM
"""Exit status of a process that ended on SIGTERM, as in shells."""


@contextlib.contextmanager
def noticing_sigterm() -> Generator[Callable[[], bool]]:
    """Inside the block, record SIGTERM instead of ending; yields a function that returns whether it came. The caller
    polls it between two steps of its work. Without effect outside of the main thread, as only that gets signals."""
    came = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield came.is_set
        return

    def notice(number: int, frame: FrameType | None) -> None:
        came.set()

    before = signal.signal(signal.SIGTERM, notice)
    try:
        yield came.is_set
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)
