"""What a job's child processes inherit: they die with it, however it ends, and hold none of its locks.

A SIGKILL gives a job no time to end what it started, and an engine of vLLM that lives on keeps its GPU. A forked child
shares the lock files of its parent besides, so that their locks would outlive the job as well.
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
from collections.abc import Callable
from typing import Any

PR_SET_PDEATHSIG = 1  # linux/prctl.h
CHECK_SECONDS = 0.5

_forking = threading.local()
_locks: dict[int, os.stat_result] = {}
"""File descriptors of this process that hold its locks, and the files that they were opened on."""


def hold_alone(descriptor: int) -> None:
    """Keep the lock on an open file from forked children: theirs leads nowhere. Those of exec are closed by it."""
    _locks[descriptor] = os.fstat(descriptor)


def _drop_locks() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for descriptor, locked in _locks.items():
        with contextlib.suppress(OSError):  # closed meanwhile
            if os.path.samestat(os.fstat(descriptor), locked):  # else its number was given to another file
                os.dup2(nowhere, descriptor, inheritable=False)  # not closed: the object that will is copied, too
    os.close(nowhere)
    _locks.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_drop_locks)


def die_with(parent: int, message: str = "the process that started this one is dead") -> None:
    """Have the kernel kill this process when the one that started it dies; exit if `parent` is dead. Linux only.

    The kernel means the thread that started this process: it has to live as long as its process.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent and not runs(parent):  # it died before this process could ask
        sys.exit(message)


def runs(pid: int) -> bool:
    """Whether there is a process `pid` that is not dead, buried or not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            state = file.read().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


@functools.cache
def tie_children() -> None:
    """From now on, forked children and those of multiprocessing, and theirs in turn, die with the one that made them.

    Also where they lead a session of their own (setsid). Other programs (subprocess) are not tied.
    """
    if sys.platform != "linux":
        return
    os.register_at_fork(before=_note_parent, after_in_child=_tie_forked)
    start = multiprocessing.process.BaseProcess.start

    @functools.wraps(start)
    def tied(self: Any) -> None:
        # A spawned child begins with an interpreter of its own, to which only what it is to run is handed.
        if not isinstance(self._target, _Tied):
            self._target = _Tied(self._target, os.getpid(), _in_main_thread())
        start(self)

    multiprocessing.process.BaseProcess.start = tied


class _Tied:
    """What a process of multiprocessing runs, after it is tied to the process that started it."""

    def __init__(self, target: Callable[..., object] | None, parent: int, by_main_thread: bool):
        self.target, self.parent, self.by_main_thread = target, parent, by_main_thread

    def __call__(self, *args: Any, **options: Any) -> None:
        if not tie_children.cache_info().currsize:  # spawned: a forked one is tied, and so are its children
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
    """By the kernel, or, as that would take the end of a thread for the end of the parent, by looking now and then."""
    if not by_main_thread:
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()
        return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent and not runs(parent):  # it died meanwhile; after a fork, no exception would get through
        os._exit(1)


def _watch(parent: int) -> None:
    while runs(parent):
        time.sleep(CHECK_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)
