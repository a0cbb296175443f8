"""Calls by connections of their own are what the official client sends, and end as it says."""

import json

import openai
import pytest
from asking_loopback import JSON
from loopback import Scripted, completion, endpoint, raw_endpoint, refusal

from verified.lmm.engines.guarded_http import Declined, Limits, Post, Refused, guarded_client

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


def test_a_connection_that_the_endpoint_closes_is_not_used_again():
    answered = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    with raw_endpoint(lambda connection: connection.sendall(answered)) as url:
        _, post = clients(url)
        assert [post(BODY) for _ in range(3)] == [b"{}"] * 3


def test_what_ends_on_the_way_is_a_connection_error_and_its_connection_is_gone():
    with raw_endpoint(lambda connection: connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{")) as url:
        _, post = clients(url)
        with pytest.raises(openai.APIConnectionError):
            post(BODY)
    with pytest.raises(openai.APIConnectionError):  # nobody listens any more
        post(BODY)
    assert not post.idle


def test_a_compressed_answer_is_refused_and_a_late_one_is_a_timeout():
    packed = completion("x")._replace(headers=(("Content-Encoding", "gzip"),))
    with endpoint(lambda number, body: packed) as served, pytest.raises(Refused, match="compressed"):
        clients(served.url)[1](BODY)
    with endpoint(lambda number, body: completion("x")._replace(delay=1.0)) as served:
        _, post = clients(served.url)
        post.pool._network_backend.limits.begin(0.1)
        with pytest.raises(openai.APITimeoutError):
            post(BODY)


def test_calls_go_by_the_proxy_that_the_environment_names(monkeypatch):
    with endpoint(lambda number, body: completion("by proxy")) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url.removesuffix("/v1"))
        for name in ("NO_PROXY", "no_proxy", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.delenv(name, raising=False)
        _, post = clients("http://endpoint.example/v1")
        assert b"by proxy" in post(BODY)
        assert proxy.headers[0]["host"] == "endpoint.example"
