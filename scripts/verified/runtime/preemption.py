"""A job that is to give up its place: a scheduler sends SIGTERM, waits (SLURM: `KillWait`, 30 s), and kills."""

import contextlib
import signal
import threading
from collections.abc import Callable, Generator
from types import FrameType

ENDED = 128 + signal.SIGTERM
"""Exit status of what ended because it was asked to, as shells have it."""


@contextlib.contextmanager
def noticing_sigterm() -> Generator[Callable[[], bool]]:
    """In the block, SIGTERM ends nothing; yields a function that says whether it came. Whoever asks for this looks at
    that between two steps of its work. Outside of the main thread, which alone gets signals, nothing changes."""
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
