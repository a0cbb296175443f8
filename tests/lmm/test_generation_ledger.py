"""The ledger file: many writers, other versions, full disks, damage; and its way to a cassette and back."""

import contextlib
import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from ledger_rows import put_all, row_of
from stub_engine import StubEngine

from verified.__main__ import parser
from verified.config.generation import EngineSettings, Generation
from verified.errors import InputError
from verified.lmm.cassette import export, load
from verified.lmm.client import Call, Client
from verified.lmm.engines.cassette import Cassette
from verified.lmm.ledger import Ledger
from verified.lmm.ledger_files import key_of
from verified.lmm.request import Reply, Request
from verified.lmm.tasks.perturbations import POSITIVES


def call(caption):
    return Call(
        POSITIVES, Request("positives", f"rewrite {caption!r}", {"caption": caption, "count": "3"}, seed=1), count=3
    )


def command(*arguments):
    """Exit status of a command line."""
    parsed = parser().parse_args(list(map(str, arguments)))
    return parsed.run(parsed) or 0


WRITER = """
import sys
sys.path[:0] = ["scripts", "tests"]
from ledger_rows import row_of
from verified.lmm.ledger import Ledger
with Ledger(sys.argv[1]) as ledger:
    for number in range(int(sys.argv[2]), int(sys.argv[2]) + 60):
        ledger.put(row_of(number % 60))
"""


def test_several_jobs_write_at_once(tmp_path):
    """Four processes open a new ledger together and write overlapping calls; every put counts, none is lost."""
    project = Path(__file__).resolve().parents[2]
    path = str(tmp_path / "ledger")
    jobs = [subprocess.Popen([sys.executable, "-c", WRITER, path, str(20 * job)], cwd=project) for job in range(4)]
    assert [job.wait() for job in jobs] == [0] * 4
    with Ledger(tmp_path / "ledger") as ledger:
        assert ledger.totals()["calls"] == 60 and ledger.totals()["attempts"] == 240
        assert list(ledger.faults()) == []


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


@contextlib.contextmanager
def no_file_above(size):
    """The system refuses to let a file of this process grow beyond `size` bytes, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_is_named_and_loses_nothing(tmp_path):
    written = 0
    full = pytest.raises(InputError, match=r"the disk is full.*are not repeated")
    with Ledger(tmp_path / "ledger") as ledger, no_file_above(100_000), full:
        for number in range(10_000):
            ledger.put(row_of(number))
            written += 1
    with Ledger(tmp_path / "ledger") as ledger:
        assert ledger.totals()["calls"] == written > 10 and list(ledger.faults()) == []


def test_stats_and_export_on_the_command_line(tmp_path, capsys):
    path = tmp_path / "ledger"
    with Ledger(path) as ledger:
        put_all(ledger, [row_of(1), row_of(2, "blocked", "")])
    assert command("ledger", "stats", "--ledger", path) == 0
    assert "blocked" in capsys.readouterr().out
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


def test_the_cassette_round_trip(tmp_path):
    """Outcomes of every kind come out of the cassette as they went in, and exports are equal byte for byte."""

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
        asker = Client(engine, ledger, replay=True)
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


def test_cassettes_that_do_not_fit_are_named(tmp_path):
    with pytest.raises(InputError, match="no such cassette"):
        Cassette(str(tmp_path / "none.parquet"), "m")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(InputError, match="not a cassette"):
        Cassette(str(tmp_path / "bad.parquet"), "m")
    with Ledger(tmp_path / "ledger") as ledger:
        ledger.put(row_of(1))
        other = {**row_of(2), "revision": "r2"}
        ledger.put({**other, "key": key_of(other)})
        export(ledger, tmp_path / "c.parquet")
    with pytest.raises(InputError, match=r"no answers of the model 'x'.*it holds m"):
        Cassette(str(tmp_path / "c.parquet"), "x")
    with pytest.raises(InputError, match=r"the revisions r, r2 of m.*set `revision`"):
        Cassette(str(tmp_path / "c.parquet"), "m")
    assert Cassette(str(tmp_path / "c.parquet"), "m", "r2").revision == "r2"
    with pytest.raises(ValueError, match="needs the key `cassette`"):
        EngineSettings(engine="cassette")


def test_a_session_replays_a_recorded_shard_byte_for_byte(tmp_path):
    from captioning import make_moments, make_tar

    from verified.captions.statics import caption_statics
    from verified.keyframes.archive import KeyframeTar
    from verified.lmm.session import Session
    from verified.lmm.tasks.statics import TASKS

    moments = make_moments(["a dog runs", "a cat sits"])
    make_tar(tmp_path / "k.tar", moments, {101: [b"broken"]})

    def rows(generation, engines=None):
        with KeyframeTar(tmp_path / "k.tar") as tar, Session(generation, 7, TASKS, engines) as session:
            return caption_statics(moments, tar, session), session.outcome_counts()

    engine = StubEngine(model="big", revision="r")
    live = rows(Generation(ledger=str(tmp_path / "ledger")), {"llm": engine, "image_lmm": engine})
    with Ledger(tmp_path / "ledger") as ledger:
        export(ledger, tmp_path / "c.parquet")
    role = EngineSettings(engine="cassette", model="big", cassette=str(tmp_path / "c.parquet"))
    replayed = rows(Generation(ledger=str(tmp_path / "new"), llm=role, image_lmm=role))
    assert replayed == live
