"""The figures of docs/speed.md in one run: every benchmark that takes its sides in turns, five of each.

    python -m benchmarks                            # all; the whole was never timed
    python -m benchmarks --only imports captions    # some of them

Each runs in an interpreter of its own and says in its head what it compares. What it printed, and how long it took, is
kept in benchmarks/results/speed.txt. The run stops where a benchmark fails: where two sides differ in a byte, say.
"""

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
KEPT = FOLDER / "results" / "speed.txt"
RUNS = {
    "imports": "what a job pays before its work, beside the libraries behind it and an interpreter that imports torch",
    "captions": "sentence vectors beside batches as they come and the limit of arithmetic, spaCy beside all of it",
    "networks": "networks at the paper's widths beside MKL and the arithmetic limit",
    "environment": "search, training, sampling and keyframes beside jobs without their environment",
}
"""Benchmark → what it is compared with."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(RUNS), default=list(RUNS), metavar="NAME")
    KEPT.parent.mkdir(exist_ok=True)
    with KEPT.open("w", encoding="utf-8") as kept:
        for name in parser.parse_args().only:
            run(name, kept)


def run(name: str, kept) -> None:
    """Run one benchmark, its lines to standard output and to the open file `kept`. Raises SystemExit if it fails."""

    def tell(line: str) -> None:
        print(line, flush=True)
        kept.write(f"{line}\n")
        kept.flush()

    tell(f"## {name}: {RUNS[name]}")
    began, before = time.monotonic(), _children()
    process = subprocess.Popen([sys.executable, f"{FOLDER / name}.py"], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        tell(line.rstrip("\n"))
    if process.wait():
        sys.exit(f"benchmarks/{name}.py failed")
    tell(f"took {_children() - before:.0f} CPU-s, {time.monotonic() - began:.0f} s\n")


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
