"""Several endpoints of one role: each with its own pace, pauses and outages, and no call lost or asked for nothing."""

import contextlib
import json

import openai
import pytest
from asking_loopback import GOOD, JSON, ask, call
from loopback import Scripted, completion, endpoint, prompt_of, refusal
from refusals import refused

from verified.config.generation import EngineSettings, Generation
from verified.lmm.engines.guarded_http import Declined, Limits, Post, guarded_client
from verified.lmm.engines.openai import OpenAI, SeveralEndpoints, addresses_of, make


def several(*urls, **changes):
    values = {"engine": "openai", "model": "loop-1", "api_slots": 2, "retries": 1, **changes}
    engines = [OpenAI(EngineSettings(**values, base_url=url), first_wait=0.01, longest_wait=0.05) for url in urls]
    return SeveralEndpoints(engines)


def good(delay=0.0):
    return lambda number, body: completion(GOOD)._replace(delay=delay)


def prompts(*served) -> list[str]:
    return [prompt_of(body) for one in served for body in one.bodies]


def test_a_call_goes_to_whoever_has_a_slot(tmp_path):
    with endpoint(good(0.01)) as quick, endpoint(good(0.2)) as slow:
        outcomes = ask(tmp_path, several(quick.url, slow.url), [call(number) for number in range(40)])
    assert {outcome.status for outcome in outcomes} == {"ok"}
    asked = prompts(quick, slow)
    assert len(asked) == len(set(asked)) == 40 and len(slow.bodies) >= 2 < len(quick.bodies) > len(slow.bodies)
    assert quick.most <= 2 and slow.most <= 2


@pytest.mark.parametrize("status", [429, 503])
def test_a_pause_holds_for_one_address_alone(tmp_path, status):
    def busy_at_first(number, body):
        return refusal(status, Retry_After="0.3") if number <= 2 else completion(GOOD)

    with endpoint(busy_at_first) as busy, endpoint(good()) as free:
        engine = several(busy.url, free.url, retries=3)
        outcomes = ask(tmp_path, engine, [call(number) for number in range(30)])
    assert {outcome.status for outcome in outcomes} == {"ok"}
    assert engine.engines[0].free_at > engine.engines[1].free_at == 0


def test_one_that_goes_away_leaves_its_calls_to_the_others(tmp_path):
    with contextlib.ExitStack() as stack:
        stays = stack.enter_context(endpoint(good(0.02)))
        leaves = endpoint(lambda number, body: refusal(500) if number > 3 else completion(GOOD))
        goes = stack.enter_context(leaves)
        engine = several(goes.url, stays.url)
        outcomes = ask(tmp_path, engine, [call(number) for number in range(60)])
    assert {outcome.status for outcome in outcomes} == {"ok"}
    answered = set(prompts(stays)) | set(prompts(goes)[:3])
    assert len(answered) == 60 and engine.engines[0].stopped.is_set() and not engine.engines[1].stopped.is_set()


def test_addresses_come_from_a_list_or_from_a_file_that_servers_write(tmp_path):
    role = EngineSettings(engine="openai", base_url=("http://a/v1", "http://b:8000/v1"))
    assert addresses_of(role) == ["http://a/v1", "http://b:8000/v1"] and addresses_of(EngineSettings()) == [None]
    file = tmp_path / "servers.txt"
    role = EngineSettings(engine="openai", endpoints_file=str(file))
    with refused(file=file, remedy=True):
        addresses_of(role)
    file.write_text("\n")
    with refused(file=file, remedy=True):
        addresses_of(role)
    file.write_text("http://node7:8000/v1\n\nhttp://node8:8000/v1\nhttp://node7:8000/v1\n")
    assert addresses_of(role) == ["http://node7:8000/v1", "http://node8:8000/v1"]
    engine = make(role, Generation())
    assert isinstance(engine, SeveralEndpoints) and "node8" in engine.address
    file.write_text("http://node7:8000/v1\nnode8\n")
    with refused(file=file, row=2, remedy=True):
        addresses_of(role)
    file.write_text("http://me:secret@node7/v1\n")
    with refused(file=file, row=1) as caught:
        addresses_of(role)
    assert "secret@" not in str(caught.value)


BODY = {"model": "m", "messages": [{"role": "user", "content": 'naïve "dog" \u2028 🐕'}], "seed": 7, "top_p": 0.9}
TELEMETRY = {"x-stainless-retry-count", "x-stainless-read-timeout"}
"""What the official client says of a call and of no client."""


def clients(url):
    """The official client and a `Post` of it, with a clock that runs for a minute."""
    limits = Limits()
    limits.begin(60)
    http = guarded_client(limits)
    client = openai.OpenAI(api_key="sk-1", base_url=url, timeout=60, max_retries=0, http_client=http)
    return client, Post(client, http, "/chat/completions")


def test_a_call_is_sent_as_the_official_client_sends_it_over_one_connection():
    with endpoint() as served:
        client, post = clients(served.url)
        official = client.post("/chat/completions", cast_to=bytes, body=BODY)
        for _ in range(3):
            assert post(BODY) == official
        first, *others = ({name: each[name] for name in {*each} - TELEMETRY} for each in served.headers)
        assert served.bodies == [BODY] * 4 and all(other == first for other in others)
        assert first["authorization"] == "Bearer sk-1" and first["accept-encoding"] == "identity"
    assert len(post.idle) == 1


@pytest.mark.parametrize(
    "answer",
    [
        refusal(400, code="content_filter", message="not this"),
        refusal(429, retry_after="3"),
        refusal(500),
        Scripted(302, b"", (("Location", "http://elsewhere/"),)),
        Scripted(502, b"<html>bad \xff gateway</html>", (("Content-Type", "text/html"),)),
        Scripted(503, b'["no"]', JSON),
        Scripted(404, json.dumps({"message": "no such model", "code": 1}).encode(), JSON),
        Scripted(500, b'{"a":' * 100_000, JSON),
        Scripted(413, b"", ()),
    ],
    ids=lambda answer: f"{answer.status}-{answer.body[:8]!r}",
)
def test_an_error_status_is_what_the_official_client_makes_of_it(answer):
    with endpoint(lambda number, body: answer) as served:
        client, post = clients(served.url)
        with pytest.raises(openai.APIStatusError) as theirs:
            client.post("/chat/completions", cast_to=bytes, body=BODY)
        with pytest.raises(Declined) as ours:
            post(BODY)
    wanted, found = Declined.by_endpoint(theirs.value), ours.value
    assert (found.status, found.body, found.message) == (wanted.status, wanted.body, wanted.message)
    for name in ("retry-after", "location", "content-type"):
        assert found.headers.get(name) == wanted.headers.get(name)


def test_calls_go_by_the_proxy_that_the_environment_names(monkeypatch):
    with endpoint(lambda number, body: completion("by proxy")) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url.removesuffix("/v1"))
        for name in ("NO_PROXY", "no_proxy", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.delenv(name, raising=False)
        _, post = clients("http://endpoint.example/v1")
        assert b"by proxy" in post(BODY)
        assert proxy.headers[0]["host"] == "endpoint.example"
