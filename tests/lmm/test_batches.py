"""Calls in batches: whatever a provider leaves out is asked again, nothing is sent twice, no answer is lost."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from asking_loopback import GOOD, call
from batch_loopback import answered, expired, failed, good, provider
from loopback import completion, endpoint

from verified.config.generation import EngineSettings, Generation
from verified.config.params import deciding
from verified.lmm.budget import Budget
from verified.lmm.client import Client
from verified.lmm.engines import batches
from verified.lmm.engines.batch_files import Store
from verified.lmm.ledger import Ledger
from verified.lmm.preflight import endpoint_findings
from verified.lmm.request import NotNow
from verified.lmm.session import Session
from verified.perturbations import write as perturbations

pytestmark = pytest.mark.slow


def role(url, **changes):
    values = {"engine": "openai", "model": "loop-1", "base_url": url, "batch": True, "retries": 3, **changes}
    return EngineSettings(**values)


def engine(tmp_path, url, most_rows=1000, **changes):
    settings = role(url, **changes)
    provider = batches.Provider(settings, 0.01, 0.05)
    return batches.Batches(settings, provider, Store(tmp_path / "ledger", most_rows), 0.01, 0.02)


def ask(tmp_path, asked, calls, attempts=2, prices=(0.0, 0.0), **limits):
    with Ledger(tmp_path / "ledger") as ledger:
        client = Client(asked, ledger, attempts, prices, Budget(ledger, **limits))
        outcomes = dict(client.ask(calls))
    return [outcomes[number] for number in range(len(calls))]


def left(tmp_path) -> list[str]:
    return [path.name for path in (tmp_path / "ledger.batches").glob("*")]


def half_missing(number, calls):
    return [row for n, row in enumerate(good(number, calls)) if number or n % 2]


def doubled(number, calls):
    rows = good(number, calls)
    other = {**rows[0], "response": {**rows[0]["response"], "body": json.loads(completion("1. no").body)}}
    return [*rows, *rows, other, answered("a" * 64, next(iter(calls.values()))), b"{", b'{"custom_id": 7}', b"[]"]


def half_expired(number, calls):
    return [row if number or n % 2 else expired(row["custom_id"]) for n, row in enumerate(good(number, calls))]


def busy(number, calls):
    return [
        row if number or n % 3 else failed(row["custom_id"], 429, "rate") for n, row in enumerate(good(number, calls))
    ]


def garbled(number, calls):
    rows = good(number, calls)
    if not number:
        rows[0]["response"]["body"] = {"choices": "none"}
        rows[1] = b"\xff\xfe not json"
        rows[2]["response"] = "gone"
    return rows


@pytest.mark.parametrize(
    "script", [good, half_missing, doubled, half_expired, busy, garbled], ids=lambda one: one.__name__
)
def test_whatever_a_batch_leaves_out_is_asked_again(tmp_path, script):
    with provider(script) as served:
        outcomes = ask(tmp_path, engine(tmp_path, served.url), [call(number) for number in range(9)])
    assert [outcome.status for outcome in outcomes] == ["ok"] * 9 and len({outcome.key for outcome in outcomes}) == 9
    again = len(served.asked) - 9
    assert again == {half_missing: 5, half_expired: 5, busy: 3, garbled: 3}.get(script, 0)
    assert {outcome.key for outcome in outcomes} == set(served.asked) and all(out.attempts == 1 for out in outcomes)
    assert left(tmp_path) == [] and set(served.deleted) == set(served.kept), "nothing stays, here or there"


def test_answers_that_are_final_are_not_asked_for_again(tmp_path):
    def script(number, calls):
        first, second, *others = calls
        rows = [failed(first, 400, "content_filter"), failed(second, 400, "context_length_exceeded")]
        return [*rows, *(answered(key, calls[key]) for key in others)]

    with provider(script) as served:
        outcomes = ask(tmp_path, engine(tmp_path, served.url), [call(number) for number in range(3)])
        assert len(served.asked) == 3
    assert [outcome.status for outcome in outcomes] == ["blocked", "error", "ok"]
    assert outcomes[1].reason == "context-length"


def test_an_answer_that_cannot_be_used_is_another_attempt_in_another_batch(tmp_path):
    def script(number, calls):
        text = GOOD if number else "nothing of the kind"
        return [
            {**answered(key, body), "response": {"status_code": 200, "body": json.loads(completion(text).body)}}
            for key, body in calls.items()
        ]

    with provider(script) as served:
        outcomes = ask(tmp_path, engine(tmp_path, served.url), [call(number) for number in range(2)])
        seeds = [[row["body"]["seed"] for row in rows] for _, rows in served.sent.values()]
    assert [(outcome.status, outcome.attempts) for outcome in outcomes] == [("ok", 2)] * 2
    assert len(seeds) == 2 and not set(seeds[0]) & set(seeds[1])


JOB = """
import sys
from pathlib import Path
sys.path[:0] = [{tests!r}]
import test_batches as tests
asked = tests.engine(Path({folder!r}), {url!r}, most_rows=3)
tests.ask(Path({folder!r}), asked, [tests.call(number) for number in range({calls})])
"""


def run_job(tmp_path, served, calls=5):
    here = Path(__file__).parent
    code = JOB.format(tests=str(here), folder=str(tmp_path), url=served.url, calls=calls)
    path = os.pathsep.join([str(here.parent), *filter(None, sys.path)])
    return subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path})


@pytest.mark.parametrize(
    "moment",
    [
        ("POST", "/files"),
        ("POST", "/batches"),
        pytest.param(("GET", "/batches/batch-1"), marks=pytest.mark.night),
        pytest.param(("GET", "/files/output-0/content"), marks=pytest.mark.night),
    ],
)
def test_a_job_that_is_killed_leaves_its_batches_and_the_next_one_sends_nothing_twice(tmp_path, moment):
    """Killed when the provider has done what was asked and nobody has heard of it."""
    with provider(half_missing) as served:
        job = run_job(tmp_path, served)

        def kill(method, path):
            if (method, path) == moment and job.poll() is None:
                job.send_signal(signal.SIGKILL)
                job.wait()

        served.after = kill
        assert job.wait(timeout=100) == -signal.SIGKILL
        outcomes = ask(tmp_path, engine(tmp_path, served.url, most_rows=3), [call(number) for number in range(5)])
    assert [outcome.status for outcome in outcomes] == ["ok"] * 5
    files = [tuple(sorted(row["custom_id"] for row in rows)) for _, rows in served.sent.values()]
    assert len(set(files)) == len(files) == len(served.batches), "each file was sent once, and is one batch"
    once = 5 + sum(served.asked.count(key) - 1 for key in set(served.asked))
    assert len(served.asked) == once and max(map(served.asked.count, served.asked)) <= 2
    assert all(outcome.attempts == 1 for outcome in outcomes) and left(tmp_path) == []


def test_unexpected_costs_stop_the_other_batches(tmp_path):
    """Answers take a hundred times the tokens: the first batch shows it, the others are cancelled."""

    def dear(number, calls):
        rows = good(number, calls)
        for row in rows:
            row["response"]["body"]["usage"]["prompt_tokens"] = 10**6
        return rows if number == 0 else rows[:1]

    with provider(dear) as served:
        served.looks = 0
        serve = served._look

        def slow(name):  # the second one waits until it is cancelled
            if name == "batch-1" and served.batches[name]["status"] == "validating":
                return served.batches[name]
            return serve(name)

        served._look = slow
        asked = engine(tmp_path, served.url, most_rows=2)
        outcomes = ask(tmp_path, asked, [call(n) for n in range(5)], prices=(1.0, 1.0), money=0.01)
        assert "batch-1" in served.cancelled and len(served.batches) == 3
    ended = [(outcome.status, outcome.reason) for outcome in outcomes]
    assert sorted(ended) == [("error", "budget"), *[("ok", "")] * 4], "what a cancelled batch has answered is kept"
    with provider() as after:  # with a larger budget, the rest
        outcomes = ask(tmp_path, engine(tmp_path, after.url), [call(n) for n in range(5)], money=100.0)
        assert {outcome.status for outcome in outcomes} == {"ok"} and len(after.asked) == 1


def test_names_that_would_lead_elsewhere_are_not_followed(tmp_path):
    with provider() as served:
        served.before = lambda method, path: (
            (200, {"id": "../../admin", "object": "file"}) if method == "POST" else None
        )
        with pytest.raises(NotNow):
            ask(tmp_path, engine(tmp_path, served.url, outage_seconds=0.2, retries=0), [call(1)])
    assert not served.batches


def test_a_call_of_a_batch_costs_its_share():
    settings = role("http://a/v1", price_in=2.0, price_out=4.0)
    assert settings.prices == (1.0, 2.0) and role(None, batch=False, price_in=2.0).prices == (2.0, 0.0)
    assert deciding(settings) == deciding(role("http://a/v1", batch=False)), "an answer is the same"


def test_a_stage_asks_in_batches_what_it_would_ask_in_calls(tmp_path):
    """One batch a step, the same keys and outcomes, at half the price."""
    moments = [{"caption": f"a dog number {number} runs"} for number in range(4)]
    spent, keys = [], []
    for batch in (False, True):
        with provider() as batched, endpoint() as single:
            url = batched.url if batch else single.url
            values = {"engine": "openai", "model": "loop-1", "base_url": url, "batch": batch, "price_in": 1.0}
            ledger = tmp_path / f"ledger-{batch}"
            generation = Generation(llm=EngineSettings(**values), ledger=str(ledger))
            with Session(generation, 7, perturbations.TASK_OF_KIND.values()) as session:
                perturbations.ask(moments, session)
            assert len(batched.batches) == (3 if batch else 0) and bool(single.bodies) != batch
        with Ledger(ledger) as held:
            spent.append(held.totals()["cost"])
            keys.append([(row["key"], row["status"]) for row in held.rows()])
    assert keys[0] == keys[1] and 0 < spent[0] == pytest.approx(2 * spent[1])


def test_a_check_says_whether_an_endpoint_takes_batches():
    with provider() as without, provider() as batched:
        without.before = lambda method, path: (404, {"error": {"message": "Not Found"}})
        for url, level in ((batched.url, "ok"), (without.url, "problem")):
            generation = Generation(llm=role(url), image_lmm=role(url), video_lmm=role(url, batch=False))
            found = [one for one in endpoint_findings(generation, generation.roles()) if one.key.endswith(".batch")]
            assert [(one.level, one.key) for one in found] == [(level, "generation.llm.batch")]
            assert level == "ok" or found[0].remedy
