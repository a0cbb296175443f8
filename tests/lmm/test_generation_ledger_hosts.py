"""Several machines on one ledger: nothing is lost or doubled, whoever dies at whatever moment."""

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from ledger_rows import put_all, row_of
from two_hosts import on_host, why_not

from verified.lmm import ledger_file, ledger_parts
from verified.lmm.ledger import Ledger
from verified.lmm.ledger_check import faults
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
    with Ledger(path, read_only=True) as ledger:
        assert list(faults(ledger)) == []
        assert ledger.totals()["attempts"] == ledger.totals()["calls"] == calls
        assert {row["key"] for row in ledger.rows()} == {row_of(number)["key"] for number in range(calls)}


@pytest.fixture
def shared(tmp_path):
    (tmp_path / "shared").mkdir()
    return tmp_path / "shared" / "ledger.sqlite"


@hosts
def test_two_hosts_write_at_once(shared):
    jobs = [on_host(name, shared, JOB, shared, first, first + CALLS) for name, first in (("a", 0), ("b", CALLS))]
    assert [len(job.communicate()[0].split()) for job in jobs] == [CALLS, CALLS]
    assert [job.returncode for job in jobs] == [0, 0]
    holds(shared, 2 * CALLS)


@hosts
def test_a_host_that_dies_half_way_loses_nothing_and_the_next_start_folds(shared):
    lives = on_host("b", shared, JOB, shared, 0, CALLS)
    dies = on_host("a", shared, JOB, shared, CALLS, 1_000_000)  # more than it can ask before it is killed
    asked = [int(dies.stdout.readline()) for _ in range(CALLS // 2)]
    dies.kill()  # and with it, by the kernel, everything in its namespaces
    asked += map(int, dies.communicate()[0].split())
    assert dies.returncode and len(lives.communicate()[0].split()) == CALLS
    assert ledger_parts.sizes(shared)
    calls = max(CALLS, len(asked) + 1)
    rest = on_host("b", shared, JOB, shared, 0, CALLS + calls)
    asked_again = list(map(int, rest.communicate()[0].split()))
    assert rest.returncode == 0 and calls - 1 <= len(asked) + len(asked_again) <= calls  # one may be kept and not said
    assert not set(asked) & set(asked_again)
    holds(shared, CALLS + calls)
    with Ledger(shared) as ledger:
        held = ledger.held
    assert all(held[name] == size for name, size in ledger_parts.sizes(shared).items())


@hosts
def test_what_one_host_has_recorded_the_other_does_not_ask(shared):
    with Ledger(shared) as ledger:
        put_all(ledger, (row_of(number) for number in range(20)))
        for name, asked in (("a", 30), ("b", 0)):
            job = on_host(name, shared, JOB, shared, 0, 50)
            assert len(job.communicate()[0].split()) == asked and job.returncode == 0
        assert ledger.totals()["attempts"] == 50


def left_by_dead_jobs(path, parts=2, calls=20):
    """A ledger with a call in its file and parts of killed jobs beside it."""
    with Ledger(path) as ledger:
        ledger.put(row_of(0))
    for part in range(parts):
        child = os.fork()
        if not child:
            ledger = Ledger(path)
            for number in range(1 + part * calls, 1 + (part + 1) * calls):
                ledger.put(row_of(number))
            os._exit(0)
        os.waitpid(child, 0)
        # As if it had died after the other one had started.
        for file in ledger_parts.folder_of(path).glob("*.part"):
            file.rename(file.with_suffix(".kept"))
    for file in ledger_parts.folder_of(path).glob("*.kept"):
        file.rename(file.with_suffix(".part"))
    return 1 + parts * calls


def killed_at(path, number):
    """Fold in a process that is killed at its audit event `number` (files opened, renamed, removed); whether it was."""
    child = os.fork()
    if not child:
        events = 0

        def kill(*_):
            nonlocal events
            events += 1
            if events == number + 1:  # not at that of os.kill
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(kill)
        ledger_file.rewrite(path, 0.0)
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def test_a_fold_killed_at_any_point_loses_and_doubles_nothing(tmp_path):
    (tmp_path / "start").mkdir()
    calls = left_by_dead_jobs(tmp_path / "start" / "l.sqlite")
    number, killed = 0, True
    while killed:
        path = tmp_path / str(number) / "l.sqlite"
        shutil.copytree(path.parent.with_name("start"), path.parent)
        killed = killed_at(path, number)
        holds(path, calls)
        with Ledger(path) as ledger:
            ledger.put(row_of(calls))
        holds(path, calls + 1)
        assert [file.name for file in path.parent.iterdir()] == ["l.sqlite"], number
        number += 1
    assert number > 15


def test_two_folders_at_once_of_which_one_lost_its_lock(tmp_path):
    """One takes the lock away from the other, who is slow: only one file is published, and nothing is lost."""
    path = tmp_path / "l.sqlite"
    calls = left_by_dead_jobs(path)

    def meanwhile(_):
        (tmp_path / "l.sqlite.parts" / "lock").unlink()
        with Ledger(path) as ledger:
            ledger.put(row_of(calls))
        return 1

    assert ledger_file.rewrite(path, 0.0, meanwhile) is None
    holds(path, calls + 1)


def test_many_fold_at_once(tmp_path):
    path = tmp_path / "l.sqlite"
    calls = left_by_dead_jobs(path, parts=4)
    children = []
    for _ in range(6):
        child = os.fork()
        if not child:
            Ledger(path).close()
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 6
    Ledger(path).close()
    holds(path, calls)
    assert [file.name for file in tmp_path.iterdir()] == ["l.sqlite"]


def test_a_line_under_way_from_another_machine_is_waited_for(tmp_path):
    """What a machine sends may arrive out of order: zeros are no damage while their writer may be alive."""
    path, lines = tmp_path / "l.sqlite", [ledger_parts._line(row_of(number)) for number in range(3)]
    part = tmp_path / "l.sqlite.parts" / "elsewhere-00000000-1-1-1.part"
    with Ledger(path) as ledger:
        part.parent.mkdir()
        part.write_bytes(b"".join([lines[0], bytes(len(lines[1])), lines[2]]))
        assert ledger.totals()["calls"] == 1 and ledger.damaged == 0
        ledger_file.rewrite(path, 0.0)
        part.write_bytes(b"".join(lines))
        assert ledger.totals()["calls"] == 3 and ledger.damaged == 0
        part.write_bytes(b"".join(lines) + bytes(50))
        assert ledger.damaged == 0
        long_ago = time.time() - 2 * ledger_parts.SILENT
        os.utime(part, (long_ago, long_ago))
        assert ledger.totals()["calls"] == 3 and ledger.damaged == 1


def test_a_lock_left_behind_is_taken_away_and_no_other(tmp_path):
    lock = tmp_path / "parts" / "lock"
    with exclusive(lock, 0.0) as mine, exclusive(lock, 0.1) as other:
        assert mine.holds() and other is None
    assert not lock.exists()
    ended = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    name = owner().replace(f"-{os.getpid()}-", f"-{ended.pid}-").rpartition("-")[0] + f"-{lock_file._start(ended.pid)}"
    lock.parent.mkdir(exist_ok=True)
    lock.write_text(name)
    assert not has_ended(name)
    with exclusive(lock, 0.1) as other:
        assert other is None
    ended.communicate(b"\n")
    assert has_ended(name) and not has_ended(owner())
    with exclusive(lock, 0.1) as mine:
        assert mine.holds()
    lock.write_text("elsewhere-00000000-1-1")
    with exclusive(lock, 0.1) as other:
        assert other is None
    long_ago = time.time() - 2 * lock_file.STALE
    os.utime(lock, (long_ago, long_ago))
    with exclusive(lock, 0.1) as mine:
        assert mine.holds()
    assert list(lock.parent.iterdir()) == []


def test_two_jobs_of_one_machine_see_each_other_at_once(tmp_path):
    path = tmp_path / "l.sqlite"
    with Ledger(path) as first, Ledger(path) as second, Ledger(path, read_only=True) as reader:
        for number in range(20):
            writer, other = (first, second) if number % 2 else (second, first)
            writer.put(row_of(number))
            assert other.get(row_of(number)["key"]) and reader.totals()["calls"] == number + 1
        stored = second.put(row_of(0, text="1. x\n2. y\n3. z"))
        assert (stored["text"], stored["attempts"]) == (row_of(0)["text"], 2)
    with Ledger(path) as ledger:
        assert ledger.get(row_of(0)["key"]) == stored and ledger.totals()["attempts"] == 21


def test_a_large_ledger_is_not_copied_for_every_job(tmp_path, monkeypatch):
    monkeypatch.setattr(ledger_file, "SMALL", 1000)
    path = tmp_path / "l.sqlite"
    with Ledger(path) as ledger:
        put_all(ledger, (row_of(number) for number in range(400)))
    before, copies = ledger_file.signature(path), 0
    for number in range(400, 800, 5):
        with Ledger(path) as ledger:
            assert ledger.get(row_of(number - 1)["key"])
            put_all(ledger, (row_of(number) for number in range(number, number + 5)))
        copies += ledger_file.signature(path) != before
        before = ledger_file.signature(path)
    assert 2 < copies < 20
    holds(path, 800)
