"""Ledgers that were killed, robbed, zero-filled, damaged; cassettes that were crafted."""

import json
import random
import shutil
import sqlite3
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
from verified.lmm.asking import Call, Client
from verified.lmm.cassette import export, load, models_of
from verified.lmm.ledger import Ledger
from verified.lmm.ledger_check import faults, rescue
from verified.lmm.ledger_file import SCHEMA_VERSION
from verified.lmm.ledger_row import key_of
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
    (part,) = path.with_name(f"{path.name}.parts").glob("*.part")
    return part


def command(*arguments):
    parsed = parser().parse_args(list(map(str, arguments)))
    return parsed.run(parsed) or 0


def test_a_killed_job_loses_nothing_and_the_next_one_clears_up(tmp_path):
    path = tmp_path / "l.sqlite"
    killed_writer(path)
    with Ledger(path, read_only=True) as ledger:
        assert ledger.totals()["calls"] == 40
    with Ledger(path) as ledger:
        assert ledger.totals()["calls"] == 40 == len(list(ledger.rows()))
    assert [file.name for file in tmp_path.iterdir()] == ["l.sqlite"]


OFTEN = """
import sys
sys.path[:0] = ["scripts", "tests"]
from ledger_rows import row_of
from verified.lmm.ledger import Ledger
for number in range(20):
    with Ledger(sys.argv[1]) as ledger:
        ledger.put(row_of(number))
"""


def test_jobs_that_begin_and_end_together_do_not_take_each_other_for_lost(tmp_path):
    jobs = [subprocess.Popen([sys.executable, "-c", OFTEN, tmp_path / "l.sqlite"], cwd=PROJECT) for _ in range(4)]
    assert [job.wait() for job in jobs] == [0] * 4
    with Ledger(tmp_path / "l.sqlite") as first, Ledger(tmp_path / "l.sqlite") as second:
        assert first.totals()["attempts"] == second.totals()["attempts"] == 80
    assert [file.name for file in tmp_path.iterdir()] == ["l.sqlite"]


def test_a_part_that_is_removed_under_a_job_is_named(tmp_path):
    with Ledger(tmp_path / "l.sqlite") as ledger:
        ledger.put(row_of(1))
        shutil.rmtree(tmp_path / "l.sqlite.parts")
        with pytest.raises(InputError, match=r"\.part: answers are lost"):
            ledger.put(row_of(2))


ZEROED = {
    "text": "UPDATE calls SET text = CAST(zeroblob(length(text)) AS TEXT) WHERE key = ?",
    "end of the text": "UPDATE calls SET text = CAST(substr(text, 1, 5) || zeroblob(20) AS TEXT) WHERE key = ?",
    "not UTF-8": "UPDATE calls SET text = CAST(x'61ff' AS TEXT) WHERE key = ?",
    "prompt": "UPDATE calls SET prompt = CAST(zeroblob(length(prompt)) AS TEXT) WHERE key = ?",
    "key": "UPDATE calls SET key = CAST(zeroblob(length(key)) AS TEXT) WHERE key = ?",
    "attempts": "UPDATE calls SET attempts = zeroblob(8) WHERE key = ?",
}


def asked(ledger, captions):
    """How many of the calls an engine was asked."""
    engine = StubEngine()
    slots = ({"caption": caption, "count": "3"} for caption in captions)
    calls = [Call(POSITIVES, Request("positives", f"rewrite {row['caption']}", row, seed=1), count=3) for row in slots]
    assert all(outcome.status == "ok" for _, outcome in Client(engine, ledger).ask(calls))
    return len(engine.requests)


@pytest.mark.parametrize("what", ZEROED)
def test_a_zero_filled_row_is_found_and_asked_again(tmp_path, what, capsys):
    path, captions = tmp_path / "l.sqlite", ["a dog runs", "a cat sits", "a cow eats"]
    with Ledger(path) as ledger:
        assert asked(ledger, captions) == 3
        key = next(ledger.rows())["key"]
    with sqlite3.connect(path) as connection:
        connection.execute(ZEROED[what], (key,))
    assert command("ledger", "verify", "--ledger", path) == 1
    with Ledger(path) as ledger:
        assert len(list(ledger.rows())) == 2
        assert asked(ledger, captions) == 1
        assert ledger.damaged == 1 and len(list(ledger.rows())) == 3
    with Ledger(path) as ledger:
        assert asked(ledger, captions) == 0
    assert command("ledger", "export", "--ledger", path, "--output", tmp_path / "c.parquet") == 0
    assert "3 calls written" in capsys.readouterr().out


