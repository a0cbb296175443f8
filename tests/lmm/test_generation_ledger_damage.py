"""Ledgers that were killed, robbed, zero-filled, damaged; cassettes that were crafted."""

import hashlib
import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ledger_rows import put_all, row_of
from stub_engine import StubEngine

from verified.__main__ import parser
from verified.errors import InputError
from verified.lmm.cassette import DIGEST, STATED, _line, export, load, models_of
from verified.lmm.client import Call, Client
from verified.lmm.ledger import Ledger
from verified.lmm.ledger_files import COLUMNS, VERSION, key_of, line_of, value_of
from verified.lmm.request import Request
from verified.lmm.tasks.perturbations import POSITIVES

PROJECT = Path(__file__).resolve().parents[2]
KILLED = """
import os, sys
sys.path[:0] = ["scripts", "tests"]
from ledger_rows import row_of
from verified.lmm.ledger import Ledger
ledger = Ledger(sys.argv[1])
for number in range(int(sys.argv[2]), int(sys.argv[2]) + 40):
    ledger.put(row_of(number))
os._exit(9)
"""


def killed_writer(path, first=0):
    """Forty calls by a job that dies; returns its part, the only place where they are."""
    assert subprocess.run([sys.executable, "-c", KILLED, str(path), str(first)], cwd=PROJECT).returncode == 9
    (part,) = path.glob("*.part")
    return part


def command(*arguments):
    parsed = parser().parse_args(list(map(str, arguments)))
    return parsed.run(parsed) or 0


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


