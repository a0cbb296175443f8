"""Two ways of doing one thing, measured in turns on a machine that has other work.

Seconds are processor seconds, user and system, of all threads: wall time says nothing beside neighbours. The sides take
turns, so that a slow minute falls on all of them; the median of the turns is what counts.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

TURNS = 5


def processor_seconds(work: Callable[[], object]) -> float:
    """Seconds that `work` takes in this process, all threads together."""
    began = time.process_time()
    work()
    return time.process_time() - began


def compare(title: str, sides: dict[str, Callable[[], float]], turns: int = TURNS) -> dict[str, float]:
    """Call each side in turn, print and return the medians of what they return, and their ratio to the first."""
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(turns):
        for name, side in sides.items():
            seconds[name].append(side())
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    first = next(iter(medians.values()))
    for name, median in medians.items():
        spread = f"{min(seconds[name]):.3f} to {max(seconds[name]):.3f}"
        print(f"{title:<34}{name:<22}{median:9.3f} CPU-s ({spread}), ratio {median / first:.2f}", flush=True)
    return medians


def child(script: str, *arguments: str, environment: dict[str, str] | None = None, without: tuple[str, ...] = ()):
    """Run `script ARGUMENTS` in a new interpreter and return the words of its last line of output.

    `environment` is added to that of this process and `without` taken from it, before the interpreter starts.
    """
    inherited = {name: value for name, value in os.environ.items() if name not in without}
    command = [sys.executable, script, *arguments]
    run = subprocess.run(
        command, env={**inherited, **(environment or {})}, check=True, stdout=subprocess.PIPE, text=True
    )
    return run.stdout.splitlines()[-1].split()


def here(file: str) -> str:
    """Put the package beside a benchmark on its path, and return the benchmark's own path."""
    path = Path(file).resolve()
    sys.path.insert(0, str(path.parents[1] / "scripts"))
    return str(path)
