"""Setup of every workflow job: its log, its threads, and readable errors."""

import contextlib
import logging
import os
import re
import sys
import time
from collections.abc import Generator
from io import TextIOWrapper
from typing import Any

from verified.errors import InputError, disk_problem, visible
from verified.runtime.announcements import PARENT, temporary_outputs
from verified.runtime.gpu_leases import lease
from verified.runtime.processes import die_with, tie_children
from verified.runtime.secrets import redact
from verified.runtime.verify import job_checksums

ENVIRONMENT = {
    "OMP_WAIT_POLICY": "passive",
    "KMP_BLOCKTIME": "0",
    "TQDM_DISABLE": "1",
    "MALLOC_MMAP_THRESHOLD_": str(32 * 2**20),
    "MALLOC_TRIM_THRESHOLD_": str(512 * 2**20),
    "ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16",
}
"""Environment variables for a job's interpreter, because its libraries read them only at start.

A waiting compute thread sleeps instead of spinning (GNU's and LLVM's OpenMP): on a shared processor the spinning thread
would block the awaited one. Libraries draw no progress bars into logs. glibc keeps freed memory up to these sizes, the
first of which is its maximum: it would otherwise map, clear and return frames and tensors of some megabytes one by one.
oneDNN stays below AMX: some virtual machines report it and forbid it, and bfloat16 then ends in an illegal instruction.
"""


ENDS = re.compile(r"^\S+ (?:error: |the job )", re.M)
"""The last line of a job's log, unless the job was killed."""


class _Redacting(logging.Formatter):
    """Formatter that removes the secrets of this process, and characters on which a terminal would act."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(redact(super().format(record)))


class _LogFile(logging.FileHandler):
    """A log whose lines are written, or the job ends: by default, logging prints a traceback and goes on."""

    def _open(self) -> TextIOWrapper:
        """Open the file in its folder, which may be gone since, as after a kill of the run."""
        os.makedirs(os.path.dirname(self.baseFilename), exist_ok=True)
        return super()._open()

    def handleError(self, record: logging.LogRecord) -> None:
        raise  # noqa: PLE0704 (the error that was caught where this is called)


def log_to(path: str | None = None, mode: str = "w") -> logging.Logger:
    """Send the package's log to the file `path` (overwritten; with "a", extended), and its warnings to standard error.

    Without a path, all of it goes to standard error.
    """
    logger = logging.getLogger("verified")
    logger.setLevel(logging.INFO)
    for handler in [*logger.handlers]:
        logger.removeHandler(handler)
        handler.close()
    logger.propagate = False
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    if path:
        handlers[0].setLevel(logging.WARNING)
        handlers.append(_LogFile(path, mode=mode, encoding="utf-8"))
    for handler in handlers:
        handler.setFormatter(_Redacting("%(asctime)s %(message)s", "%H:%M:%S"))
        logger.addHandler(handler)
    return logger


def set_threads(threads: int) -> None:
    """Fix the number of compute threads (bytes depend on it, so it comes from the config, never from the machine).

    MKL would otherwise take no more threads than there are cores, and torch as many as MKL.
    """
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(threads)
    os.environ["MKL_DYNAMIC"] = "FALSE"
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)


def announce_parent() -> None:
    """Announce this process, a Snakemake on any machine, as the owner of its jobs, and pass `ENVIRONMENT`.

    Variables that the user has set are kept.
    """
    os.environ[PARENT] = str(os.getpid())
    take_environment()


def take_environment() -> None:
    """Set `ENVIRONMENT` for this process and its children; glibc reads its sizes at start, so they affect only
    children.

    Call it before torch is loaded. Variables that the user has set are kept.
    """
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)


def die_with_parent() -> None:
    """Have the kernel kill this process when the Snakemake that started it dies; exit if it is dead. Linux only.

    A shell between the two breaks the chain; bash since 5.1 replaces itself by the job. On other systems a job that
    outlives a killed Snakemake runs to its end.
    """
    die_with(int(os.environ.get(PARENT, os.getppid())), "the Snakemake that started this job is dead")


def _hide_script() -> None:
    """Keep spawned processes from running the main script: without `snakemake` it could only fail.

    Python's spawn runs the file of the main module in each child, so that its definitions exist there. Our scripts
    define nothing that a child needs; work for several processes is in the package. This works for every library that
    spawns (torch's launcher, vLLM), and no script needs a guard.
    """
    vars(sys.modules["__main__"]).pop("__file__", None)


def _job_checksums(snakemake: Any) -> contextlib.AbstractContextManager[None]:
    # Attributes may be missing where a test or a person calls the script.
    outputs: list[str] = list(getattr(snakemake, "output", ()))
    rule = getattr(snakemake, "rule", "")
    job = {"rule": rule, "wildcards": dict(getattr(snakemake, "wildcards", {}).items())}
    job |= {"params": getattr(snakemake, "params", ()), "temporary": temporary_outputs(rule, outputs)}
    return job_checksums(getattr(snakemake, "input", ()), outputs, **job)


@contextlib.contextmanager
def job(snakemake: Any, threads: int = 1, online: bool = False) -> Generator[logging.Logger]:
    """Run one workflow job: log to `snakemake.log[0]`, fix threads, print InputError, and errors of a disk,
    without a traceback.

    Inputs are checked before the block, and checksums of outputs are written after it (see `checksums`). A job gets as
    many GPUs of its own as its rule asks for with `gpu`, and sees no others (see `gpu_leases`). Processes that it
    forks, or starts by multiprocessing, die with it. Jobs run with the model hub disabled, so that they load only
    fetched models; `online` jobs may fetch. Import heavy packages inside the block: thread counts are read
    when they are loaded.
    """
    die_with_parent()
    tie_children()
    _hide_script()
    take_environment()
    if not online:
        os.environ["HF_HUB_OFFLINE"] = "1"
    set_threads(threads)
    logger = logging.getLogger("verified")
    gpus = getattr(getattr(snakemake, "resources", None), "gpu", 0)
    try:
        log_to(str(snakemake.log[0]) if snakemake.log else None)
        with lease(gpus), _job_checksums(snakemake):
            started = time.monotonic()
            yield logger
        logger.info("the job took %.1f s", time.monotonic() - started)
    except Exception as error:
        problem = str(error) if isinstance(error, InputError) else disk_problem(error)
        with contextlib.suppress(OSError):  # the log may be on the full disk
            if problem is None:
                logger.exception("the job failed; the traceback below is for the maintainers")
            else:
                logger.error("error: %s", problem)
        if problem is None:
            raise
        sys.exit(1)
