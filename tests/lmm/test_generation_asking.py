"""Asking: nothing twice, typed outcomes, second attempts, short answers, the budget."""

import contextlib
import dataclasses
import itertools
import multiprocessing
import os
import signal
import time

import pytest
from stub_engine import StubEngine, good_answer

from verified.config.generation import EngineSettings
from verified.lmm.budget import Budget, most_tokens
from verified.lmm.client import Call, Client, MediaError
from verified.lmm.ledger import Ledger
from verified.lmm.request import NotNow, Reply, Request, Sampling
from verified.lmm.tasks.paper import PAPER

BY_NAME = {task.name: task for task in PAPER}


def call(caption, task="positives", **changes):
    values = {"caption": caption, "count": "3"}
    request = Request(task, f"rewrite {caption!r}", values, seed=1)
    return Call(BY_NAME[task], request, count=3, **changes)


@pytest.fixture
def ledger(tmp_path):
    with Ledger(tmp_path / "ledger") as opened:
        yield opened


def ask(client, calls):
    return [outcome for _, outcome in sorted(client.ask(calls))]


@pytest.mark.parametrize(
    "changed",
    [
        {"prompt": "other"},
        {"task": "static_negatives"},
        {"seed": 2},
        {"schema": {"type": "object"}},
        {"sampling": Sampling(temperature=0)},
        {"sampling": Sampling(max_tokens=9)},
        {"sampling": Sampling(top_p=0.9)},
        {"sampling": Sampling(chat_template_kwargs='{"thoughts": 0}')},
        "media",
        "model",
        "revision",
    ],
    ids=str,
)
def test_whatever_the_answer_depends_on_is_in_the_key(ledger, changed):
    first = call("a dog runs")
    ask(Client(StubEngine(), ledger), [first])
    engine = StubEngine(**({changed: "other"} if changed in ("model", "revision") else {}))
    other = first
    if changed == "media":
        other = call("a dog runs", media=("0f",))
    elif isinstance(changed, dict):
        request = dataclasses.replace(first.request, **changed)
        other = Call(BY_NAME[request.task], request, count=3)
    ask(Client(engine, ledger), [other])
    assert len(engine.requests) == 1


def test_an_invalid_answer_is_repeated_with_another_seed(ledger):
    replies = iter(["I am not sure.", "<html><body>no</body></html>"])
    engine = StubEngine(lambda request, text: Reply(next(replies, text), tokens_in=7, tokens_out=2))
    (outcome,) = ask(Client(engine, ledger, role=EngineSettings(price_in=1e6, price_out=2e6)), [call("a dog runs")])
    assert outcome.status == "ok" and outcome.attempts == 3 and outcome.reason == ""
    assert (outcome.tokens_in, outcome.tokens_out, outcome.cost) == (21, 6, 33.0)
    assert len({request.seed for request in engine.requests}) == 3


def test_an_answer_that_stays_invalid_is_final_until_more_attempts_are_allowed(ledger):
    for attempts, asked in ((2, 2), (2, 0), (3, 3)):
        engine = StubEngine(lambda request, _: Reply("I am not sure."))
        (outcome,) = ask(Client(engine, ledger, attempts=attempts), [call("a dog runs")])
        assert (outcome.status, len(engine.requests)) == ("invalid", asked)


def test_the_next_call_may_take_as_many_tokens_as_the_largest_so_far(ledger):
    request = call("犬 runs").request
    assert most_tokens(request, 5, 0) == (len(request.prompt.encode()) + 64 + 5, 512) > (len(request.prompt) + 69, 512)
    for tokens, calls in ((1315, 3), (1314, 2)):  # 400 and 3 are read, and the third may take 400 and 512
        read, last = iter((400, 3, 3)), tokens == 1314
        client = Client(StubEngine(lambda _, text, read=read: Reply(text, tokens_in=next(read))), ledger)
        client.budget = Budget(ledger, tokens=tokens + 406 * last)
        with pytest.raises(NotNow) if last else contextlib.nullcontext():
            ask(client, [call(f"a dog of {tokens} runs {number}") for number in range(3)])
        assert client.calls_made == calls


def test_after_the_last_attempt_the_best_short_answer_counts_the_first_of_equals(ledger):
    texts = iter(["1. a dog runs fast", "1. a dog runs far\n2. a dog runs off", "1. a dog runs up\n2. a dog runs by"])
    engine = StubEngine(lambda request, _: Reply(next(texts)))
    (outcome,) = ask(Client(engine, ledger), [call("a dog runs")])
    assert (outcome.status, outcome.reason) == ("ok", "short")
    assert outcome.parsed.items == ("a dog runs far", "a dog runs off") and outcome.parsed.missing == 1
    again = StubEngine()
    (known,) = ask(Client(again, ledger), [call("a dog runs")])
    assert not again.requests and known.parsed == outcome.parsed and known.reason == "short"


@pytest.mark.parametrize(
    ("engine_name", "finish", "reason", "repeated"),
    [
        ("openai", "blocked", "content-filter", False),
        ("openai", "error", "context-length", True),  # an endpoint may take later what it refused
        ("openai", "error", "status-400", True),
        ("vllm", "blocked", "content-filter", False),
        ("vllm", "error", "context-length", True),  # costs nothing, and its limit is no part of the key
        *(("openai", "error", reason, True) for reason in ("connection", "timeout", "rate-limit", "garbage")),
        *(("openai", "error", reason, True) for reason in ("endpoint", "status-500", "status-503", "status-408")),
    ],
)
def test_errors_of_the_call_are_final_and_temporary_ones_are_not(ledger, engine_name, finish, reason, repeated):
    engine = StubEngine(lambda request, _: Reply("", finish, reason, "in words"))
    engine.name = engine_name
    outcomes = ask(Client(engine, ledger), [call("a dog runs"), call("a cat sits"), call("a dog runs")])
    assert len(engine.requests) == 2
    assert {(outcome.status, outcome.reason, outcome.detail) for outcome in outcomes} == {(finish, reason, "in words")}
    again = StubEngine()
    (outcome,) = ask(Client(again, ledger), [call("a dog runs")])
    assert len(again.requests) == repeated and outcome.status == ("ok" if repeated else finish)


