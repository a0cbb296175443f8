"""Processes and threads of a job: child processes, preemption, prefetching.

Child processes die with their job, however it ends: a SIGKILL gives a job no time to end its children, and a surviving
vLLM engine keeps its GPU.

Preemption: a scheduler sends SIGTERM, waits (SLURM: `KillWait`, 30 s), and kills.
"""

import contextlib
import ctypes
import functools
import multiprocessing.process
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import FrameType
from typing import Any, TypeVar

PR_SET_PDEATHSIG = 1  # linux/prctl.h
CHECK_SECONDS = 0.5

_forking = threading.local()


def die_with(parent: int, message: str = "the process that started this one is dead") -> None:
    """Have the kernel kill this process when the one that started it dies; exit if `parent` is dead. Linux only.

    For the kernel, the parent is the thread that started this process; it must live as long as its process.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent and not runs(parent):  # the parent died before this call
        os.write(2, f"{message}\n".encode())
        os._exit(1)  # no exception leaves a fork


def start_of(pid: int) -> str:
    """The start of a live process in the kernel's clock ticks; "0" if there is none, or no /proc. Zombies are dead."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return "0"
    return "0" if fields[0] in "ZX" else fields[19]


def runs(pid: int) -> bool:
    """Whether the process `pid` is alive."""
    return start_of(pid) != "0"


@functools.cache
def tie_children() -> None:
    """From now on, forked and multiprocessing children, and their descendants, die with their parent.

    This includes children in a session of their own (setsid), but no other programs (subprocess).
    """
    if sys.platform != "linux":
        return
    os.register_at_fork(before=_note_parent, after_in_child=_tie_forked)
    start = multiprocessing.process.BaseProcess.start

    @functools.wraps(start)
    def tied(self: Any) -> None:
        # A spawned child starts a new interpreter, which receives only its target.
        if not isinstance(self._target, _Tied):
            self._target = _Tied(self._target, os.getpid(), _in_main_thread())
        start(self)

    multiprocessing.process.BaseProcess.start = tied


class _Tied:
    """The target of a multiprocessing process, run after the process is tied to its parent."""

    def __init__(self, target: Callable[..., object] | None, parent: int, by_main_thread: bool):
        self.target, self.parent, self.by_main_thread = target, parent, by_main_thread

    def __call__(self, *args: Any, **options: Any) -> None:
        if not tie_children.cache_info().currsize:  # spawned: forked processes and their children are already tied
            tie_children()
            _tie(self.parent, self.by_main_thread)
        if self.target is not None:
            self.target(*args, **options)


def _in_main_thread() -> bool:
    return threading.get_native_id() == os.getpid()


def _note_parent() -> None:
    _forking.parent, _forking.by_main_thread = os.getpid(), _in_main_thread()


def _tie_forked() -> None:
    _tie(_forking.parent, _forking.by_main_thread)


def _tie(parent: int, by_main_thread: bool) -> None:
    """Tie by the kernel if the parent's main thread forked, else by polling: the kernel would take the end of another
    thread for the parent's."""
    if by_main_thread:
        die_with(parent)
    else:
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while runs(parent):
        time.sleep(CHECK_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)


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


Item = TypeVar("Item")


def prefetch(items: Iterable[Item], depth: int = 2) -> Iterator[Item]:
    """Yield `items` in their order while up to `depth` more are being produced in a thread.

    Useful if producer and consumer both leave Python (decoding, a network). An exception of the producer is raised in
    the consumer at the same point; a consumer that stops early stops the producer at its next item.
    """
    producer, end = iter(items), object()
    thread = ThreadPoolExecutor(1, thread_name_prefix="ahead")
    try:
        waiting: deque[Any] = deque(thread.submit(next, producer, end) for _ in range(depth + 1))
        while (item := waiting.popleft().result()) is not end:
            waiting.append(thread.submit(next, producer, end))
            yield item
    finally:
        thread.shutdown(cancel_futures=True)