def test_no_flipped_byte_ends_in_a_traceback(tmp_path, capsys):
    content = killed_writer(tmp_path / "whole").read_bytes()
    draw = random.Random(11)
    for case in range(60):
        part = tmp_path / str(case) / "host-00000000-1-1-1.part"
        part.parent.mkdir()
        flipped = bytearray(content)
        for _ in range(draw.choice([1, 20, 400])):
            flipped[draw.choice([draw.randrange(200), draw.randrange(len(content))])] ^= 1 << draw.randrange(8)
        part.write_bytes(flipped[: draw.choice([len(content), len(content) // 2, 4096, 10])])
        for arguments in (("verify",), ("stats",), ("export", "--output", tmp_path / "c.parquet")):
            try:
                command("ledger", arguments[0], "--ledger", part.parent, *arguments[1:])
            except InputError as error:
                assert str(part.parent) in str(error) or "c.parquet" in str(error)
    capsys.readouterr()


def test_failed_calls_can_be_forgotten(tmp_path, capsys):
    path = tmp_path / "ledger"
    with Ledger(path) as ledger:
        put_all(ledger, [row_of(1), row_of(2, "blocked", ""), {**row_of(3, "error", ""), "reason": "context-length"}])
    assert command("ledger", "forget", "--ledger", path, "--status", "error", "--reason", "context-length") == 0
    assert "1 calls forgotten" in capsys.readouterr().out
    with Ledger(path) as ledger:
        assert {row["status"] for row in ledger.rows()} == {"ok", "blocked"}
        assert ledger.totals()["attempts"] == 2
        ledger.put(row_of(3))
    with Ledger(path) as ledger:
        assert ledger.get(row_of(3)["key"])["attempts"] == 1


def test_a_cassette_replaces_failures_and_no_answers(tmp_path):
    with Ledger(tmp_path / "other") as ledger:
        put_all(ledger, [row_of(1, text="1. x\n2. y\n3. z"), row_of(2), row_of(3, "blocked", "")])
        export(ledger, tmp_path / "c.parquet")
    with Ledger(tmp_path / "ledger") as ledger:
        failed = {**row_of(3, "error", ""), "reason": "not-on-cassette", "created": 9.0}
        put_all(ledger, [row_of(1), row_of(2, "error", ""), failed])
        assert load(ledger, tmp_path / "c.parquet") == 3
        rows = [ledger.get(row_of(number)["key"]) for number in (1, 2, 3)]
        assert rows == [row_of(1), row_of(2), row_of(3, "blocked", "")]
    with Ledger(tmp_path / "ledger") as ledger:
        assert load(ledger, tmp_path / "c.parquet") == 0
        assert [ledger.get(row_of(number)["key"]) for number in (1, 2, 3)] == rows


def test_a_cassette_with_an_edited_answer_is_refused(tmp_path):
    path = cassette(tmp_path / "c.parquet", [row_of(1), row_of(2)])
    table = pq.read_table(path).to_pylist()
    table[1]["text"] = "1. forged\n2. b\n3. c"
    pq.write_table(pa.Table.from_pylist(table, pq.read_schema(path)), path)
    with Ledger(tmp_path / "into") as ledger:
        with pytest.raises(InputError, match="not those that were exported"):
            load(ledger, path)
        assert ledger.totals()["calls"] == 0 and not list((tmp_path / "into").iterdir())


def rewritten(**changes):
    """A crafted row whose key fits its content."""
    row = {**row_of(1), **changes}
    return [{**row, "key": key_of(row)}]


DEEP = "[" * 100_000
CRAFTED = {
    "unknown status": rewritten(status="splendid"),
    "foreign key": [{**row_of(1), "prompt": "other"}],
    "empty key": [{**row_of(1), "key": ""}],
    "negative attempts": rewritten(attempts=-1),
    "huge tokens": rewritten(tokens_in=2**62),
    "infinite cost": rewritten(cost=float("inf")),
    "cost is no number": rewritten(cost=float("nan")),
    "negative seconds": rewritten(seconds=-1.0),
    "notes are no JSON": rewritten(notes="{"),
    "notes are a list": rewritten(notes="[]"),
    "notes are deep": rewritten(notes=DEEP),
    "notes of digits": rewritten(notes="1" * 10_000),
    "media are an object": rewritten(media="{}"),
    "sampling is a number": rewritten(sampling="3"),
    "ok without text": rewritten(text=" "),
    "no text": [{**row_of(1), "text": None}],
    "no key": [{**row_of(1), "key": None}],
    "no status": [{**row_of(1), "status": None}],
    "no model": [{**row_of(1), "model": None}],
}
TYPES = {"attempts": pa.string(), "cost": pa.string(), "prompt": pa.binary(), "notes": pa.list_(pa.string())}


def cassette(path, rows, types=None, drop=(), version=str(VERSION)):
    with Ledger(path.with_suffix("")) as ledger:
        ledger.put(row_of(1))
        export(ledger, path)
    schema = pq.read_schema(path)
    fields = [pa.field(f.name, (types or {}).get(f.name, f.type)) for f in schema if f.name not in drop]
    made = pa.schema(fields, metadata={STATED: version})
    cast = {pa.string(): str, pa.binary(): lambda v: str(v).encode() + b"\xff", pa.list_(pa.string()): lambda v: [v]}
    rows = [
        {n: cast[types[n]](v) if types and n in types else v for n, v in row.items() if n not in drop} for row in rows
    ]
    digest = hashlib.sha256(b"".join(map(_line, rows))).hexdigest() if made.names == [*COLUMNS] and not types else ""
    made = made.with_metadata({STATED: version, DIGEST: digest})
    pq.write_table(pa.Table.from_pylist(rows, made), path)
    return path


UNFIT = {
    **{kind: {"rows": [row_of(7), *rows]} for kind, rows in CRAFTED.items()},
    **{f"{name} of another type": {"types": {name: kind}} for name, kind in TYPES.items()},
    **{f"no column {name}": {"drop": (name,)} for name in ("text", "model")},
    **{f"version {version}": {"version": version} for version in ("99", "\u00fc")},
}


@pytest.mark.parametrize("kind", UNFIT)
def test_an_unfit_cassette_is_refused_and_nothing_of_it_is_kept(tmp_path, kind):
    path = cassette(tmp_path / "c.parquet", **{"rows": [row_of(1)], **UNFIT[kind]})
    with Ledger(tmp_path / "into") as ledger:
        with pytest.raises(InputError, match=r"c\.parquet"):
            models_of(path)
            load(ledger, path)
        assert ledger.totals()["calls"] == 0


def test_no_flipped_byte_of_a_cassette_ends_in_a_traceback(tmp_path):
    content = cassette(tmp_path / "c.parquet", [row_of(number) for number in range(30)]).read_bytes()
    draw = random.Random(5)
    for case in range(60):
        flipped = bytearray(content)
        for _ in range(draw.choice([1, 5, 50])):
            flipped[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        path = tmp_path / "f.parquet"
        path.write_bytes(flipped[: draw.choice([len(content), len(content) - 5, len(content) // 2])])
        with Ledger(tmp_path / f"into-{case}") as ledger:
            try:
                models_of(path)
                load(ledger, path)
            except InputError as error:
                assert "f.parquet" in str(error)
            assert list(ledger.faults()) == []


def test_notes_in_json_come_back(tmp_path):
    rows = [{**row_of(1), "notes": json.dumps({"a": [1, "ü"]})}]
    with Ledger(tmp_path / "ledger") as ledger:
        assert load(ledger, cassette(tmp_path / "c.parquet", rows)) == 1
        assert list(ledger.faults()) == []
