"""The ledger: attempts, full disks, killed jobs, changed lines, deletion, and several machines at once."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from kill_points import small_files
from ledger_rows import put_all, row_of
from refusals import refused
from stub_engine import StubEngine
from two_hosts import PROJECT, on_host, why_not

from verified.__main__ import parser
from verified.errors import InputError
from verified.lmm import ledger_files
from verified.lmm.client import Call, Client
from verified.lmm.ledger import Ledger
from verified.lmm.ledger_files import line_of, value_of
from verified.lmm.request import Request
from verified.lmm.tasks.perturbations import POSITIVES
from verified.runtime import lock_file
from verified.runtime.lock_file import exclusive, has_ended, owner


def command(*arguments):
    parsed = parser().parse_args(list(map(str, arguments)))
    return parsed.run(parsed) or 0


def test_attempts_add_up_and_ok_stays(tmp_path):
    with Ledger(tmp_path / "ledger") as ledger:
        ledger.put(row_of(1, "invalid", "?"))
        ledger.put(row_of(1))
        stored = ledger.put(row_of(1, "error", ""))
        assert (stored["status"], stored["attempts"], stored["cost"]) == ("ok", 3, 0.75)
        assert stored["text"] == "1. a\n2. b\n3. c"
        assert put_all(ledger, (row_of(number) for number in range(5))) == 5
        assert ledger.totals()["calls"] == 5
        with pytest.raises(ValueError, match="splendid"):
            ledger.put(row_of(9, "splendid"))
        assert ledger.totals()["calls"] == 5


def test_a_file_that_is_no_ledger_is_refused(tmp_path):
    (tmp_path / "file").write_bytes(b"only text")
    with pytest.raises(InputError, match="cannot be used as a ledger"):
        Ledger(tmp_path / "file")
    with pytest.raises(InputError, match="no such ledger"):
        command("ledger", "stats", "--ledger", tmp_path / "none")
    assert not (tmp_path / "none").exists()
    (tmp_path / "ledger").mkdir()
    for strange in (lambda path: path.symlink_to("/dev/zero"), os.mkfifo):
        part = tmp_path / "ledger" / "a.part"
        strange(part)
        with refused("regular file", file=part, remedy=True):
            Ledger(tmp_path / "ledger")
        part.unlink()


def test_a_full_disk_is_named_and_loses_nothing(tmp_path):
    written = 0
    full = pytest.raises(InputError, match=r"the disk is full.*are not repeated")
    with Ledger(tmp_path / "ledger") as ledger, small_files(100_000), full:
        for number in range(10_000):
            ledger.put(row_of(number))
            written += 1
    with Ledger(tmp_path / "ledger") as ledger:
        assert ledger.totals()["calls"] == written > 10 and list(ledger.faults()) == []


def test_stats_and_export_on_the_command_line(tmp_path, capsys):
    path = tmp_path / "ledger"
    with Ledger(path) as ledger:
        put_all(ledger, [row_of(1), row_of(2, "blocked", ""), row_of(3)])
    (part,) = path.glob("*.part")
    lines = part.read_bytes().splitlines(keepends=True)
    part.write_bytes(b"".join([*lines[:3], lines[3].replace(b"stop", b"stap"), lines[2]]))  # one changed, one twice
    assert command("ledger", "stats", "--ledger", path) == 0
    said = capsys.readouterr().out
    assert "blocked" in said and "2 calls, 2 attempts" in said and said.count(f"{part}: the line at byte") == 1
    mine = tmp_path / "mine.yaml"
    source = {"kind": "folder", "videos": "videos", "moments": "m.csv"}
    generation = {"ledger": str(path), "budget": {"calls": 5, "tokens": 1}}
    values = {"name": "mine", "datasets": {"mine": {"title": "M", "source": source}}, "generation": generation}
    mine.write_text(json.dumps(values))
    assert command("ledger", "stats", "--configfile", mine, "--json") == 0
    assert json.loads(capsys.readouterr().out)["left"] == {"calls": 3, "tokens": 0}
    assert command("ledger", "stats", "--configfile", mine) == 0
    assert "budget: 5 calls, of which 3 are left" in capsys.readouterr().out
    assert command("ledger", "export", "--ledger", path, "--output", tmp_path / "c.parquet") == 0
    assert "2 calls written" in capsys.readouterr().out
    with pytest.raises(InputError, match=r"ends in \.parquet"):
        command("ledger", "export", "--ledger", path, "--output", tmp_path / "c.csv")


JOB = """
import os, sys
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


def killed_writer(path):
    """Forty calls by a job that dies; returns its part, the only place where they are."""
    words = [sys.executable, "-c", f"{JOB}    os._exit(9)", str(path), "40"]
    assert subprocess.run(words, cwd=PROJECT, stdout=subprocess.DEVNULL).returncode == 9
    (part,) = path.glob("*.part")
    return part


def test_a_part_that_is_removed_under_a_job_is_named(tmp_path):
    with Ledger(tmp_path / "ledger") as ledger:
        ledger.put(row_of(1))
        shutil.rmtree(tmp_path / "ledger")
        with pytest.raises(InputError, match=r"\.part: answers are lost"):
            ledger.put(row_of(2))


def asked(ledger, captions):
    engine = StubEngine()
    slots = ({"caption": caption, "count": "3"} for caption in captions)
    calls = [Call(POSITIVES, Request("positives", f"rewrite {row['caption']}", row, seed=1), count=3) for row in slots]
    assert all(outcome.status == "ok" for _, outcome in Client(engine, ledger).ask(calls))
    return len(engine.requests)


