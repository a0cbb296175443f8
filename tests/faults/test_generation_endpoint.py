"""Endpoints at their worst: every call ends typed, none is lost or repeated, and the reason is named."""

import json
import re
import time

import numpy as np
import pytest
from asking_loopback import GOOD, JSON, ask, call, engine
from captioning import jpeg
from loopback import Scripted, completion, endpoint, images_of, prompt_of, refusal, strict
from refusals import refused
from running import PROJECT

from verified.config.generation import Generation
from verified.errors import InputError
from verified.lmm.engines.protocol import reply_of
from verified.lmm.session import Session
from verified.lmm.tasks.perturbations import POSITIVES

pytestmark = pytest.mark.slow


def test_answers_tokens_and_the_cap_on_calls_under_way(tmp_path):
    with endpoint(lambda number, body: completion(GOOD)._replace(delay=0.02)) as served:
        outcomes = ask(tmp_path, engine(served.url), map(call, range(40)))
    assert all(o.status == "ok" and (o.tokens_in, o.tokens_out) == (12, 4) and o.seconds >= 0.02 for o in outcomes)
    assert len(served.bodies) == 40 and 2 <= served.most <= 4
    body = served.bodies[0]
    assert body["model"] == "loop-1" and body["max_tokens"] == 512 and 0 <= body["seed"] < 2**31


def test_images_and_frames_travel_as_data_urls(tmp_path):
    with endpoint() as served:
        pictures = (jpeg(5), b"\x89PNG rest")
        ask(tmp_path, engine(served.url), [call(1, images=pictures), call(2, frames=np.zeros((3, 8, 8, 3), np.uint8))])
    by_prompt = {prompt_of(body)[:8]: images_of(body) for body in served.bodies}
    assert [url[:22] for url in by_prompt["number 1"]] == ["data:image/jpeg;base64", "data:image/png;base64,"]
    assert len(by_prompt["number 2"]) == 3 and all(url.startswith("data:image/jpeg") for url in by_prompt["number 2"])


def test_the_schema_is_handed_on(tmp_path):
    with endpoint(lambda number, body: completion('{"1": "a dog x", "2": "a dog y", "3": "a dog z"}')) as served:
        (outcome,) = ask(tmp_path, engine(served.url), [call(1, schema=POSITIVES.schema(3))])
    assert outcome.parsed.items == ("a dog x", "a dog y", "a dog z")
    assert served.bodies[0]["response_format"]["json_schema"]["schema"]["required"] == ["1", "2", "3"]


def test_a_storm_of_429_is_waited_out(tmp_path):
    """Most calls are turned away at first, with and without Retry-After; in the end each is answered once."""

    def script(number, body):
        if number <= 40 or number % 2:
            return refusal(429, "rate_limit_exceeded", **({"Retry_After": "0.01"} if number % 4 else {}))
        return completion(GOOD)

    with endpoint(script) as served:
        outcomes = ask(tmp_path, engine(served.url, retries=60), map(call, range(30)))
    assert all(outcome.status == "ok" and outcome.attempts == 1 for outcome in outcomes)
    assert 100 <= len(served.bodies) <= 101


@pytest.mark.parametrize(("header", "seconds"), [({"Retry_After": "0.6"}, 0.6), ({"retry_after_ms": "70"}, 0.07)])
def test_retry_after_is_honoured(header, seconds, tmp_path):
    replies = [refusal(429, **header), completion(GOOD)]
    times = []

    def script(number, body):
        times.append(time.monotonic())
        return replies[number - 1]

    with endpoint(script) as served:
        (outcome,) = ask(tmp_path, engine(served.url), [call(1)])
    assert outcome.status == "ok" and 60 > times[1] - times[0] >= seconds


def answer(**body) -> Scripted:
    return Scripted(200, json.dumps(body).encode())


def changed(**choice) -> Scripted:
    body = json.loads(completion(GOOD).body)
    body["choices"][0] |= choice
    return answer(**body)


