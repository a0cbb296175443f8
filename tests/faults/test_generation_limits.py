"""Endpoints that flood, trickle, pack, lie or redirect: bounded in time and memory, typed, never recorded."""

import gzip
import json
import time
import tracemalloc
from itertools import count

import pytest
from asking_loopback import GOOD, JSON, ask, call, engine
from loopback import Scripted, completion, endpoint, raw_endpoint, refusal
from refusals import refused

from verified.errors import InputError
from verified.lmm.ledger import Ledger
from verified.runtime.secrets import MASK

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
KEY = "sk-canary-31415926"


def trickled(start: bytes, piece: bytes):
    """Send `start`, then `piece` twenty times a second for good."""

    def speak(connection):
        connection.sendall(start)
        for _ in count():
            connection.sendall(piece)
            time.sleep(0.05)

    return speak


ENDLESS = {
    "body": trickled(HEAD + b"Content-Length: 1000000\r\n\r\n", b" "),
    "headers": trickled(HEAD, b"X-More: 1\r\n"),
    "chunks": trickled(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "continue": trickled(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "one header": trickled(HEAD + b"X-Long: ", b"a"),
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_the_deadline_is_for_the_whole_answer(tmp_path, kind):
    with raw_endpoint(ENDLESS[kind]) as url:
        (outcome,) = ask(tmp_path, engine(url, timeout_seconds=0.4, retries=0), [call(1)])
    assert (outcome.status, outcome.reason, outcome.passes) == ("error", "timeout", True)


def flood(connection):
    connection.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    while True:
        connection.sendall(b"100000\r\n" + b"x" * 2**20 + b"\r\n")


def test_a_flood_is_cut_off(tmp_path):
    with raw_endpoint(flood) as url:
        tracemalloc.start()
        (outcome,) = ask(tmp_path, engine(url, retries=0), [call(1)])
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert outcome.reason == "garbage" and f"more than {8 * 2**20} bytes" in outcome.detail and most < 100e6


@pytest.mark.parametrize("status", [200, 503])
def test_a_compressed_answer_is_not_unpacked(tmp_path, status):
    bomb = gzip.compress(bytes(300_000_000), 9)
    packed = Scripted(status, bomb, (*JSON, ("Content-Encoding", "gzip")))
    with endpoint(lambda number, body: packed) as served:
        tracemalloc.start()
        (outcome,) = ask(tmp_path, engine(served.url, retries=0), [call(1)])
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert served.headers[0]["accept-encoding"] == "identity"
    assert outcome.reason == "garbage" and "compressed" in outcome.detail and most < 50e6


def with_usage(**usage) -> Scripted:
    body = json.loads(completion(GOOD).body)
    return Scripted(200, json.dumps({**body, "usage": usage}).encode(), JSON)


NUMBERLESS = {
    "huge tokens": with_usage(prompt_tokens=2**62),
    "negative tokens": with_usage(completion_tokens=-1),
    "tokens as text": with_usage(prompt_tokens="many"),
    "tokens as truth": with_usage(prompt_tokens=True),
    "tokens as infinity": Scripted(
        200, completion(GOOD).body.replace(b'"prompt_tokens": 12', b'"prompt_tokens": 1e999')
    ),
    "usage as list": Scripted(200, completion(GOOD).body.replace(b'"usage": {', b'"usage": [1], "u": {')),
    "nothing": Scripted(200, completion(GOOD).body.replace(b'"usage": {', b'"usage": null, "u": {')),
    "a text": Scripted(200, completion(GOOD).body.replace(b'"usage": {', b'"usage": "12 tokens", "u": {')),
    "details as text": with_usage(completion_tokens_details="few"),
}


@pytest.mark.parametrize("kind", NUMBERLESS)
def test_usage_of_any_form_costs_no_answer(tmp_path, kind):
    with endpoint(lambda number, body: NUMBERLESS[kind]) as served:
        (outcome,) = ask(tmp_path, engine(served.url), [call(1)])
    assert (outcome.status, outcome.tokens_in * outcome.tokens_out, len(served.bodies)) == ("ok", 0, 1)


LIES = {
    "deep": Scripted(200, b"[" * 100_000 + b"]" * 100_000),
    "digits": Scripted(200, b'{"choices": ' + b"1" * 10_000 + b"}"),
    "other charset": Scripted(
        200, completion(GOOD).body.decode().encode("utf-16"), (("Content-Type", "application/json; charset=utf-16"),)
    ),
    "unknown charset": Scripted(200, b"\xff\xfe", (("Content-Type", "application/json; charset=klingon"),)),
    "text as number": Scripted(200, json.dumps({"choices": [{"message": {"content": 7}}]}).encode()),
    "parts of nothing": Scripted(200, json.dumps({"choices": [{"message": {"content": [None, 3]}}]}).encode()),
    "deep error": Scripted(503, b"[" * 100_000),
    "digits in an error": Scripted(500, b"1" * 10_000),
}


@pytest.mark.parametrize("kind", LIES)
def test_nothing_of_a_lie_is_kept(tmp_path, kind):
    with endpoint(lambda number, body: LIES[kind] if number <= 2 else completion(GOOD)) as served:
        (outcome,) = ask(tmp_path, engine(served.url, retries=1), [call(1)])
        assert outcome.passes and outcome.tokens_in == outcome.tokens_out == 0
        with Ledger(tmp_path / "ledger") as ledger:
            assert ledger.totals()["tokens_in"] == 0 and ledger.summary()
        (outcome,) = ask(tmp_path, engine(served.url, retries=1), [call(1)])
    assert outcome.status == "ok"


@pytest.mark.parametrize("status", [301, 307, 308])
def test_no_call_is_sent_elsewhere(tmp_path, status):
    with endpoint() as other:
        moved = Scripted(status, b"", (("Location", f"{other.url}/chat/completions"),))
        with endpoint(lambda number, body: moved) as served, refused("http://127", "`base_url`"):
            ask(tmp_path, engine(served.url), [call(1)])
    assert not other.bodies


def test_an_endpoint_that_is_busy_for_ever_stops_the_job_with_counts(tmp_path, caplog):
    caplog.set_level("INFO", "verified")
    with endpoint(lambda number, body: refusal(429, Retry_After="0.05")) as served:
        busy = engine(served.url, retries=10**6, outage_seconds=0.5)
        with pytest.raises(
            InputError, match=r"does not answer: \d+ x rate-limit in \d+ s, after 0 answered calls"
        ) as e:
            ask(tmp_path, busy, map(call, range(8)))
    assert served.url in str(e.value) and "run again when it is up" in str(e.value)
    assert caplog.text.count("again in") == 1 and len(served.bodies) > 8, "not a line for each repetition"


def test_an_echoed_key_is_masked_everywhere(tmp_path, monkeypatch, caplog):
    """An endpoint, or a proxy before it, that shows the Authorization header in answers, errors and its own name."""
    monkeypatch.setenv("VERIFIED_TEST_KEY", KEY)
    echo = f"1. a dog runs to {KEY} far\n2. a dog runs off\n3. a dog runs home"
    replies = [
        completion(echo, model=f"loop {KEY}", reasoning_content=f"they sent {KEY}"),
        refusal(400, "", f"{'x' * 480} Authorization: Bearer {KEY}"),
        completion(None, refusal=f"not for {KEY}"),
        completion(echo, "length"),
    ]
    with endpoint(lambda number, body: replies[number - 1]) as served:
        limited = engine(served.url, api_key_variable="VERIFIED_TEST_KEY", api_slots=1)
        outcomes = ask(tmp_path, limited, map(call, range(4)), attempts=1)
    assert any(MASK in outcome.text for outcome in outcomes)
    with (
        endpoint(lambda number, body: refusal(401, "", f"bad key {KEY}")) as served,
        pytest.raises(InputError) as refused,
    ):
        ask(tmp_path, engine(served.url, api_key_variable="VERIFIED_TEST_KEY"), [call(9)])
    assert KEY[:12] not in f"{outcomes} {refused.value} {caplog.text}"
    assert [file for file in tmp_path.rglob("*.part") if KEY[:12].encode() in file.read_bytes()] == []
