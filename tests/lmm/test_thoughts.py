"""Thoughts never reach an answer: every form of them, from the reply to the ledger."""

import pytest
from asking_loopback import GOOD, ask, call, engine
from loopback import completion, endpoint

from verified.lmm.engines.media import decode_answer
from verified.lmm.request import Sampling
from verified.lmm.thoughts import separate

A = "1. A tall man opens a door.\n2. A short man closes it.\n3. A dog waits."
T = 'Okay, the user wants three.\n1. Reread it.\n2. Draft: {"1": "a draft"}.\n3. Be brief.'
THOUGHT_FIRST = {
    "think": f"<think>\n{T}\n</think>\n\n{A}",
    "closing tag alone": f"{T}\n</think>\n\n{A}",
    "attributes, case, blanks": f'<THINK time="3s" >{T}</ think >{A}',
    "thinking": f"<thinking>{T}</thinking>{A}",
    "other closing tag": f"<think>{T}</thinking>{A}",
    "empty": f"<think>\n\n</think>\n\n{A}",
    "seed": f"<seed:think>{T}<seed:cot_budget_reflect>x</seed:cot_budget_reflect></seed:think>{A}",
    "namespace": f"<mm:think>{T}</mm:think>{A}",
    "square": f"[THINK]{T}[/THINK]{A}",
    "triangles": f"◁think▷{T}◁/think▷{A}",
    "lenses": f"【思考】{T}【/思考】{A}",
    "pipes": f"<|thinking|>{T}<|/thinking|>{A}",
    "begin of": f"<|begin_of_thought|>{T}<|end_of_thought|>\n<|begin_of_solution|>{A}<|end_of_solution|>",
    "start and end": f"<|START_THINKING|>{T}<|END_THINKING|><|START_RESPONSE|>{A}<|END_RESPONSE|>",
    "escaped": f"&lt;think&gt;{T}&lt;/think&gt;{A}",
    "channels": f"<|channel|>analysis<|message|>{T}<|end|><|start|>assistant<|channel|>final<|message|>{A}<|return|>",
    "channels with a type": f"<|channel|>commentary to=f<|message|>{T}<|channel|>final <|constrain|>json<|message|>{A}",
    "channels as words": f"analysisWe need three.\n{T}assistantfinal{A}",
    "asymmetric channel": f"<|channel>thought\n{T}<channel|>{A}",
    "unused tokens": f"<unused94>thought\n{T}<unused95>{A}",
    "prefix and suffix": f"<|inner_prefix|>{T}<|inner_suffix|>{A}",
    "turns": f"<|im_start|>think\n{T}\n<|im_start|>answer\n{A}",
    "sentences": f"Here is my thought process:\n{T}\nHere is my response:\n{A}",
    "headings": f"### Thinking\n{T}\n\n### Answer\n{A}",
    "labels": f"**Reasoning:** {T}\n\n**Final Answer:**\n{A}",
    "fence": f"```thinking\n{T}\n```\n{A}",
    "details": f'<details type="reasoning" done="true">\n<summary>Thought for 3 s</summary>\n{T}\n</details>\n{A}',
    "nested": f"<think>a <think>b</think> c {T}</think>{A}",
    "named in the thought": f'<think>the tag <think> and "</think>" of {T}</think>{A}',
    "reflection within": f"<thinking>{T}<reflection>{T}</reflection>{T}</thinking><output>{A}</output>",
    "twice": f"<think>{T}</think><think>{T}</think>{A}",
    "again after some words": f"<think>{T}</think>Let me reconsider.<think>{T}</think>{A}",
    "between items": A.replace("2. ", "<think>x</think>\n2. ").replace("\n\n", "\n").replace("\n<", "<"),
    "behind the answer": f"{A}\n<think>was that right?</think>",
    "box within answer": f"<think>{T}</think><answer><|begin_of_box|>{A}<|end_of_box|></answer>",
    "answer tag alone": f"{T}\n<answer>{A}</answer>",
    "response": f"<think>{T}</think>\n\n<response>\n{A}\n</response>\n",
}
SAID = {"type": "text", "text": GOOD}
CUT = [
    f"<think>{T}",
    f"<think>a</think><think>{T}",
    f"[THINK]{T}",
    f"◁think▷{T}",
    f"<|channel|>analysis<|message|>{T}",
    f"<|channel>thought\n{T}",
    "analysisWe need three captions.",
    f"{T}</think>",
]
HONEST = [
    "A man thinks aloud about the answer.",
    "1. A sign reads [THINK] in red.\n2. A poster says “</think>” twice.",
    "Reasoning is written on a board.",
    "A man in thought: he opens a door.",
    "The final answer: 42 is written on the board.",
    "Analysis of data is shown on a screen.",
    '{"1": "a [thinking] man", "2": "his plan"}',
    "Thoughts: a sign above a door.",
]


