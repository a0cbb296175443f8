"""The ledger: attempts, full disks, killed jobs, zero-filled and changed lines, deletion."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from kill_points import small_files
from ledger_rows import put_all, row_of
from refusals import refused
from stub_engine import StubEngine

from verified.__main__ import parser
from verified.errors import InputError
from verified.lmm.client import Call, Client
from verified.lmm.ledger import Ledger
from verified.lmm.ledger_files import line_of, value_of
from verified.lmm.request import Request
from verified.lmm.tasks.perturbations import POSITIVES

PROJECT = Path(__file__).resolve().parents[2]


def command(*arguments):
    """Exit status of a command line."""
    parsed = parser().parse_args(list(map(str, arguments)))
    return parsed.run(parsed) or 0


def test_attempts_add_up_and_ok_stays(tmp_path):
    with Ledger(tmp_path / "ledger") as ledger:
        ledger.put(row_of(1, "invalid", "?"))
        ledger.put(row_of(1))
        stored = ledger.put(row_of(1, "error", ""))
        assert (stored["status"], stored["text"], stored["attempts"], stored["cost"]) == (
            "ok",
            "1. a\n2. b\n3. c",
            3,
            0.75,
        )
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


KILLED = """
import os, sys
sys.path[:0] = ["scripts", "tests"]
from ledger_rows import row_of
from verified.lmm.ledger import Ledger
ledger = Ledger(sys.argv[1])
for number in range(40):
    ledger.put(row_of(number))
os._exit(9)
"""


def killed_writer(path):
    """Forty calls by a job that dies; returns its part, the only place where they are."""
    assert subprocess.run([sys.executable, "-c", KILLED, str(path)], cwd=PROJECT).returncode == 9
    (part,) = path.glob("*.part")
    return part


def test_a_part_that_is_removed_under_a_job_is_named(tmp_path):
    with Ledger(tmp_path / "ledger") as ledger:
        ledger.put(row_of(1))
        shutil.rmtree(tmp_path / "ledger")
        with pytest.raises(InputError, match=r"\.part: answers are lost"):
            ledger.put(row_of(2))


def asked(ledger, captions):
    """How many of the calls an engine was asked."""
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
        assert {(row["status"], row["reason"]) for row in ledger.rows()} == {
            ("ok", ""),
            ("blocked", ""),
            ("error", "status-400"),
        }
        assert ledger.totals()["attempts"] == 4 and ledger.get(row_of(4)["key"])
        ledger.put(row_of(3))
    with Ledger(path) as ledger:
        assert ledger.get(row_of(3)["key"])["attempts"] == 1