def test_an_outage_does_not_make_a_short_answer_final(ledger):
    replies = iter([Reply("1. a dog runs fast"), Reply("", "error", "timeout")])
    (outcome,) = ask(Client(StubEngine(lambda request, _: next(replies)), ledger), [call("a dog runs")])
    assert (outcome.status, outcome.reason, outcome.passes) == ("error", "timeout", True)
    (outcome,) = ask(Client(StubEngine(), ledger), [call("a dog runs")])
    assert outcome.status == "ok" and outcome.parsed.missing == 0


def test_with_go_on_all_calls_of_an_outage_end_and_are_repeated_later(ledger):
    class Down(StubEngine):
        def answer(self, requests):
            yield from itertools.islice(super().answer(requests), 3)
            raise NotNow("outage", "nobody is there")

    calls = [call(f"dog {number} runs") for number in range(10)]
    with pytest.raises(NotNow):
        ask(Client(Down(), ledger), calls)
    outcomes = ask(Client(Down(), ledger, go_on=True), calls)
    assert [outcome.status for outcome in outcomes] == ["ok"] * 6 + ["error"] * 4
    assert all(outcome.passes and outcome.reason == "outage" for outcome in outcomes[6:])
    spent = Client(StubEngine(), ledger, budget=Budget(ledger, calls=8), go_on=True)
    outcomes = ask(spent, [*calls[6:], *calls[:6]])
    assert [outcome.reason for outcome in outcomes] == ["", "", "budget", "budget", *[""] * 6]
    engine = StubEngine()
    assert all(outcome.status == "ok" for outcome in ask(Client(engine, ledger, go_on=True), calls))
    assert len(engine.requests) == 2


def test_media_are_loaded_only_for_calls_that_are_made(ledger):
    loaded = []

    def load(name):
        loaded.append(name)
        if name == "broken":
            raise MediaError("broken.jpg cannot be decoded")
        return {"images": (name.encode(),)}

    def calls():
        for name in ("one", "broken", "two", "one"):
            yield call(f"a dog by {name}", task="positives", media=(name,), load=lambda name=name: load(name))

    engine = StubEngine()
    outcomes = ask(Client(engine, ledger), calls())
    assert [(o.status, o.reason) for o in outcomes] == [("ok", ""), ("error", "media"), ("ok", ""), ("ok", "")]
    assert "broken.jpg" in outcomes[1].detail
    assert [request.images for request in engine.requests] == [(b"one",), (b"two",)]
    assert loaded == ["one", "broken", "two"]
    ask(Client(StubEngine(), ledger), calls())
    assert loaded == ["one", "broken", "two", "broken"]


class Slow(StubEngine):
    """Has four calls under way at a time, and takes half of what they may."""

    def answer(self, requests):
        while batch := list(itertools.islice(requests, 4)):
            time.sleep(0.01)
            for request in batch:
                tokens_in, tokens_out = most_tokens(request, 0, 0)
                yield Reply(good_answer(request), tokens_in=int(tokens_in / 2), tokens_out=int(tokens_out / 2))


def share_budget(path, job: int, calls: int, limits: dict, killed: bool) -> None:
    with Ledger(path) as ledger:
        budget = Budget(ledger, **limits)
        if killed:
            assert budget.reserve("left behind", {"calls": 1, "tokens": 10**9, "money": 10**9})
            os.kill(os.getpid(), signal.SIGKILL)
        captions = [f"dog {number} of {job} runs" for number in range(calls)]
        with contextlib.suppress(NotNow):
            ask(Client(Slow(), ledger, 3, EngineSettings(price_in=2, price_out=10), budget), map(call, captions))
        budget.close()


@pytest.mark.parametrize("name, share", [("money", 17.6), ("tokens", 17.6), ("calls", 31), ("money", 1000)])
def test_jobs_at_the_same_time_never_exceed_their_budget_together(tmp_path, name, share):
    """Four jobs and one that is killed with calls under way: the others use the budget up to less than a call."""
    one = most_tokens(call("dog 10 of 1 runs").request, 0, 0)
    most = {"calls": 1, "tokens": sum(one), "money": (one[0] * 2 + one[1] * 10) / 1e6}[name]
    limit = share if name == "calls" else share * most
    path, context = tmp_path / "ledger", multiprocessing.get_context("fork")
    jobs = [
        context.Process(target=share_budget, args=(path, job, 20, {name: limit if job else 10**10}, not job))
        for job in range(5)
    ]
    for job in jobs:
        job.start()
        if job is jobs[0]:
            job.join()
    for job in jobs:
        job.join()
    assert [job.exitcode for job in jobs] == [-signal.SIGKILL, 0, 0, 0, 0]
    with Ledger(path) as ledger:
        totals = ledger.totals()
    spent = {"calls": totals["attempts"], "tokens": totals["tokens_in"] + totals["tokens_out"], "money": totals["cost"]}
    assert spent[name] <= limit
    assert totals["attempts"] == 80 or spent[name] + most > limit, "what others may take and did not is used"
    assert not list(tmp_path.rglob("budget.*")), "nothing is left of it"