@pytest.mark.parametrize("damage", ["zeros", "cut", "one bit"])
def test_a_damaged_line_of_a_part_is_found_and_asked_again(tmp_path, damage, capsys):
    path = tmp_path / "l.sqlite"
    part = killed_writer(path)
    lines = part.read_bytes().splitlines(keepends=True)
    if damage == "zeros":
        lines[7] = bytes(len(lines[7]))
    elif damage == "cut":
        lines[-1] = lines[-1][:100]
    else:
        lines[7] = lines[7][:50] + bytes([lines[7][50] ^ 1]) + lines[7][51:]
    part.write_bytes(b"".join(lines))
    lost = 2 if damage == "zeros" else 1  # the line has lost its end as well
    assert command("ledger", "verify", "--ledger", path) == 1
    assert "1 lines of the parts" in capsys.readouterr().out
    with Ledger(path) as ledger:
        assert ledger.damaged == 1 and ledger.totals()["calls"] == 40 - lost
        assert sum(ledger.get(row_of(number)["key"]) is None for number in range(40)) == lost
        put_all(ledger, (row_of(number) for number in range(40) if ledger.get(row_of(number)["key"]) is None))
    with Ledger(path) as ledger:
        assert ledger.totals()["attempts"] == 40 and list(faults(ledger)) == []


def test_rescue_brings_the_parts_along(tmp_path):
    path = damaged(tmp_path / "l.sqlite", 0.55)
    killed_writer(path, 5000)
    saved, broken = rescue(path, tmp_path / "new.sqlite")
    assert broken and saved > 2540
    (tmp_path / "new.sqlite").replace(path)
    with Ledger(path) as ledger:
        assert ledger.totals()["attempts"] == saved and ledger.get(row_of(5039)["key"])


