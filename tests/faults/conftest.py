"""A table of faults tried and survived at the end of `make test-faults`."""

import os
from collections import defaultdict


def pytest_terminal_summary(terminalreporter):
    """One line for each kind of fault: a test function, or what a test has recorded as its `fault` (and `faults`)."""
    if os.environ.get("FAULTS") != "1":
        return
    tried, survived = defaultdict(int), defaultdict(int)
    for outcome in ("passed", "failed", "error"):
        for report in terminalreporter.stats.get(outcome, []):
            recorded = dict(report.user_properties)
            kind, count = recorded.get("fault") or kind_of(report.nodeid), recorded.get("faults", 1)
            tried[kind] += count
            survived[kind] += count * (outcome == "passed")
    terminalreporter.write_sep("=", "faults: tried, survived")
    for kind, count in tried.items():
        terminalreporter.write_line(f"{count:5d} {survived[kind]:9d}  {kind}")
    terminalreporter.write_line(f"{sum(tried.values()):5d} {sum(survived.values()):9d}  all")


def kind_of(nodeid: str) -> str:
    """`tests/a/test_b.py::test_c_d[e]` as `a/test_b: c d`."""
    file, name = nodeid.split("::")[:2]
    return f"{file.removeprefix('tests/').removesuffix('.py')}: {name.split('[')[0][5:].replace('_', ' ')}"
