"""Several endpoints of one role: each with its own pace, pauses and outages, and no call lost or asked for nothing."""

import contextlib

import pytest
from asking_loopback import GOOD, ask, call
from loopback import completion, endpoint, prompt_of, refusal
from refusals import refused

from verified.config.generation import EngineSettings, Generation
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


def test_calls_go_by_the_proxy_that_the_environment_names(tmp_path, monkeypatch):
    with endpoint(good()) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url.removesuffix("/v1"))
        for name in ("NO_PROXY", "no_proxy", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.delenv(name, raising=False)
        (outcome,) = ask(tmp_path, several("http://endpoint.example/v1"), [call(1)])
    assert outcome.status == "ok" and proxy.headers[0]["host"] == "endpoint.example"
