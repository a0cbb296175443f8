"""All tables of docs/speed.md in one run: each benchmark takes its sides in turns, five of each.

    python -m benchmarks                            # all; half an hour on two quiet cores
    python -m benchmarks --only imports captions    # some of them
    python -m benchmarks --into docs/speed.md       # and put the tables into the page, beside those of other processors

Each runs in an interpreter of its own, in the environment that jobs have and in one thread, and says in its head what
it compares and how long it takes. The tables are kept in benchmarks/results/speed.md, under the headings of the page.
A benchmark that fails, because two sides' results differ, say, is named at the end, and the others run on.
"""

import argparse
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

from verified.runtime.amx import limit_onednn
from verified.runtime.job import ENVIRONMENT

FOLDER = Path(__file__).resolve().parent
KEPT = FOLDER / "results" / "speed.md"
RUNS = {
    "environment": "The environment of a job",
    "imports": "What a job pays before its work",
    "planning": "What comes before the work on a large corpus",
    "growth": "What more videos cost",
    "video": "Videos and keyframes",
    "features": "Features of videos",
    "captions": "Text: features and statistics",
    "clustering": "Captions that many moments share",
    "generation": "Generation without a model",
    "endpoints": "Several endpoints",
    "evaluator": "The evaluator",
    "networks": "Retrieval models at the paper's widths",
    "reranking": "Re-ranking",
    "retrieval": "Search of the benchmark",
    "lists": "Suppression and metrics",
    "evaluation": "`verified evaluate`",
    "longform": "Movies",
    "text_search": "Search by a sentence",
}
"""Benchmark → heading of its table. What each compares stands in the table."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(RUNS), default=list(RUNS), metavar="NAME")
    parser.add_argument("--into", type=Path, metavar="PAGE", help="put the tables into this page as well")
    options, passed = parser.parse_known_args()  # --turns and --tiny are the benchmarks' own
    limit_onednn()
    tables = {}
    began = time.monotonic()
    KEPT.parent.mkdir(exist_ok=True)
    with KEPT.open("w", encoding="utf-8") as kept:
        tell(kept, f"{processor()}, {os.cpu_count()} cores, {platform.system()}\n")
        for name in options.only:
            tell(kept, f"## {RUNS[name]}\n")
            tables[name] = run(name, passed, kept)
        tell(kept, f"All of it took {(time.monotonic() - began) / 60:.1f} minutes.")
    if options.into:
        for name, table in tables.items():
            if table:
                put(options.into, name, table, processor())
    if failed := [name for name, table in tables.items() if not table]:
        sys.exit(f"failed: {', '.join(failed)}")


def run(name: str, passed: list[str], kept) -> list[str]:
    """Run one benchmark, its lines to standard output and to the open file `kept`; its table, or [] if it fails."""
    began, table = time.monotonic(), []
    command = [sys.executable, str(FOLDER / f"{name}.py"), *passed]
    environment = {**os.environ, **ENVIRONMENT, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            table.append(line.rstrip("\n"))
            tell(kept, table[-1])
    tell(kept, f"\n`python benchmarks/{name}.py`, {time.monotonic() - began:.0f} s\n")
    return [] if process.returncode else table


def tell(kept, line: str) -> None:
    """A line for the reader who waits and for the one who comes later."""
    print(line, flush=True)
    kept.write(f"{line}\n")
    kept.flush()


def put(page: Path, name: str, table: list[str], taken_on: str) -> None:
    """Put the table of a benchmark, taken on a processor, into a page: in the place of an earlier one of the same
    processor, or behind those of others. Raises SystemExit where the page lacks the benchmark's mark."""
    before, mark, after = page.read_text(encoding="utf-8").partition(f"<!-- benchmarks/{name}.py -->\n")
    if not mark:
        sys.exit(f"{page} has no place for the table of {name}: {mark!r}")
    there = re.match(r"(?:On .+:\n\n(?:\|.+\n)+\n?)*", after)[0]
    tables = dict(re.findall(r"On (.+):\n\n((?:\|.+\n)+)", there))
    tables[taken_on] = "\n".join([*table, ""])
    blocks = [f"On {whose}:\n\n{rows}\n" for whose, rows in tables.items()]
    page.write_text(before + mark + "".join(blocks) + after[len(there) :], encoding="utf-8")


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
