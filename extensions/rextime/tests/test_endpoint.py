"""Options scored by an endpoint: vLLM's log-probabilities of a prompt; endpoints without them are refused."""

import json

import pytest
from captioning import settings as generation_settings
from loopback import completion, endpoint, prompt_of
from question_pages import clips, question
from refusals import refused

from verified.config.generation import EngineSettings
from verified.lmm.engines.protocol import score_of
from verified.lmm.session import Session
from verified_rextime.answer import TASKS, engines_for, take_test

ASKED = question(
    1,
    relevant_windows=[[0.4, 1.6]],
    options=["it grows", "it’s still there", "it falls down the stairs", "it turns"],
)


def token(text: str, value: float, more: dict | None = None) -> dict:
    return {"7": {"logprob": value, "rank": 3, "decoded_token": text}, **(more or {})}


def scored(prompt: list, text: str = "x") -> bytes:
    body = json.loads(completion(text).body)
    return json.dumps(body | {"prompt_logprobs": prompt}).encode()


def test_the_tokens_of_the_answer_are_found_whatever_blanks_their_tokeniser_drops():
    other = {"9": {"logprob": -0.01, "rank": 1, "decoded_token": "ball"}}
    template = [None, token("user", -9), token("\n", -9), token("From", -8), token("assistant", -9), token("\n", -9)]
    answer = [token("From", -1.0), token("1", -2.0), token("to", -0.5), token(" 2,", -0.5), token("caf", -1, other)]
    split = [token("�", -3.0), token("�", -5.0)]  # one letter in two tokens
    reply = score_of(scored([*template, *answer, *split]), "From 1 to 2, café", "m")
    assert json.loads(reply.text) == {"mean_log_probability": pytest.approx(-13 / 7, abs=1e-6), "tokens": 7}
    other_end = score_of(scored([*template, *answer, token("!", -1)]), "From 1 to 2, café", "m")
    assert (other_end.finish, other_end.reason) == ("error", "scoring")
    without = score_of(scored([*template, token("From", -1.0), token("1", float("nan"))]), "From 1", "m")
    assert (without.finish, without.reason) == ("error", "scoring")
    with refused("log-probabilities", "vLLM", remedy=True):
        score_of(completion("x").body, "From 1", "m")


def taken(tmp_path, served, protocol):
    role = EngineSettings(engine="openai", model="m", base_url=served.url, api_key_variable="TEST_KEY")
    generation = generation_settings(tmp_path, video_lmm=role)
    engines = engines_for(protocol, generation, [ASKED])
    with Session(generation, 7, TASKS[protocol], engines) as session:
        return take_test([ASKED], clips(tmp_path), protocol, 4, session)


def answer(number, body):
    """An endpoint of vLLM whose model finds the third option likely: its tokens are many, and each is likely."""
    *_, last = body["messages"]
    if last["role"] != "assistant":
        return completion("From 0.5 to 1.5.")
    assert body["prompt_logprobs"] and body["continue_final_message"] and not body["add_generation_prompt"]
    words = last["content"].split()
    each = -0.3 if "stairs" in words else -1.5
    assert last["content"] not in prompt_of(body)
    prompt = [None, token("What", -3), *(token(f" {word}", each) for word in words)]
    return completion("")._replace(body=scored(prompt, ""))


@pytest.mark.parametrize("protocol", ["locate_then_score", "score_with_true_span"])
def test_an_endpoint_scores_four_continuations(protocol, tmp_path, monkeypatch):
    monkeypatch.setenv("TEST_KEY", "none")
    with endpoint(answer) as served:
        submission, failures = taken(tmp_path, served, protocol)
    assert submission == [{"qid": "q1", "pred_relevant_windows": [[0.5, 1.5]], "ans": "C"}] and not failures
    given = [body["messages"][-1]["content"] for body in served.bodies if body["messages"][-1]["role"] == "assistant"]
    assert sorted(given) == sorted(f"From 0 to 2, {option}" for option in ASKED["options"])