@pytest.mark.parametrize(
    ("finish", "written", "text", "cut"),
    [
        ("MAX_TOKENS", 4, GOOD, True),
        ("max_output_tokens", 4, GOOD, True),
        ("length", 4, GOOD, True),
        ("stop", 4, "1. a dog runs f", False),
        ("stop", 512, "1. a dog runs f", True),
        ("stop", 512, "1. a dog runs far.", False),
        (None, 512, "1. a dog runs far.", True),
        (None, 511, "1. a dog runs f", False),
        ("eos_token", 512, '{"1": "a dog"}', False),
        ("eos_token", 513, '{"1": "a do', True),
        ("of another kind", 4, GOOD, False),
        ("of another kind", 512, GOOD, True),
    ],
)
def test_an_answer_is_cut_by_its_finish_reason_or_at_its_limit(finish, written, text, cut):
    body = json.loads(completion(text, finish).body)
    body["usage"]["completion_tokens"] = written
    assert reply_of(json.dumps(body).encode(), "loop-1", 512).finish == ("length" if cut else "stop")


FLAGGED = {"hate": {"filtered": True}}
FILTERED = ("blocked", "content-filter", 1)
GARBAGE = ("error", "garbage", 4)


@pytest.mark.parametrize(
    ("scripted", "status", "reason", "sent"),
    [
        (refusal(529), "error", "status-529", 4),
        (refusal(429), "error", "rate-limit", 4),
        (Scripted(200, b"<html>Bad gateway</html>", (("Content-Type", "text/html"),)), *GARBAGE),
        (Scripted(200, completion(GOOD).body[:60], JSON), *GARBAGE),
        (Scripted(200, b'{"choices": []}', JSON), *GARBAGE),
        (Scripted(200, b'["no"]', JSON), *GARBAGE),
        (Scripted(200, b"\xff\xfe\x00", JSON), *GARBAGE),
        (Scripted(200, b"", JSON), *GARBAGE),
        (refusal(400, "content_filter", "flagged"), *FILTERED),
        (completion(None, "content_filter"), *FILTERED),
        (completion(None, refusal="I will not."), "blocked", "refusal", 1),
        (changed(message=None, finish_reason="content_filter"), *FILTERED),
        (changed(message=None, finish_reason=None, content_filter_results=FLAGGED), *FILTERED),
        (completion("half an ans", "SAFETY"), *FILTERED),
        (Scripted(200, b'{"choices": [], "promptFeedback": {"blockReason": "OTHER"}}'), *FILTERED),
        (answer(prompt_filter_results=[{"content_filter_results": FLAGGED}]), *FILTERED),
        (answer(choices=[], prompt_filter_results=[{"hate": {"filtered": False}}]), *GARBAGE),
        (Scripted(200, b'{"error": {"message": "Internal Network Failure", "code": 502}}'), "error", "status-502", 4),
        (Scripted(200, b'{"error": {"message": "slow", "code": "rate_limit_exceeded"}}'), "error", "rate-limit", 4),
        (Scripted(200, b'{"error": "CUDA out of memory"}'), "error", "status-500", 4),
        (Scripted(200, b'{"object": "error", "message": "At most 1 image", "code": 400}'), "error", "status-400", 1),
        (changed(error={"message": "upstream is away", "code": 503}), "error", "status-503", 4),
        (completion(GOOD, "error"), *GARBAGE),
        (refusal(400, "context_length_exceeded", "too long"), "error", "context-length", 1),
        (refusal(400, "", "This model's maximum context length is 8 tokens"), "error", "context-length", 1),
        (refusal(400, "invalid_image", "cannot decode"), "error", "status-400", 1),
        (refusal(400, "", "max_tokens is too large: 512. It supports at most 128 tokens."), "error", "status-400", 1),
        (refusal(400, "", "temperature must be between 0 and 0.5"), "error", "status-400", 1),
        (refusal(400, "", "image input is not supported by this model"), "error", "status-400", 1),
        (Scripted(422, b'{"detail": [{"msg": "Extra inputs"}]}', JSON), "error", "status-422", 1),
        (completion(""), "invalid", "empty", 2),
        (completion(None), "invalid", "empty", 2),
        (completion("<html><body>hello</body></html>"), "invalid", "html", 2),
        (completion("I will think about it."), "invalid", "unreadable", 2),
        (completion('{"1": "a dog in a r', "length"), "truncated", "token-limit", 2),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_each_fault_has_its_name_and_the_others_go_on(tmp_path, scripted, status, reason, sent):
    def script(number, body):
        return scripted if prompt_of(body).startswith("number 3 ") else completion(GOOD)

    with endpoint(script) as served:
        outcomes = ask(tmp_path, engine(served.url), map(call, range(8)))
        assert [outcome.status for outcome in outcomes] == ["ok"] * 3 + [status] + ["ok"] * 4
        assert outcomes[3].reason == reason
        named = re.search(rb'"(?:message|error)": "(.*?)"', scripted.body) if reason.startswith("status-4") else None
        assert named is None or named[1].decode() in outcomes[3].detail
        assert sum(prompt_of(body).startswith("number 3 ") for body in served.bodies) == sent
        before = len(served.bodies)
        ask(tmp_path, engine(served.url), map(call, range(8)))
        again = {prompt_of(body)[:9] for body in served.bodies[before:]}
        assert again == ({"number 3 "} if status == "error" or reason == "empty" else set()), "only answers are final"


def test_fields_that_a_model_does_not_take_are_learned_once(tmp_path):
    with endpoint(strict) as served:
        learning = engine(served.url, api_slots=1)
        outcomes = ask(tmp_path, learning, [call(number, schema=POSITIVES.schema(3)) for number in range(4)])
    assert {outcome.status for outcome in outcomes} == {"ok"} and len(served.bodies) == 3 + 4
    assert served.bodies[-1]["max_completion_tokens"] == 512 and "temperature" not in served.bodies[-1]
    assert outcomes[0].notes["untaken"] == ["max_tokens", "response_format", "temperature"]


@pytest.mark.parametrize(
    ("script", "parts"),
    [
        (
            lambda number, body: refusal(400 if number > 1 else 503, "", "calls are refused"),
            ["refuses every call", "400", "calls are refused"],
        ),
        (lambda number, body: completion(None, "length"), ["are empty", "truncated: empty", "max_tokens"]),
        (lambda number, body: completion("<think>hm", "length"), ["are empty", "only-thought", "chat_template_kwargs"]),
    ],
)
def test_a_job_without_any_answer_stops_and_goes_on_once_there_are_some(tmp_path, script, parts):
    def values(url, ledger):
        role = {"engine": "openai", "model": "loop-1", "base_url": url, "api_slots": 1, "retries": 0}
        return Generation(llm=role, ledger=str(tmp_path / ledger), prompts=str(PROJECT / "config" / "prompts"))

    def ask_all(url, ledger="ledger"):
        with Session(values(url, ledger), 1, [POSITIVES]) as session:
            slots = [{"caption": f"a dog runs {number}", "count": "3"} for number in range(20)]
            return session.ask(POSITIVES, (session.call(POSITIVES, each, 3) for each in slots), len(slots))

    with endpoint(script) as served, pytest.raises(InputError) as stopped:
        ask_all(served.url)
    assert all(part in f"{stopped.value}" for part in parts) and "generation.llm" in stopped.value.remedy
    assert "refuses" not in parts[0] or len(served.bodies) < 12
    with endpoint(lambda number, body: completion(None, "SAFETY") if number == 1 else refusal(400)) as served:
        assert len(ask_all(served.url, "another")) == 20, "a blocked answer is an answer"
    with endpoint() as served:
        assert {outcome.status for outcome in ask_all(served.url)} == {"ok"}
        assert len(served.bodies) == 20


@pytest.mark.parametrize(
    ("scripted", "message"),
    [
        (refusal(404, "model_not_found", "no such model"), "'loop-1'"),
        (refusal(401, "invalid_api_key", "bad key"), "VERIFIED_TEST_KEY"),
        (refusal(429, "insufficient_quota", "pay"), "quota"),
    ],
)
def test_what_cannot_succeed_stops_the_job_and_keeps_what_is_there(tmp_path, scripted, message):
    with endpoint(lambda number, body: completion(GOOD) if number <= 6 else scripted) as served:
        with refused(message):
            ask(tmp_path, engine(served.url, api_key_variable="VERIFIED_TEST_KEY"), map(call, range(50)))
        assert len(served.bodies) < 20
    with endpoint(lambda number, body: completion(GOOD)) as served:
        outcomes = ask(tmp_path, engine(served.url), map(call, range(50)))
        assert len(outcomes) == 50 and all(outcome.status == "ok" for outcome in outcomes)
        assert len(served.bodies) == 44


def test_an_endpoint_that_is_down_stops_the_job(tmp_path):
    with endpoint() as served:
        url = served.url
    down = engine(url, retries=6, api_slots=2)
    with refused("http://127.0.0.1", "base_url", remedy=True):
        ask(tmp_path, down, map(call, range(100)))
    assert not down.failed_tries  # nothing is tried again where nobody listens
    with endpoint() as served:
        outcomes = ask(tmp_path, engine(served.url), map(call, range(100)))
    assert len(outcomes) == 100 and all(outcome.status == "ok" for outcome in outcomes)


def test_an_endpoint_that_has_answered_may_be_starting_again(tmp_path):
    with endpoint() as served:
        gone = engine(served.url, retries=1, api_slots=2)
    gone.answered = 1
    with refused("http://127.0.0.1", "connection", remedy=True):
        ask(tmp_path, gone, map(call, range(100)))
    assert gone.failed_tries["connection"] > 2


def test_an_endpoint_that_hangs_for_good_stops_the_job(tmp_path):
    with endpoint(lambda number, body: completion(GOOD)._replace(delay=1.0)) as served:
        hanging = engine(served.url, timeout_seconds=0.1, retries=0, api_slots=2)
        with refused("0.1 s", remedy=True):
            ask(tmp_path, hanging, map(call, range(100)))
        assert len(served.bodies) < 20


def test_calls_go_by_the_proxy_that_the_environment_names(tmp_path, monkeypatch):
    with endpoint(lambda number, body: completion(GOOD)) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url.removesuffix("/v1"))
        for name in ("NO_PROXY", "no_proxy", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.delenv(name, raising=False)
        (outcome,) = ask(tmp_path, engine("http://endpoint.example/v1"), [call(1)])
    assert outcome.status == "ok" and proxy.headers[0]["host"] == "endpoint.example"
    with refused("the proxy http://127.0.0.1", "HTTP_PROXY", remedy=True):  # that has gone
        ask(tmp_path, engine("http://endpoint.example/v1"), [call(2)])


@pytest.mark.parametrize("variable", ["all_proxy", "ALL_PROXY", "http_proxy", "HTTP_PROXY"])
def test_a_proxy_that_cannot_be_used_is_named_unless_it_is_not_needed(monkeypatch, variable):
    for name in ("NO_PROXY", "no_proxy", "all_proxy", "ALL_PROXY", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for address in ("socks://10.0.0.1:1080", "socks5h://me:hunter2-canary@10.0.0.1:1080", "http://10.0.0.1:port"):
        monkeypatch.setenv(variable, address)
        monkeypatch.delenv("NO_PROXY", raising=False)
        with refused(variable, "10.0.0.1", remedy=True) as error:
            engine("http://endpoint.example/v1")
        assert "hunter2" not in str(error.value)
        assert engine("http://127.0.0.1:9/v1").proxy is None, "this machine needs no proxy"
        for exception in ("*", "other.example, .example", "endpoint.example"):
            monkeypatch.setenv("NO_PROXY", exception)
            assert engine("http://endpoint.example/v1").proxy is None
        monkeypatch.setenv("NO_PROXY", "192.168.0.0/16")
        assert engine("http://192.168.7.7:8000/v1").proxy is None
        with refused(variable):
            engine("http://172.16.7.7:8000/v1")


@pytest.mark.parametrize(
    ("key", "named"),
    [
        ("sk-canary-4711\n", "a line end"),
        ("sk-canary-4711\r\n", "a line end"),
        ("sk-canary-\t4711", "white space"),
        ("\u00a0sk-canary-4711", "white space"),
        ("“sk-canary-4711”", "quotes"),
        ("'sk-canary-4711'", "quotes"),
        ("sk-canаry-4711", "letters outside ASCII"),
        ("sk-canary-4711\x00"[:-1] + "\x7f", "control characters"),
    ],
)
def test_a_key_with_letters_that_no_key_has_is_named_by_its_variable(monkeypatch, key, named):
    monkeypatch.setenv("LAB_KEY", key)
    with refused("LAB_KEY", named, remedy=True) as error:
        engine("http://127.0.0.1:9/v1", api_key_variable="LAB_KEY")
    assert "4711" not in str(error.value)


def test_certificates_that_cannot_be_read_are_named_by_their_variable(monkeypatch, tmp_path):
    (tmp_path / "no.pem").write_text("no certificate")
    for path in (tmp_path / "no.pem", tmp_path / "missing.pem"):
        monkeypatch.setenv("SSL_CERT_FILE", str(path))
        with refused("SSL_CERT_FILE", remedy=True):
            engine("https://endpoint.example/v1")


def test_the_model_that_really_answered_is_noted(tmp_path):
    with endpoint(lambda number, body: completion(GOOD, model="loop-1-2026-01-01")) as served:
        (outcome,) = ask(tmp_path, engine(served.url), [call(1)])
    assert outcome.notes == {"served_model": "loop-1-2026-01-01"}
