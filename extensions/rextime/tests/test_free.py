"""Free answers without options, shown beside the true ones; letters in the words of an answer."""

import json

import pytest
from captioning import settings as generation_settings
from question_pages import clips, question

from verified.io.jsonl import write_jsonl
from verified.lmm.request import Reply
from verified.lmm.session import Session
from verified_rextime.answer import take_test, tasks_for
from verified_rextime.tables import SHOWN, free_table
from verified_rextime.tasks import answer_with_span


class Talks:
    name, model, revision = "talks", "seer", ""

    def __init__(self, replies: dict[str, Reply]):
        self.replies, self.requests = replies, []

    def answer(self, requests):
        for request in requests:
            self.requests.append(request)
            yield self.replies[request.slots["question"]]


def test_free_answers_are_asked_without_options_and_once(tmp_path):
    rows, videos = [question(n) for n in range(2)], clips(tmp_path)
    engine = Talks({"What is 0?": Reply("It drops\n down the stairs."), "What is 1?": Reply("It dr", "length")})

    def answered(rows):
        session = Session(generation_settings(tmp_path, attempts=1), 7, tasks_for("free", rows), {"video_lmm": engine})
        with session:
            return take_test(rows, videos, "free", 4, session)

    submission, failures = answered(rows)
    assert submission == [{"qid": "q0", "text": "It drops down the stairs."}, {"qid": "q1", "text": None}]
    assert failures == [{"qid": "q1", "reason": "truncated-token-limit"}]
    prompts = [request.prompt for request in engine.requests]
    assert not any(option in prompt for prompt in prompts for option in rows[0]["options"])
    assert answered(rows[:1])[0] == submission[:1] and len(engine.requests) == len(prompts)


@pytest.mark.parametrize(
    "text, letter",
    [
        ("b", "B"),
        ("(c)", "C"),
        ("**D**", "D"),
        ("A. A man falls", "A"),
        ("Option C", "C"),
        ("The answer is A because a ball rolls.", "A"),
        ("It shows a man, so B.", "B"),
        ("A ball rolls, which is option (d)", "D"),
        ("A man falls", None),
        ("The answer is a dog", None),
        (3, None),
    ],
)
def test_an_answer_is_the_letter_of_an_option_and_no_article(text, letter):
    parsed = answer_with_span({}, json.dumps({"answer": text, "relevant_span": [1, 2]}), 1, False)
    assert parsed.sections.get("answer") == letter and parsed.missing == (letter is None)


def test_the_table_shows_the_first_answers_beside_the_true_ones(tmp_path):
    rows = [question(n) for n in range(SHOWN + 5)]
    write_jsonl(tmp_path / "questions.jsonl", rows)
    write_jsonl(tmp_path / "free.jsonl", ({"qid": row["qid"], "text": f"text {n}"} for n, row in enumerate(rows)))
    test = {"questions": tmp_path / "questions.jsonl", "scored": True, "answers": [tmp_path / "free.jsonl"]}
    table = free_table({"test": test}, "seer")
    assert len(table.rows) == SHOWN and f"test {len(rows)}" in table.notes[1]
    assert table.rows[1][4:] == ("it falls", "text 1")
