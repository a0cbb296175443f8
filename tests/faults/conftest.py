"""A table of faults tried and survived at the end of `make test-faults`."""

import os
from collections import defaultdict


def pytest_terminal_summary(terminalreporter):
    if os.environ.get("FAULTS") != "1":
        return
    tried, survived = defaultdict(int), defaultdict(int)
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            place = report.nodeid.split("::")
            kind = (
                f"{place[0].removeprefix('tests/').removesuffix('.py')}: {place[1].split('[')[0][5:].replace('_', ' ')}"
            )
            tried[kind] += 1
            survived[kind] += outcome == "passed"
    terminalreporter.write_sep("=", "faults tried and survived")
    for kind, count in tried.items():
        terminalreporter.write_line(f"{count:5d} {survived[kind]:9d}  {kind}")
    terminalreporter.write_line(f"{sum(tried.values()):5d} {sum(survived.values()):9d}  all")
