"""Parsing: every printed format, distortions of models, and candidates that must not enter the benchmark."""

import json
import re
from pathlib import Path

import pytest
from asking_loopback import GOOD, ask, call, engine
from hypothesis import given
from hypothesis import strategies as st
from loopback import completion, endpoint

from verified.lmm.engines.media import decode_answer
from verified.lmm.parsing import best_object
from verified.lmm.patterns import compiled, sections, source
from verified.lmm.refusal import refusal
from verified.lmm.request import Sampling
from verified.lmm.tasks.paper import PAPER
from verified.lmm.thoughts import separate

COARSE = "A man rides a bicycle."
THREE = ["A man rides a red bicycle.", "A man in a hat rides a bicycle.", "An old man rides a bicycle past a house."]

TASKS = {task.name: task for task in PAPER}


def parse(task, text, count=3, cut=False, caption=COARSE):
    return TASKS[task].read({"caption": caption, "count": str(count)}, text, count, cut)


def candidates(text, cut=False):
    return parse("statics_candidates", text, cut=cut)


FORMS = {
    "json": '{"original": "A man rides a bicycle.", "1": "%s", "2": "%s", "3": "%s"}',
    "json in a fence, with chatter": 'Sure!\n```json\n{"original": "x",\n"1": "%s",\n"2": "%s",\n"3": "%s"}\n```\nBye!',
    "json with a trailing comma": '{"1": "%s",\n"2": "%s",\n"3": "%s",\n}',
    "json without commas": '{\n"original": "x"\n"1": "%s"\n"2": "%s"\n"3": "%s"\n}',
    "json without closing brace": '{"original": "x",\n"1": "%s",\n"2": "%s",\n"3": "%s"',
    "json with a missing closing quote": '{"original": "x",\n"1": "%s",\n"2": "%s,\n"3": "%s"\n}',
    "json with curly quotes": "{“original”: “x”,\n“1”: “%s”,\n“2”: “%s”,\n“3”: “%s”\n}",
    "json list": '["%s", "%s", "%s"]',
    "json under a key": '{"candidates": {"1": "%s", "2": "%s", "3": "%s"}}',
    "json with named candidates": '{"original": "x", "caption1": "%s", "caption2": "%s", "caption3": "%s"}',
    "numbered lines": "1. %s\n2. %s\n3. %s",
    "numbered lines in quotes": '1. "%s"\n2. "%s"\n3. "%s"',
    "numbered in one line": "1. %s 2. %s 3. %s",
    "numbered with brackets": "1) %s\n2) %s\n3) %s",
    "numbered with empty lines and chatter": "Here are three:\n\n1. %s\n\n2. %s\n\n3. %s\n\nI kept the meaning.",
    "numbered bold": "**1.** %s\n**2.** %s\n**3.** %s",
    "labelled": "Candidate 1: %s\nCandidate 2: %s\nCandidate 3: %s",
    "numbered and labelled": "1. Sentence 1: %s\n2. Sentence 2: %s\n3. Sentence 3: %s",
    "numbered twice": '1. 1. "%s"\n2. 2. "%s"\n3. 3. "%s"',
    "numbered inside quotes": '"1. %s"\n"2. %s"\n"3. %s"',
    "numbered inside json": '["1. %s", "2. %s", "3. %s"]',
    "numbered bullets": '- 1. "%s"\n- 2. "%s"\n- 3. "%s"',
    "bullets": "- %s\n- %s\n- %s",
    "quoted lines": '"%s"\n"%s"\n"%s"',
    "numbered, one quote missing": '1. "%s"\n2. "%s\n3. %s"',
    "windows line ends": "1. %s\r\n2. %s\r\n3. %s\r\n",
    "spaced circles": "① %s ② %s ③ %s",
    "wide digits": "１） %s\n２） %s\n３） %s",
    "Arabic digits": "١. %s\n٢. %s\n٣. %s",
    "Devanagari digits": "१. %s\n२. %s\n३. %s",
    "middle dots": "・%s\n・%s\n・%s",
    "objects in a list": '{"captions": [{"caption": "%s"}, {"caption": "%s"}, {"caption": "%s"}]}',
    "objects and a list": '{"1": {"text": "%s"}, "2": {"text": "%s", "score": 3}, "3": ["%s"]}',
    "captions behind reasons": '{"reasoning": ["a", "b"], "captions": ["%s", "%s", "%s"]}',
    "objects with ids": '[{"id": 1, "sentence": "%s"}, {"id": 2, "sentence": "%s"}, {"id": 3, "sentence": "%s"}]',
    "thoughts within items": '{"1": "<think>hm</think>%s", "2": "%s", "3": "<think>x</think>%s"}',
    "one in no quotes": '1. %s\n2. "%s"\n3. “%s”',
}
CHINESE = ["一个男人打开门。", "昏暗的走廊里有一扇门。", "门外站着一个人。"]
CHINESE_FORMS = ["1、%s\n2、%s\n3、%s", "１．%s\n２．%s\n３．%s", "1、%s2、%s3、%s", "（1）%s\n（2）%s\n（3）%s"]
CHINESE_FORMS += ["①%s\n②%s\n③%s", "一、%s\n二、%s\n三、%s"]
SPEECH = ['"No," a man says, "never."', "A dog waits.", "A bell rings."]
LISTS = [
    *((form, THREE) for form in FORMS.values()),
    *((form, CHINESE) for form in CHINESE_FORMS),
    (FORMS["one in no quotes"], SPEECH),
]


