"""A ledger as it grows: what a call costs that is recorded, folded in and looked up, by the number of calls in it.

    python benchmarks/ledger.py                    # 1,000,000 calls with short texts; five minutes, 1 GB of disk
    python benchmarks/ledger.py --calls 100000

Jobs of 50,000 calls, one after another, as a run has them: each opens the ledger, looks up each call and records its
outcome, and folds what it has when it ends, if that is worth a copy of the file. Seconds are processor seconds of this
process. The last column is the share of a job's time that went into opening and folding.
"""

import sys
import tempfile
import time
from pathlib import Path

from sides import described, figure

from generation import ledger_rows
from verified.lmm.ledger import Ledger

JOB = 50_000
HEAD = """\
| calls in the ledger | ms a call recorded | ms a call, with folding | ms a call looked up | MB |
|---|---|---|---|---|"""


def main() -> None:
    parser = described(__doc__)
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, help="where the ledger grows (default: the system's own)")
    options = parser.parse_args()
    print(HEAD, flush=True)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        file = Path(folder, "ledger.sqlite")
        for first in range(0, options.calls, JOB):
            rows = job_rows(first, min(JOB, options.calls - first))
            began = time.process_time()
            with Ledger(file) as ledger:
                opened = time.process_time()
                for row in rows:
                    if ledger.get(row["key"]) is None:
                        ledger.put(row)
                recorded = time.process_time() - opened
            whole = time.process_time() - began
            cells = (recorded / len(rows), whole / len(rows), looked_up(file, rows[::50]))
            shown = " | ".join(figure(1000 * each) for each in cells)
            print(f"| {first + len(rows):,} | {shown} | {size(file):,.0f} |", flush=True)


def job_rows(first: int, count: int) -> list[dict]:
    """Outcomes of calls that no other job has."""
    rows = ledger_rows(count, first)
    return [{**row, "text": "yes"} for row in rows]


def looked_up(file: Path, rows: list[dict]) -> float:
    """Seconds a call that is looked up in a ledger just opened."""
    with Ledger(file, read_only=True) as ledger:
        began = time.process_time()
        if not all(ledger.get(row["key"]) for row in rows):
            sys.exit("a call is not there")
        return (time.process_time() - began) / len(rows)


def size(file: Path) -> float:
    """MB of a ledger and its parts."""
    return sum(each.stat().st_size for each in file.parent.rglob("*") if each.is_file()) / 1e6


if __name__ == "__main__":
    sys.exit(main())