def damaged(path, share, length=4096):
    """A ledger of 3,000 calls with some bytes overwritten at a share `share` of it."""
    with Ledger(path) as ledger:
        put_all(ledger, (row_of(number) for number in range(3000)))
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(int(size * share) // 4096 * 4096)
        file.write(bytes(random.Random(3).randrange(256) for _ in range(length)))
    return path


@pytest.mark.parametrize("place", [0.3, 0.6, 0.9])
def test_a_damaged_ledger_is_a_named_error_everywhere_and_can_be_rescued(tmp_path, place, capsys):
    path = damaged(tmp_path / "l.sqlite", place)
    named = []
    try:
        with Ledger(path) as ledger:
            for number in range(3000):
                ledger.get(row_of(number)["key"])
                ledger.put(row_of(number))
    except InputError as error:
        named.append(str(error))
    assert named and "damaged" in named[0] and "ledger rescue" in named[0]
    assert command("ledger", "verify", "--ledger", path) == 1
    assert "damaged" in capsys.readouterr().out
    saved, broken = rescue(path, tmp_path / "new.sqlite")
    assert 2500 < saved < 3000 and 0 < broken < 30
    with Ledger(tmp_path / "new.sqlite") as ledger:
        assert list(faults(ledger)) == [] and ledger.totals()["calls"] == saved
    with pytest.raises(InputError, match="there already"):
        rescue(path, tmp_path / "new.sqlite")


def test_no_flipped_byte_ends_in_a_traceback(tmp_path, capsys):
    with Ledger(tmp_path / "whole.sqlite") as ledger:
        put_all(ledger, (row_of(number) for number in range(60)))
    content = (tmp_path / "whole.sqlite").read_bytes()
    draw = random.Random(11)
    for case in range(60):
        path = tmp_path / f"{case}.sqlite"
        flipped = bytearray(content)
        for _ in range(draw.choice([1, 20, 400])):
            flipped[draw.choice([draw.randrange(200), draw.randrange(len(content))])] ^= 1 << draw.randrange(8)
        path.write_bytes(flipped[: draw.choice([len(content), len(content) // 2, 4096, 10])])
        for arguments in (("verify",), ("stats",), ("export", "--output", tmp_path / "c.parquet")):
            try:
                command("ledger", arguments[0], "--ledger", path, *arguments[1:])
            except InputError as error:
                assert str(path) in str(error) or "c.parquet" in str(error)
    capsys.readouterr()


def test_failed_calls_can_be_forgotten(tmp_path, capsys):
    path = tmp_path / "l.sqlite"
    with Ledger(path) as ledger:
        put_all(ledger, [row_of(1), row_of(2, "blocked", ""), {**row_of(3, "error", ""), "reason": "context-length"}])
    assert command("ledger", "forget", "--ledger", path, "--status", "error", "--reason", "context-length") == 0
    assert "1 calls forgotten" in capsys.readouterr().out
    with Ledger(path) as ledger:
        assert {row["status"] for row in ledger.rows()} == {"ok", "blocked"}


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


def cassette(path, rows, types=None, drop=(), version=str(SCHEMA_VERSION)):
    with Ledger(path.with_suffix(".sqlite")) as ledger:
        ledger.put(row_of(1))
        export(ledger, path)
    schema = pq.read_schema(path)
    fields = [pa.field(f.name, (types or {}).get(f.name, f.type)) for f in schema if f.name not in drop]
    made = pa.schema(fields, metadata={"verified.ledger.schema_version": version})
    cast = {pa.string(): str, pa.binary(): lambda v: str(v).encode() + b"\xff", pa.list_(pa.string()): lambda v: [v]}
    rows = [
        {n: cast[types[n]](v) if types and n in types else v for n, v in row.items() if n not in drop} for row in rows
    ]
    pq.write_table(pa.Table.from_pylist(rows, made), path)
    return path


def refused(tmp_path, path):
    with Ledger(tmp_path / "into.sqlite") as ledger:
        with pytest.raises(InputError, match=r"c\.parquet"):
            models_of(path)
            load(ledger, path)
        assert ledger.totals()["calls"] == 0


@pytest.mark.parametrize("kind", CRAFTED)
def test_a_crafted_call_is_refused_with_its_row_and_nothing_of_it_is_kept(tmp_path, kind):
    refused(tmp_path, cassette(tmp_path / "c.parquet", [row_of(7), *CRAFTED[kind]]))


@pytest.mark.parametrize("name", TYPES)
def test_columns_of_another_type_are_refused(tmp_path, name):
    refused(tmp_path, cassette(tmp_path / "c.parquet", [row_of(1)], {name: TYPES[name]}))


@pytest.mark.parametrize(
    "changes", [{"drop": ("text",)}, {"drop": ("model",)}, {"version": "99"}, {"version": "\u00fc"}]
)
def test_other_columns_or_versions_are_refused(tmp_path, changes):
    refused(tmp_path, cassette(tmp_path / "c.parquet", [row_of(1)], **changes))


def test_no_flipped_byte_of_a_cassette_ends_in_a_traceback(tmp_path):
    content = cassette(tmp_path / "c.parquet", [row_of(number) for number in range(30)]).read_bytes()
    draw = random.Random(5)
    for case in range(60):
        flipped = bytearray(content)
        for _ in range(draw.choice([1, 5, 50])):
            flipped[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        path = tmp_path / "f.parquet"
        path.write_bytes(flipped[: draw.choice([len(content), len(content) - 5, len(content) // 2])])
        with Ledger(tmp_path / f"{case}.sqlite") as ledger:
            try:
                models_of(path)
                load(ledger, path)
            except InputError as error:
                assert "f.parquet" in str(error)
            assert list(faults(ledger)) == []


def test_notes_in_json_come_back(tmp_path):
    rows = [{**row_of(1), "notes": json.dumps({"a": [1, "ü"]})}]
    with Ledger(tmp_path / "l.sqlite") as ledger:
        assert load(ledger, cassette(tmp_path / "c.parquet", rows)) == 1
        assert list(faults(ledger)) == []
