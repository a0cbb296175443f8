"""Several machines on one ledger: nothing is lost or doubled, whoever dies at whatever moment."""

import subprocess
import sys

import pytest
from ledger_rows import row_of
from refusals import refused
from two_hosts import PROJECT, on_host, why_not

from verified.lmm import ledger_files
from verified.lmm.ledger import Ledger
from verified.runtime import lock_file
from verified.runtime.lock_file import exclusive, has_ended, owner

hosts = pytest.mark.skipif(bool(why_not()), reason=f"no hosts can be made here: {why_not()}")
CALLS = 400
JOB = """
import sys
sys.path[:0] = ["scripts", "tests"]
from ledger_rows import row_of
from verified.lmm.ledger import Ledger
with Ledger(sys.argv[1]) as ledger:
    for number in range(*map(int, sys.argv[2:])):
        if ledger.get(row_of(number)["key"]) is None:
            ledger.put(row_of(number))
            print(number, flush=True)
"""
"""Asks the calls of a range that the ledger does not hold, and says which."""


def holds(path, calls):
    """Assert that the ledger holds the first calls, each once and sound."""
    with Ledger(path) as ledger:
        assert list(ledger.faults()) == []
        assert ledger.totals()["attempts"] == ledger.totals()["calls"] == calls
        assert {row["key"] for row in ledger.rows()} == {row_of(number)["key"] for number in range(calls)}


@pytest.fixture
def shared(tmp_path):
    return tmp_path / "ledger"


@hosts
def test_two_hosts_write_at_once(shared):
    jobs = [on_host(name, JOB, shared, first, first + CALLS) for name, first in (("a", 0), ("b", CALLS))]
    assert [len(job.communicate()[0].split()) for job in jobs] == [CALLS, CALLS]
    assert [job.returncode for job in jobs] == [0, 0]
    holds(shared, 2 * CALLS)


@hosts
def test_a_host_that_dies_half_way_loses_nothing(shared):
    lives = on_host("b", JOB, shared, 0, CALLS)
    dies = on_host("a", JOB, shared, CALLS, 1_000_000)  # more than it can ask before it is killed
    asked = [int(dies.stdout.readline()) for _ in range(CALLS // 2)]
    dies.kill()  # and with it, by the kernel, everything in its namespaces
    asked += map(int, dies.communicate()[0].split())
    assert dies.returncode and len(lives.communicate()[0].split()) == CALLS
    calls = max(CALLS, len(asked) + 1)
    rest = on_host("b", JOB, shared, 0, CALLS + calls)
    asked_again = list(map(int, rest.communicate()[0].split()))
    assert rest.returncode == 0 and calls - 1 <= len(asked) + len(asked_again) <= calls  # one may be kept and not said
    assert not set(asked) & set(asked_again)
    holds(shared, CALLS + calls)


def test_a_line_under_way_from_another_machine_counts_once_it_is_there(tmp_path):
    """What a machine sends may arrive out of order."""
    path, lines = tmp_path / "ledger", [ledger_files.line_of(row_of(number)) for number in range(3)]
    path.mkdir()
    with Ledger(path) as ledger:
        for arrived, calls, damaged in (
            (b"".join([lines[0], bytes(len(lines[1])), lines[2]]), 1, 1),
            (b"".join(lines), 3, 0),
            (b"".join(lines) + bytes(50), 3, 1),
        ):
            (path / "elsewhere.part").write_bytes(arrived)
            assert (ledger.totals()["calls"], len(ledger.damaged)) == (calls, damaged)


HOLDER = """
import sys
from pathlib import Path
sys.path.insert(0, "scripts")
from verified.runtime.lock_file import exclusive, owner
with exclusive(Path(sys.argv[1])):
    print(owner(), flush=True)
    input()
"""


def test_a_lock_of_a_killed_process_is_taken_and_no_other(tmp_path, monkeypatch):
    lock = tmp_path / "parts" / "lock"
    command = [sys.executable, "-c", HOLDER, str(lock)]
    with subprocess.Popen(command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        name = holder.stdout.readline().strip()
        assert lock.exists() and not has_ended(name)
        holder.kill()
    assert has_ended(name) and not has_ended(owner()) and not has_ended("elsewhere-00000000-1-1")
    with exclusive(lock):
        pass
    monkeypatch.setattr(lock_file, "STALE", 0.3)
    with exclusive(lock), refused("others", file=lock, remedy=True), exclusive(lock):
        pass
    assert list(lock.parent.iterdir()) == []


def test_two_jobs_of_one_machine_see_each_other_at_once(tmp_path):
    path = tmp_path / "ledger"
    with Ledger(path) as first, Ledger(path) as second, Ledger(path) as reader:
        for number in range(20):
            writer, other = (first, second) if number % 2 else (second, first)
            writer.put(row_of(number))
            assert other.get(row_of(number)["key"]) and reader.totals()["calls"] == number + 1
        stored = second.put(row_of(0, text="1. x\n2. y\n3. z"))
        assert (stored["text"], stored["attempts"]) == (row_of(0)["text"], 2)
    with Ledger(path) as ledger:
        assert ledger.get(row_of(0)["key"]) == stored and ledger.totals()["attempts"] == 21


def test_the_first_answer_counts_for_all_machines(tmp_path):
    """Two that did not see each other yet: whoever reads both takes the earlier one."""
    path = tmp_path / "ledger"
    path.mkdir()
    for host, created in (("a", 2.0), ("b", 1.0), ("c", 3.0)):
        row = {**row_of(0, text=f"1. {host}\n2. y\n3. z"), "created": created}
        (path / f"{host}-00000000-1-1-1.part").write_bytes(ledger_files.HEAD + ledger_files.line_of(row))
    with Ledger(path) as ledger:
        row = ledger.get(row_of(0)["key"])
    assert (row["text"], row["attempts"]) == ("1. b\n2. y\n3. z", 3)