@pytest.mark.parametrize(("form", "items"), LISTS, ids=[*FORMS, *CHINESE_FORMS, "speech"])
def test_three_candidates_from_every_form(form, items):
    parsed = candidates(form % tuple(items))
    assert list(parsed.items) == items
    assert parsed.missing == 0


def test_json_cut_short_keeps_what_is_complete():
    parsed = candidates(f'{{"original": "x",\n"1": "{THREE[0]}",\n"2": "A man in a ha', cut=True)
    assert list(parsed.items) == THREE[:1] and parsed.missing == 2
    assert candidates(f'{{"1": "{THREE[0]}",\n"2": "A man in a ha').items == (THREE[0],)
    sections = parse(
        "keyframe_description", "Background: A wall, a road\n\nObjects: A man is old. The bic", cut=True
    ).sections
    assert (sections["background"], sections["foreground"]) == ("A wall, a road", "A man is old."), (
        "of the last section"
    )


@pytest.mark.parametrize(
    "text", ["", "   \n", "I am sorry.", "<html><body>502</body></html>", "{", "[]", "{}", "null", "1."]
)
@pytest.mark.parametrize("task", [task.name for task in PAPER])
def test_nothing_usable_is_nothing(task, text):
    parsed = parse(task, text)
    assert not parsed.usable and parsed.missing >= 3


def test_places_of_candidates_survive_refusals():
    parsed = candidates(f"1. {THREE[0]}\n2. {COARSE}\n3. {THREE[2]}\n4. {THREE[1]}")
    assert parsed.items == (THREE[0], THREE[2], THREE[1]) and parsed.positions == (0, 2, 3)
    assert parsed.refused == ({"caption": COARSE, "reason": "equals-coarse"},)


KEYFRAMES = {
    "printed": "Background: {0}\n\nObjects Attributes: {1}\n\nDesc: {2}",
    "in quotes": '"Background: {0}\n\nObjects Attributes: {1}"\n\n"Desc: {2}"',
    "bold": "**Background:** {0}\n**Objects Attributes:** {1}\n**Desc:** {2}",
    "one line": "Background: {0} Objects Attributes: {1} Desc: {2}",
    "other words": "Background: {0}\nObject attributes: {1}\nDescription: {2}\n\nNote: nothing else is clear.",
    "json": '{{"background": "{0}", "objects attributes": "{1}", "desc": "{2}"}}',
}


@pytest.mark.parametrize("form", KEYFRAMES)
def test_keyframe_sections(form):
    parts = ("A brick wall behind a road.", "The man is old, the bicycle red.", "An old man rides a red bicycle.")
    parsed = parse("keyframe_description", KEYFRAMES[form].format(*parts), 1)
    assert tuple(parsed.sections[name] for name in ("background", "foreground", "description")) == parts
    assert parsed.missing == 0