def edited(row, **values):
    return line_of({**row, **values})


CHANGED = {
    "one bit": lambda line: line[:300] + bytes([line[300] ^ 1]) + line[301:],
    "an answer": lambda line: line.replace(b"1. ", b"9. "),
    "zeros": lambda line: bytes(len(line) - 1) + b"\n",
    "cut": lambda line: line[:100] + b"\n",
    "another prompt, with its checksum": lambda line: edited(value_of(line), prompt="other"),
    "no answer, with its checksum": lambda line: edited(value_of(line), text=""),
    "another type, with its checksum": lambda line: edited(value_of(line), attempts=None),
}


@pytest.mark.parametrize("what", CHANGED)
def test_a_changed_line_is_found_and_asked_again(tmp_path, what, capsys):
    path, captions = tmp_path / "ledger", ["a dog runs", "a cat sits", "a cow eats"]
    with Ledger(path) as ledger:
        assert asked(ledger, captions) == 3
    (part,) = path.glob("*.part")
    lines = part.read_bytes().splitlines(keepends=True)
    lines[2] = CHANGED[what](lines[2])
    part.write_bytes(b"".join(lines))
    assert command("ledger", "verify", "--ledger", path) == 1
    assert "1 faults" in capsys.readouterr().out
    with Ledger(path) as ledger:
        assert len(list(ledger.rows())) == 2
        assert asked(ledger, captions) == 1 == len(ledger.damaged)
    with Ledger(path) as ledger:
        assert asked(ledger, captions) == 0 and len(list(ledger.rows())) == 3
    assert command("ledger", "export", "--ledger", path, "--output", tmp_path / "c.parquet") == 0
    assert "3 calls written" in capsys.readouterr().out
    assert command("ledger", "forget", "--ledger", path, "--status", "damaged") == 0
    assert command("ledger", "verify", "--ledger", path) == 0
    with Ledger(path) as ledger:
        assert ledger.totals()["attempts"] == 3


def test_a_killed_job_loses_nothing_but_the_line_that_was_cut_off(tmp_path):
    part = killed_writer(tmp_path / "ledger")
    with Ledger(tmp_path / "ledger") as ledger:
        assert ledger.totals()["calls"] == 40 == len(list(ledger.rows())) and not list(ledger.faults())
    part.write_bytes(part.read_bytes()[:-50])
    with Ledger(tmp_path / "ledger") as ledger:
        assert ledger.totals()["calls"] == 39 and len(ledger.damaged) == 1
        put_all(ledger, (row_of(number) for number in range(40) if ledger.get(row_of(number)["key"]) is None))
    with Ledger(tmp_path / "ledger") as ledger:
        assert ledger.totals()["attempts"] == 40


def test_an_answer_changed_while_the_ledger_is_open_is_not_taken(tmp_path):
    part = killed_writer(tmp_path / "ledger")
    with Ledger(tmp_path / "ledger") as ledger:
        content = part.read_bytes()
        part.write_bytes(content.replace(b"1. a", b"1. x"))
        assert ledger.get(row_of(3)["key"]) is None


def test_failed_calls_can_be_forgotten(tmp_path, capsys):
    path = tmp_path / "ledger"
    with Ledger(path) as ledger:
        put_all(ledger, [row_of(1), row_of(2, "blocked", ""), {**row_of(3, "error", ""), "reason": "context-length"}])
        ledger.put({**row_of(6, "error", ""), "reason": "status-400"})
    running = Ledger(path)
    put_all(running, [row_of(4), {**row_of(3, "error", ""), "reason": "context-length"}])
    assert command("ledger", "forget", "--ledger", path, "--status", "error", "--reason", "context-length") == 0
    assert "1 calls forgotten" in capsys.readouterr().out
    with pytest.raises(InputError, match="was removed while a job was writing"):
        running.put(row_of(5))
    running.close()
    with Ledger(path) as ledger:
        left = {("ok", ""), ("blocked", ""), ("error", "status-400")}
        assert {(row["status"], row["reason"]) for row in ledger.rows()} == left
        assert ledger.totals()["attempts"] == 4 and ledger.get(row_of(4)["key"])
        ledger.put(row_of(3))
    with Ledger(path) as ledger:
        assert ledger.get(row_of(3)["key"])["attempts"] == 1


hosts = pytest.mark.skipif(bool(why_not()), reason=f"no hosts can be made here: {why_not()}")
CALLS = 400


def holds(path, calls):
    with Ledger(path) as ledger:
        assert list(ledger.faults()) == []
        assert ledger.totals()["attempts"] == ledger.totals()["calls"] == calls
        assert {row["key"] for row in ledger.rows()} == {row_of(number)["key"] for number in range(calls)}


@pytest.fixture
def shared(tmp_path):
    return tmp_path / "ledger"


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
    path = tmp_path / "ledger"
    path.mkdir()
    for host, created in (("a", 2.0), ("b", 1.0), ("c", 3.0)):
        row = {**row_of(0, text=f"1. {host}\n2. y\n3. z"), "created": created}
        (path / f"{host}-00000000-1-1-1.part").write_bytes(ledger_files.HEAD + ledger_files.line_of(row))
    with Ledger(path) as ledger:
        row = ledger.get(row_of(0)["key"])
    assert (row["text"], row["attempts"]) == ("1. b\n2. y\n3. z", 3)