@pytest.mark.parametrize("form", THOUGHT_FIRST)
def test_the_answer_alone_is_read(form):
    parts = separate(THOUGHT_FIRST[form])
    assert (parts.answer, parts.is_cut) == (A, False)
    assert parts.thought or form == "empty"


@pytest.mark.parametrize("text", CUT, ids=range(len(CUT)))
def test_thoughts_alone_hold_no_answer(text):
    parts = separate(text)
    assert parts.answer == "" and parts.thought


@pytest.mark.parametrize("text", HONEST, ids=range(len(HONEST)))
def test_words_that_look_like_markers_are_left_alone(text):
    assert separate(text) == (text, "", False, False)


@pytest.mark.parametrize(
    ("reply", "status", "reason"),
    [
        (completion(GOOD, reasoning_content=T), "ok", ""),
        (completion(GOOD, reasoning=T), "ok", ""),
        (completion([{"type": "thinking", "thinking": [{"type": "text", "text": T}]}, SAID]), "ok", ""),
        (completion(f"<think>{T}</think>{GOOD}"), "ok", ""),
        (completion(None, "length", reasoning_content=T), "truncated", "only-thought"),
        (completion(f"<think>{T}", "length"), "truncated", "only-thought"),
        (completion(f"{T}\n4. Or", "length"), "truncated", "only-thought"),
        (completion(f"<think>{T}</think>"), "invalid", "only-thought"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_the_ledger_has_the_thought_apart_from_the_text(tmp_path, reply, status, reason):
    with endpoint(lambda number, body: reply) as served:
        (outcome,) = ask(tmp_path, engine(served.url), [call(1)])
    assert (outcome.status, outcome.reason, outcome.notes["thought"]) == (status, reason, outcome.notes["thought"])
    assert "Reread it" in outcome.notes["thought"]
    assert outcome.text == (GOOD if status == "ok" else "") and len(outcome.parsed.items) == 3 * (status == "ok")
    assert status == "ok" or "thoughts" in outcome.detail
    assert status != "truncated" or "max_tokens" in outcome.detail


def test_a_cut_thought_without_marker_is_known_by_the_answers_before(tmp_path):
    plan = "Plain steps.\n1. a dog reads\n2. a dog picks\n3. a dog says\n4. a"
    replies = [completion(f"{plan}\n</think>{GOOD}"), completion(plan, "length")]
    with endpoint(lambda number, body: replies[min(number, 2) - 1]) as served:
        whole, cut = ask(tmp_path, engine(served.url, api_slots=1), [call(1), call(2)])
    assert (whole.status, cut.status, cut.reason) == ("ok", "truncated", "only-thought")


def test_arguments_of_the_chat_template_are_sent_and_make_another_call(tmp_path):
    off = Sampling(chat_template_kwargs='{"enable_thinking": false}')
    with endpoint(lambda number, body: completion(GOOD)) as served:
        for sampling in (Sampling(), off):
            ask(tmp_path / sampling.chat_template_kwargs[:1], engine(served.url), [call(1, sampling=sampling)])
    assert [body.get("chat_template_kwargs") for body in served.bodies] == [None, {"enable_thinking": False}]


class Tokens:
    """A tokenizer of whole words, some of them control tokens."""

    all_special_tokens = ("[THINK]", "[/THINK]", "<end>")

    def decode(self, ids, skip_special_tokens):
        return " ".join(word for word in ids if not (skip_special_tokens and word in self.all_special_tokens))


@pytest.mark.parametrize(
    ("prompt", "written", "answer"),
    [
        (["ask"], ["[THINK]", "hm", "[/THINK]", "a", "dog", "<end>"], "a dog"),
        (["ask", "<think>"], ["hm", "</think>", "a", "dog"], "a dog"),
        (["ask", "<think>"], ["hm", "a", "draft"], ""),
        (["ask"], ["a", "dog", "<end>"], "a dog"),
    ],
)
def test_models_in_the_job_tell_thoughts_by_their_tokens_and_their_prompt(prompt, written, answer):
    text, thought = decode_answer(Tokens(), prompt, written)
    assert text == answer and ("hm" in thought) == ("hm" in written)
