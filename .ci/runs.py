"""The log of runs: a row of build/runs.csv for each target that .ci/run runs, and the table of docs/what-was-run.md.

`python .ci/runs.py add TARGET STATUS SECONDS REPORT` appends a row, with the counts of pytest's report where there is
one; `python .ci/runs.py page` puts these rows into docs/runs.csv, and the last of each target into the page.
"""

import csv
import platform
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

PROJECT = Path(__file__).resolve().parents[1]
LOG = PROJECT / "build" / "runs.csv"
KEPT = PROJECT / "docs" / "runs.csv"
PAGE = PROJECT / "docs" / "what-was-run.md"
COLUMNS = ("target", "commit", "date", "processor", "passed", "failed", "skipped", "seconds")
BEGIN, END = "<!-- runs: written by .ci/runs.py -->\n", "<!-- end of runs -->\n"


def processor() -> str:
    """Name of this machine's processor."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.processor())


def commit() -> str:
    """The commit of the working tree, with a plus where files were changed since."""
    words = ("git", "describe", "--always", "--dirty=+", "--exclude=*")
    return subprocess.run(words, cwd=PROJECT, check=True, capture_output=True, text=True).stdout.strip()


def counts(report: Path, status: int) -> tuple[int, int, int]:
    """Tests that passed, failed and were skipped; a target without tests passes or fails as one."""
    if not report.exists():
        return int(status == 0), int(status != 0), 0
    suites = list(ElementTree.parse(report).iter("testsuite"))
    tests, failures, errors, skipped = (
        sum(int(suite.get(name, 0)) for suite in suites) for name in ("tests", "failures", "errors", "skipped")
    )
    return tests - failures - errors - skipped, failures + errors, skipped


def blocks(report: Path) -> str:
    """Blocks of the pages that ran, and those left out by what they need (tests/pages), as a line."""
    properties = ElementTree.parse(report).iter("property") if report.exists() else ()
    known = [(one.get("name", ""), one.get("value", "")) for one in properties]
    needs = Counter(need for name, value in known if name == "left out" for need in value.split("; ") if need)
    ran = sum(int(value) for name, value in known if name == "blocks run")
    return f"blocks of pages: {ran} ran, {sum(needs.values())} left out ({dict(needs.most_common())})" if ran else ""


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a log."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(path: Path, rows: list[dict[str, str]]) -> None:
    """Write a log."""
    path.parent.mkdir(exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def table(rows: list[dict[str, str]]) -> str:
    """The last run of each target as a table of Markdown."""
    last = {row["target"]: row for row in rows}
    lines = [" | ".join(("", *(row[column] for column in COLUMNS), "")).strip() for _, row in sorted(last.items())]
    return "\n".join([f"| {' | '.join(COLUMNS)} |", f"|{'---|' * len(COLUMNS)}", *lines]) + "\n"


def page(text: str, rows: list[dict[str, str]]) -> str:
    """The text of the page with this table."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{table(rows)}\n{END}{rest.partition(END)[2]}"


def main(words: list[str]) -> None:
    if words[0] == "page":
        rows = read(KEPT) + [row for row in read(LOG) if row not in read(KEPT)]
        write(KEPT, rows)
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")
        return
    _, target, status, seconds, report = words
    passed, failed, skipped = counts(Path(report), int(status))
    values = (target, commit(), time.strftime("%Y-%m-%d"), processor(), passed, failed, skipped, seconds)
    row = dict(zip(COLUMNS, map(str, values), strict=True))
    write(LOG, [*read(LOG), row])
    print(f"make {target}: {passed} passed, {failed} failed, {skipped} skipped in {seconds} s")
    if line := blocks(Path(report)):
        print(line)


if __name__ == "__main__":
    main(sys.argv[1:])
