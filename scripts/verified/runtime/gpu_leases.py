"""GPU leases: a local job that asks for a GPU gets one to itself by locking a file.

Snakemake counts `gpu` resources on one machine but does not assign devices to jobs. The operating system releases a
lock with the process that holds it, however that process ends, so a lease needs no clean-up; POSIX's locks are not
inherited by children. Assignments of schedulers are respected: only the devices named in
CUDA_VISIBLE_DEVICES are leased. SLURM counts devices from 0 in each allocation, so there only those of the allocation
are leased, and only its jobs share locks.
"""

import contextlib
import fcntl
import getpass
import logging
import os
import tempfile
import time
from collections.abc import Generator, Sequence
from pathlib import Path

from verified.errors import InputError

log = logging.getLogger("verified")

VISIBLE = "CUDA_VISIBLE_DEVICES"
ALIASES = ("HIP_VISIBLE_DEVICES",)
"""ROCm's name for CUDA_VISIBLE_DEVICES."""
OF_SLURM = ("SLURM_STEP_GPUS", "SLURM_JOB_GPUS")
"""SLURM's variables with the devices of a step, or of the whole allocation."""
NONE = ("", "-1", "NoDevFiles")
"""Values that mean no device; older versions of SLURM wrote the last one."""
RETRY_SECONDS = 0.5


@contextlib.contextmanager
def lease(
    count: int,
    devices: Sequence[str] | None = None,
    folder: str | os.PathLike[str] | None = None,
    patience: float = 3600.0,
) -> Generator[list[str]]:
    """Hold `count` devices, make them the only visible ones (CUDA_VISIBLE_DEVICES), and yield their names.

    Call it before any use of the GPU. `devices` are those of the machine by default (see `machine_devices`); `folder`
    holds the lock files, by default one for each user of the machine. Waits up to `patience` seconds for others to
    finish. With `count` 0 nothing is leased and no device stays visible. Raises InputError if there are fewer than
    `count` devices or the wait is too long.
    """
    names = list(machine_devices() if devices is None else devices)
    if count > len(names):
        raise InputError(
            f"{count} GPUs are asked for and {len(names)} are here",
            remedy="set `gpu` of this stage to as many as there are; under SLURM, see that the partition gives GPUs",
        )
    before = {name: os.environ.get(name) for name in (VISIBLE, *ALIASES)}
    with contextlib.ExitStack() as locks:
        leased = _wait(count, names, Path(folder or lock_folder()), locks, patience) if count else []
        os.environ |= dict.fromkeys(before, ",".join(leased))
        if leased:
            log.info("GPU %s", ", ".join(leased))
        try:
            yield leased
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value


def machine_devices() -> list[str]:
    """Devices this process may use: those in CUDA_VISIBLE_DEVICES, else those assigned by SLURM, else all.

    For ROCm, those in HIP_VISIBLE_DEVICES. "All" are the NVIDIA devices of the machine; in an allocation of SLURM
    without any of these variables, there are none.
    """
    for variable in (VISIBLE, *ALIASES, *OF_SLURM):
        if variable in os.environ:
            return [name.strip() for name in os.environ[variable].split(",") if name.strip() not in NONE]
    if "SLURM_JOB_ID" in os.environ:
        return []
    numbers = (path.name.removeprefix("nvidia") for path in Path("/dev").glob("nvidia[0-9]*"))
    return sorted((number for number in numbers if number.isdigit()), key=int)


def lock_folder() -> Path:
    """The folder of the lock files of this user, or of this SLURM allocation."""
    shared = os.environ.get("SLURM_JOB_ID", "local")
    return Path(tempfile.gettempdir(), f"verified-gpus-{getpass.getuser()}-{shared}")


def _wait(count: int, names: list[str], folder: Path, locks: contextlib.ExitStack, patience: float) -> list[str]:
    """Lock `count` of `names`, all or none at a time, so that two jobs never wait for each other."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    started = time.monotonic()
    while True:
        with contextlib.ExitStack() as attempt:
            leased: list[str] = []
            for name in names:
                if len(leased) < count and _lock(folder / f"{name.replace('/', '-')}.lock", attempt):
                    leased.append(name)
            if len(leased) == count:
                locks.push(attempt.pop_all())
                return leased
        if time.monotonic() - started > patience:
            raise InputError(
                f"no {count} of the GPUs {', '.join(names)} became free in {patience:.0f} s",
                remedy="see who holds them with nvidia-smi, or run fewer jobs at a time",
            )
        time.sleep(RETRY_SECONDS)


def _lock(path: Path, attempt: contextlib.ExitStack) -> bool:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # as POSIX leaves it to the system
        os.close(handle)
        return False
    attempt.callback(os.close, handle)
    return True