ANSWERS = {
    "printed": "1. It goes left.\n2. It is slow.\n\nThe man rides left. Then he stops.",
    "one line": "1. It goes left. 2. It is slow. The man rides left. Then he stops.",
    "labelled description": "1. It goes left.\n2. It is slow.\n\n**Description:** The man rides left. Then he stops.",
    "no empty line": "1. It goes left.\n2. It is slow.\nThe man rides left. Then he stops.",
    "long label": "1. It goes left.\n2. It is slow.\n\nDescription of the motion: The man rides left. Then he stops.",
    "json": json.dumps(
        {"answers": ["It goes left.", "It is slow."], "description": "The man rides left. Then he stops."}
    ),
}


@pytest.mark.parametrize("form", ANSWERS)
def test_answers_then_description(form):
    parsed = parse("answers", ANSWERS[form], 2)
    assert parsed.items == ("It goes left.", "It is slow.")
    assert parsed.sections["description"] == "The man rides left. Then he stops."
    assert parsed.missing == 0
    assert parse("answers", "1. It goes left.\n2. It is slow.", 2).missing == 1, "the description"


def test_numbers_inside_a_sentence_do_not_split_it():
    text = "1. A team of 2. A man waves.\n2. Bus no. 3 leaves.\n3. Two men wave."
    assert parse("questions", text).items == ("A team of 2. A man waves.", "Bus no. 3 leaves.", "Two men wave.")


@given(st.text(max_size=300), st.sampled_from([task.name for task in PAPER]), st.booleans())
def test_any_text_is_parsed_without_an_error(text, task, cut):
    parsed = parse(task, text, cut=cut)
    assert len(parsed.items) <= 3 and len(parsed.positions) == len(parsed.items)
    if task not in ("keyframe_description", "questions", "answers"):
        assert parsed.missing == 3 - len(parsed.items)


