"""Cassettes: out of a ledger and into another, crafted and damaged ones."""

import hashlib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ledger_rows import put_all, row_of
from stub_engine import StubEngine

from verified.config.generation import EngineSettings
from verified.errors import InputError
from verified.lmm.cassette import DIGEST, STATED, _line, export, load, models_of
from verified.lmm.client import Call, Client
from verified.lmm.engines.cassette import Cassette
from verified.lmm.ledger import Ledger
from verified.lmm.ledger_files import COLUMNS, VERSION, key_of
from verified.lmm.preflight import role_problems
from verified.lmm.request import Reply, Request
from verified.lmm.tasks.perturbations import POSITIVES


def call(caption):
    return Call(
        POSITIVES, Request("positives", f"rewrite {caption!r}", {"caption": caption, "count": "3"}, seed=1), count=3
    )


def test_the_cassette_round_trip(tmp_path, monkeypatch):
    """Outcomes of every kind come out of the cassette as they went in, and exports are equal byte for byte."""
    monkeypatch.setattr("verified.lmm.cassette.BATCH", 2)

    def reply(request, text):
        finish = {"cat": "blocked", "cow": "error", "owl": "length"}.get(request.slots["caption"].split()[1], "stop")
        return Reply("" if finish != "stop" else text, finish, "why", "words", 3, 4, 0.1, {"a": [1, "ü"]})

    calls = [call(f"a {animal} runs") for animal in ("dog", "cat", "cow", "owl", "dog", "bee")]
    with Ledger(tmp_path / "live") as ledger:
        live = dict(Client(StubEngine(reply), ledger).ask(calls))
        assert export(ledger, tmp_path / "a.parquet") == 5
    engine = Cassette(str(tmp_path / "a.parquet"), "stub-1")
    assert engine.revision == "a"
    with Ledger(tmp_path / "replay") as ledger:
        assert load(ledger, tmp_path / "a.parquet") == 5 and load(ledger, tmp_path / "a.parquet") == 0
        asker = Client(engine, ledger, role=EngineSettings(engine="cassette", cassette="a.parquet"))
        replayed = dict(asker.ask([*calls, call("a new one runs")]))
        assert export(ledger, tmp_path / "b.parquet") == 6
        assert (replayed[6].status, replayed[6].reason) == ("error", "not-on-cassette")
        assert ledger.forget("error", "not-on-cassette") == 1 and replayed.pop(6)
    with Ledger(tmp_path / "replay") as ledger:
        export(ledger, tmp_path / "b.parquet")
    assert {number: (o.key, o.status, o.reason, o.parsed, o.notes) for number, o in live.items()} == {
        number: (o.key, o.status, o.reason, o.parsed, o.notes) for number, o in replayed.items()
    }
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


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


def test_of_two_cassettes_the_answer_counts_and_their_revisions_are_told_apart(tmp_path):
    rows = {"a": [row_of(1), row_of(2, "blocked", "")], "b": [row_of(1, "blocked", ""), row_of(2)]}
    with Ledger(tmp_path / "ledger") as ledger:
        for name, each in rows.items():
            load(ledger, cassette(tmp_path / f"{name}.parquet", each))
        assert [ledger.get(row_of(number)["key"])["status"] for number in (1, 2)] == ["ok", "ok"]
    assert models_of(cassette(tmp_path / "c.parquet", [*rewritten(revision="s"), row_of(1)])) == {"m": {"r", "s"}}


def test_a_cassette_with_an_edited_answer_is_refused(tmp_path):
    path = cassette(tmp_path / "c.parquet", [row_of(1), row_of(2)])
    table = pq.read_table(path).to_pylist()
    table[1]["text"] = "1. forged\n2. b\n3. c"
    pq.write_table(pa.Table.from_pylist(table, pq.read_schema(path)), path)
    with Ledger(tmp_path / "into") as ledger:
        with pytest.raises(InputError, match="not those that were exported"):
            load(ledger, path)
        assert ledger.totals()["calls"] == 0 and not list((tmp_path / "into").iterdir())
    role = EngineSettings(engine="cassette", model="m", cassette=str(path))
    (problem,) = role_problems({"llm": role, "image_lmm": role})
    assert problem.level == "problem" and problem.key == "generation.llm.cassette, generation.image_lmm.cassette"


def rewritten(**changes):
    row = {**row_of(1), **changes}
    return [{**row, "key": key_of(row)}]


CRAFTED = {
    "unknown status": rewritten(status="splendid"),
    "foreign key": [{**row_of(1), "prompt": "other"}],
    "huge tokens": rewritten(tokens_in=2**62),
    "cost is no number": rewritten(cost=float("nan")),
    "notes are no JSON": rewritten(notes="{"),
    "notes are a list": rewritten(notes="[]"),
    "ok without text": rewritten(text=" "),
    "no text": [{**row_of(1), "text": None}],
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
def test_an_unfit_cassette_is_refused_and_nothing_of_it_is_stored(tmp_path, kind):
    path = cassette(tmp_path / "c.parquet", **{"rows": [row_of(1)], **UNFIT[kind]})
    with Ledger(tmp_path / "into") as ledger:
        with pytest.raises(InputError, match=r"c\.parquet"):
            models_of(path)
            load(ledger, path)
        assert ledger.totals()["calls"] == 0


def test_one_enormous_answer_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("verified.lmm.cassette.MOST_BYTES", 2**20)
    path = cassette(tmp_path / "c.parquet", rewritten(text="a" * 2**21))
    assert path.stat().st_size < 1e6
    with Ledger(tmp_path / "into") as ledger, pytest.raises(InputError, match="bytes"):
        load(ledger, path)
