"""The tolerant reading of replies: free text, then JSON as models distort it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verified.lmm.tasks import structured_form
from verified_rextime import tasks

EVENTS = {"event1": "a man kneels", "event2": "he stands up"}
SCORES = {"Directness": 2, "Necessity": 1, "Intentionality": 0, "Purpose": 3, "Similarity": 0}
PAIR = EVENTS | {"event1_timestamp": [0, 4.5], "event2_timestamp": [5, 9]} | SCORES
READ = EVENTS | {"event1_span": "0 4.5", "event2_span": "5 9"}
READ |= {name.lower(): str(score) for name, score in SCORES.items()}

TASKS = {task.name: task for task in tasks.TASKS}


def test_schema_ending_and_example_of_each_task_agree():
    for task in tasks.TASKS:
        schema, ending = structured_form(task, 2)
        assert all(f'"{name}"' in ending for name in schema["required"]), task.name
        example = task.example(2, "0123456789abcdef")
        assert example.usable and not example.missing, task.name


def parse(task, slots, text, count):
    return TASKS[task].read(slots, text, count, False)


def written(**changes) -> str:
    return json.dumps(PAIR | changes, indent=1)


@pytest.mark.parametrize(
    "text",
    [
        written(),
        f"The pair at [0, 4.5] {{clearly}} fits.\n```json\n{written()}\n```\nThat is all.",
        f"```json{written()}```",
        written().replace('"Necessity"', '// a comment, with "quotes"\n "Necessity"'),
        written().replace('"Purpose": 3,', '"Purpose": 3, // it is meant\n'),
        written().replace('"Similarity": 0', '"Similarity": 0,'),
        written().replace("Intentionality", "Proactiveness"),
        written().replace('"event1_timestamp"', '"Event1 Timestamp"'),
        written(event1_timestamp="0:00 - 0:04.5", event2_timestamp=["5 s", "00:00:09"]),
        written(Directness="2/3", Purpose=3.0, Necessity="1"),
        f"Draft: {written(Directness=0)}\nFinal: {written()}",
    ],
)
def test_event_pairs_are_read_through_what_models_do_to_json(text):
    parsed = parse("rextime/event_pair", {}, text, 1)
    assert parsed.sections == READ and parsed.missing == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot.",
        "{",
        written(Directness=4),
        written(Purpose=True),
        written(event1=" "),
        written()[:-40],
        written(event2_timestamp=[5]),
        written(event2_timestamp=[5, "soon"]),
    ],
)
def test_an_answer_that_lacks_something_gives_nothing_and_is_asked_for_again(text):
    parsed = parse("rextime/event_pair", {}, text, 1)
    assert parsed.missing > 0 and not parsed.usable


def test_related_events_may_be_one_sided_or_none():
    cause = {"explain": "e", "cause": "it rains", "cause-relevant": "Yes.", "cause-alignment": "HIGH"}
    effect = {"effect": "none", "effect-relevant": "no", "effect-alignment": "low"}
    sections = parse("rextime/related_event", {}, json.dumps(cause | effect), 1).sections
    assert (sections["cause_relevant"], sections["cause_alignment"]) == ("yes", "high")
    assert sections["effect_relevant"] == "no"
    assert parse("rextime/related_event", {}, json.dumps(cause), 1).sections["effect"] == "none"
    assert parse("rextime/related_event", {}, '"None."', 1).sections == {"none": "none"}
    assert parse("rextime/related_event", {}, json.dumps(cause | {"cause-relevant": "perhaps"}), 1).missing == 1
    assert not parse("rextime/related_event", {}, "the sun shines", 1).usable


def test_questions_scores_and_options_are_read():
    questions = {f"Type{n}": {"Question": f"Q{n}?", "Answer": f"A{n}"} for n in (1, 2)}
    expected = {"question1": "Q1?", "answer1": "A1", "question2": "Q2?", "answer2": "A2"}
    assert parse("rextime/cause_effect", {}, f"So:\n{json.dumps(questions)}", 1).sections == expected
    events = {"pre-event": "x", "pre-event_timestamp": [0, 1], "post-event": "y", "post-event_timestamp": [1, 2]}
    sections = parse("rextime/sequential", {}, json.dumps(events | questions), 1).sections
    spans = {"pre_event": "x", "pre_event_span": "0 1", "post_event": "y", "post_event_span": "1 2"}
    assert sections == expected | spans
    scores = parse("rextime/verification", {}, '{"case_1_score": 3, "case_2_score": "0"}', 1).sections
    assert scores == {"case_1_score": "3", "case_2_score": "0"}
    options = {"correct_answer": "yes", **{f"wrong_answer_{n}": f"w{n}" for n in (1, 2, 3)}}
    assert parse("rextime/options", {"answer": "yes"}, json.dumps(options), 1).missing == 0
    for same in ({"wrong_answer_2": "Yes!"}, {"wrong_answer_3": "W1."}):
        assert parse("rextime/options", {"answer": "yes"}, json.dumps(options | same), 1).missing == 1


@pytest.mark.parametrize(
    "text, span, letter",
    [
        ('{"relevant_span": [3, 7.5], "answer": "C"}', "3 7.5", "C"),
        ('{"relevant_span": ["00:00:03", "00:00:07.5"], "answer": "(c) the dog"}', "3 7.5", "C"),
        ("From 3 to 7.5, B) a cat", "3 7.5", "B"),
    ],
)
def test_an_answer_with_its_span_is_read_from_json_or_words(text, span, letter):
    assert parse("rextime/answer_with_span", {}, text, 1).sections == {"answer": letter, "span": span}


def test_a_span_is_found_in_words():
    assert parse("rextime/locate", {}, "The event runs from 12 to 30.5 seconds.", 1).sections == {"span": "12 30.5"}
    assert parse("rextime/locate", {}, "Between 01:02 and 1:10", 1).sections == {"span": "62 70"}
    assert not parse("rextime/locate", {}, "I do not know, 12 perhaps", 1).usable


@given(st.text(max_size=300), st.sampled_from(sorted(TASKS)))
def test_no_reply_makes_a_parser_fail(text, task):
    parsed = parse(task, {"answer": "x"}, text, 1)
    assert parsed.usable == (parsed.missing == 0)