CASES = json.loads((Path(__file__).parents[1] / "fixtures" / "answers" / "answers.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("answers", "description", "items"),
    [
        (
            '[{"question": "Which way?", "answer": "To the left."}, "Fast."]',
            '{"text": "It runs."}',
            ["To the left.", "Fast."],
        ),
        ('{"2": {"answer": "Fast."}, "1": "Left."}', '["It runs", "then stops."]', ["Left.", "Fast."]),
        ("[true, 3]", '"It runs."', ["yes", "3"]),
    ],
)
def test_answers_and_description_are_texts(answers, description, items):
    text = f'{{"answers": {answers}, "description": {description}}}'
    parsed = parse("answers", text, 2)
    assert list(parsed.items) == items and parsed.sections["description"].startswith("It runs")


def test_parts_of_a_keyframe_may_be_objects():
    foreground = r'["a red ball", "a man\'s hat"]'
    text = f'{{"background": {{"wall": "blue"}}, "objects attributes": {foreground}, "desc": {{"text": "He plays."}}}}'
    text = f'{text[:-1]}, "caption": "no"}}'
    sections = parse("keyframe_description", text, 1).sections
    assert sections == {"background": "blue", "foreground": "a red ball, a man's hat", "description": "He plays."}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_an_answer_gives_its_right_items(case):
    text = separate(case["text"]).answer
    parsed = parse(case["task"], text, case["count"], case["cut"], case["caption"])
    assert list(parsed.items) == (case["right"] or [])
    assert parsed.usable == (case["right"] is not None)


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
    assert parts.answer == A
    assert parts.thought or form == "empty"


@pytest.mark.parametrize("text", CUT, ids=range(len(CUT)))
def test_thoughts_alone_hold_no_answer(text):
    parts = separate(text)
    assert parts.answer == "" and parts.thought


@pytest.mark.parametrize("text", HONEST, ids=range(len(HONEST)))
def test_words_that_look_like_markers_are_left_alone(text):
    assert separate(text) == (text, "", False)


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


def test_the_fullest_object_counts_and_of_equals_the_last():
    text = 'Such as {"Grade": 1, "why": "so"}. {"grade": 2, "start at": 3} is too high: {"grade": 4, "seen": true}'
    assert best_object(text, ("grade",))["grade"] == 4
    assert best_object(text, ("grade", "begin"), {"start_at": "begin"}) == {"grade": 2, "begin": 3}


BOWLING = "a man plays bowling"
REFUSED = {
    "empty": ["", "...", "-", "2.", "1_000"],
    "too-long": ["word " * 81, "x" * 700],
    "equals-coarse": ["A man plays bowling.", " a  man plays bowling"],
    "duplicate": ["a man plays bowling in red"],
    "instructions": ["Please provide the image", "IMPORTANT: a man plays", "The right answer is a man with a ball."],
    "no-answer": [
        "Unable to determine details from the provided frames.", "There is not enough information to say.",
        "I do not know.", "Cannot be determined.", "My apologies, but no.", "A man plays. I cannot tell how.",
        "ขออภัย ไม่สามารถระบุได้",
    ],
    "thought": ["a man plays </think>", "◁think▷ a man plays"],
    "time": ["a man plays for 5 seconds", "for several minutes a man plays"],
    "personal-data": ['"Write to ada@example.org," a man says.'],
}  # fmt: skip
ROWS = [
    (section, group, row)
    for section in ("forbidden", "speaks-of", "speech", "thoughts")
    for group, rows in sections()[section].items()
    for row in rows
]


@pytest.mark.parametrize(("section", "group", "row"), ROWS, ids=range(len(ROWS)))
def test_a_pattern_takes_its_example_and_leaves_the_other(section, group, row):
    expression = re.compile(source(row), re.I)
    assert expression.search(row["takes"]) and not expression.search(row["leaves"])
    assert compiled(section, group).search(row["takes"])
    if section in ("forbidden", "speaks-of"):
        assert refusal(row["takes"], BOWLING) == group
        assert refusal(row["leaves"], BOWLING) is None


@pytest.mark.parametrize(("reason", "candidate"), [(r, c) for r, listed in REFUSED.items() for c in listed])
def test_refused(reason, candidate):
    assert refusal(candidate, BOWLING, ["A man plays bowling in red."]) == reason


@pytest.mark.parametrize(
    "candidate",
    [
        "a man in a red shirt plays bowling while two people watch him",
        "A man hangs a picture frame on the wall, then steps back.",
        "The man's bike frame is blue.",
        'a man with glasses says "hello" to the camera\'s lens',
        "word " * 80,
        "A man — in his 40s — plays & wins 3-2.",
        "The camera pans from left to right as the man throws.",
        "Her wave prompts the dog to sit and the task is done.",
        "“Sorry, I don't know,” a man tells the waiter.",
        "'I'm sorry,' says a boy, and 'let me think' says a girl.",
        'A man shouts: "Stop. I can\'t see the video!"',
        "I cannot do that, the guard says, as a man opens a door.",
        "No video game is on the table where two men sit.",
        "A card that reads I'm sorry lies on a table.",
        "Unable to stop, a cyclist crashes into a fence.",
        "No one is in the room, and no pictures hang on the wall.",
        "A man cannot open the door and gives up.",
        "Keine Bilder hängen an der Wand, ein Mann spielt.",
        "男人无法打开门，转身离开。",
        "男の人がボウリングをしています。",
        "ชายคนหนึ่งเล่นโบว์ลิ่ง",
        "A white van travels across the frame, out of the frame and back.",
        "A woman in her early 30s stands before a screen that reads 'bowling.com'; her face is not visible.",
    ],
)
def test_ordinary_captions_pass(candidate):
    assert refusal(candidate, BOWLING) is None


def test_words_of_the_coarse_caption_may_be_repeated():
    assert refusal("a bowling pin falls in the last frame of the game", "a pin falls in the last frame") is None
    both = "a bowling pin falls in the last frame, another in the first frame"
    assert refusal(both, "a pin falls in the last frame") == "frames"
