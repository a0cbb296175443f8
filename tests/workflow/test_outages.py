"""An endpoint that is down before, in the middle and at the end of a stage: no outage becomes permanent."""

import contextlib
import os
from pathlib import Path

import pytest
import yaml
from captioning import make_moments
from given import asked_corpus
from loopback import completion, endpoint, prompt_of, refusal, sensible
from media import scenes, write_video
from refusals import said
from running import snakemake

from verified.io.jsonl import read_json, read_jsonl, write_jsonl
from verified.lmm.ledger import Ledger

pytestmark = pytest.mark.slow

CAPTIONS = ["a dog runs", "a cat sits", "a cow eats", "a bird flies"]


class Moody:
    """A script for the endpoint: `refuses` says which calls are turned away; `answered` counts the others."""

    def __init__(self):
        self.refuses, self.answered = (lambda body: False), 0

    def __call__(self, number: int, body: dict):
        if self.refuses(body):
            return refusal(503, message="down for maintenance")
        self.answered += 1
        return completion(sensible(body))


@pytest.fixture(scope="module")
def moody():
    script = Moody()
    with endpoint(script) as served:
        script.url = served.url
        yield script


@pytest.fixture(scope="module")
def lab(tmp_path_factory, moody):
    """A function that makes a folder with two videos, four moments and a configuration for the endpoint."""

    def make(incomplete: str) -> Path:
        folder = tmp_path_factory.mktemp(incomplete)
        (folder / "videos").mkdir()
        for name in ("v0", "v1"):
            write_video(folder / "videos" / f"{name}.mp4", scenes([10, 12, 10], seed=ord(name[1])), 8)
        write_jsonl(folder / "moments.jsonl", make_moments(CAPTIONS, seconds=2.0, videos=2))
        config = asked_corpus("lab", moody.url, retries=0, api_slots=1) | {"shards": 1}
        config["generation"]["incomplete"] = incomplete
        (folder / "lab.yaml").write_text(yaml.safe_dump(config))
        return folder

    return make


def run(folder: Path):
    target = "results/lab/captions/dynamics/shard-00.jsonl"
    environment = {**os.environ, "OPENAI_API_KEY": "sk-canary-271828"}
    done = snakemake(folder, "--cores", "1", target, config=folder / "lab.yaml", env=environment)
    rows = None
    with contextlib.suppress(Exception):
        rows = read_jsonl(folder / target)
    return done, rows, folder / target


def last_candidates(body: dict) -> bool:
    return "Questions (Q) and answers (A)" in prompt_of(body) and "a bird flies" in prompt_of(body)


def test_an_outage_fails_the_job_and_what_was_answered_stays(lab, moody):
    folder = lab("fail")
    moody.refuses = lambda body: True
    done, rows, _ = run(folder)
    assert done.returncode and rows is None and moody.answered == 0
    said(done.stdout, f"{moody.url}/", "3 x status-503", "0 of 4", "questions", "run again")

    moody.refuses = lambda body: moody.answered >= 5
    done, rows, _ = run(folder)
    assert done.returncode and rows is None and moody.answered == 5
    said(done.stdout, "1 of 4", "answers")

    moody.refuses = last_candidates
    done, rows, _ = run(folder)
    assert done.returncode and rows is None and moody.answered == 11
    said(done.stdout, "1 of 12", "1 x status-503", f"{moody.url}/", "generation.incomplete to allow")

    moody.refuses = lambda body: False
    done, rows, _ = run(folder)
    assert done.returncode == 0, done.stdout[-3000:]
    assert all(len(row["candidates"]) == 3 and row["reason"] is None for row in rows)
    with Ledger(folder / "results" / "ledger") as ledger:
        assert moody.answered == 12 == sum(1 for _ in ledger.rows("ok"))
    assert "Nothing to be done" in run(folder)[0].stdout and moody.answered == 12


def test_where_it_is_allowed_the_next_run_asks_again_by_itself(lab, moody):
    folder = lab("allow")
    moody.answered, moody.refuses = 0, last_candidates
    done, rows, path = run(folder)
    assert done.returncode == 0, done.stdout[-3000:]
    assert [len(row["candidates"]) for row in rows] == [3, 3, 3, 0] and rows[3]["reason"] == "error: status-503"
    assert read_json(path.with_suffix(".counts.json"))["unanswered"] == {"status-503": 1} and moody.answered == 11

    moody.refuses = lambda body: False
    done, rows, path = run(folder)
    assert done.returncode == 0 and moody.answered == 12
    assert all(len(row["candidates"]) == 3 for row in rows)
    assert read_json(path.with_suffix(".counts.json"))["unanswered"] == {}
    before = path.read_bytes()
    assert "Nothing to be done" in run(folder)[0].stdout and path.read_bytes() == before
