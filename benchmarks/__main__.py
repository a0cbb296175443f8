"""The tables of speed in docs/measurements.md: each benchmark takes its sides in turns, five of each.

    python -m benchmarks                             # all of them
    python -m benchmarks --only video evaluator      # some of them
    python -m benchmarks --into docs/measurements.md # and put the tables into the page
    python -m benchmarks --gpu                       # the table of a GPU alone, about eight minutes

Each runs in an interpreter of its own, in the environment that jobs have and in one thread, and says in its head what
it compares and how long it takes. A benchmark that fails, because two sides' results differ, say, is named at the end,
and the others run on.
"""

import argparse
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

from verified.runtime.job import ENVIRONMENT, take_environment

FOLDER = Path(__file__).resolve().parent
RUNS = {
    "planning": "A large corpus",
    "video": "Videos and keyframes",
    "generation": "Captions and perturbations",
    "evaluator": "The evaluator",
    "features": "Features of videos",
    "retrieval": "Retrieval",
    "evaluation": "`verified evaluate`",
}
"""Benchmark → heading of its table. What each compares stands in the table."""
OTHERS = {"waits": "Waits", "significance": "Intervals", "accelerator": "A GPU"}
"""The same of tables with other columns. The last one runs only where it is asked for."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=[*RUNS, *OTHERS], default=[*RUNS, *OTHERS][:-1], metavar="NAME")
    parser.add_argument("--into", type=Path, metavar="PAGE", help="put the tables into this page as well")
    parser.add_argument("--gpu", action="store_true", help="measure a GPU, and nothing else")
    options, passed = parser.parse_known_args()  # --turns and --tiny are the benchmarks' own
    take_environment()
    tables = {}
    began, measured = time.monotonic(), commit()  # a table put into the page changes the tree
    print(f"{processor()}, {os.cpu_count()} cores, {platform.system()}\n", flush=True)
    for name in ["accelerator"] if options.gpu else options.only:
        print(f"## {(RUNS | OTHERS)[name]}\n", flush=True)
        tables[name] = run(name, passed)
    print(f"All of it took {(time.monotonic() - began) / 60:.1f} minutes.")
    if options.into:
        for name, table in tables.items():
            if table:
                put(options.into, name, table, f"{processor()}, at {measured}")
    if failed := [name for name, table in tables.items() if not table]:
        sys.exit(f"failed: {', '.join(failed)}")


def run(name: str, passed: list[str]) -> list[str]:
    """Run one benchmark, its lines to standard output; its table, or [] if it fails."""
    began, table = time.monotonic(), []
    command = [sys.executable, str(FOLDER / f"{name}.py"), *passed]
    environment = {**os.environ, **ENVIRONMENT, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            table.append(line.rstrip("\n"))
            print(table[-1], flush=True)
    print(f"\n`python benchmarks/{name}.py`, {time.monotonic() - began:.0f} s\n", flush=True)
    return [] if process.returncode else table


def put(page: Path, name: str, table: list[str], taken_on: str) -> None:
    """Put the table of a benchmark into a page, in the place of the earlier one, with the processor it was taken on.

    Raises SystemExit where the page lacks the benchmark's mark.
    """
    before, mark, after = page.read_text(encoding="utf-8").partition(f"<!-- benchmarks/{name}.py -->\n")
    if not mark:
        sys.exit(f"{page} has no place for the table of {name}")
    rest = re.sub(r"^(On .+:\n\n)?(\|.+\n)*", "", after)
    rows = "\n".join(table)
    page.write_text(f"{before}{mark}On {taken_on}:\n\n{rows}\n{rest}", encoding="utf-8")


def commit() -> str:
    """The commit that is measured, marked where files differ from it."""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    return subprocess.run(command, cwd=FOLDER, check=True, capture_output=True, text=True).stdout.strip()


def processor() -> str:
    """The processor by name, family and model: makers give one name to several generations."""
    info = Path("/proc/cpuinfo")
    first = info.read_text(encoding="utf-8").split("\n\n")[0] if info.exists() else ""
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in first.splitlines())}
    if "model name" not in facts:
        return platform.processor() or platform.machine()
    return f"{facts['model name']} (family {facts.get('cpu family')}, model {facts.get('model')})"


if __name__ == "__main__":
    main()
