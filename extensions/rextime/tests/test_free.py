"""Free answers without options: asked once, read by another model, scored where there are options, shown in a table."""

import pytest
from captioning import settings as generation_settings
from question_pages import clips, question

from verified.io.jsonl import write_jsonl
from verified.lmm.request import Reply
from verified.lmm.session import Session
from verified_rextime.answer import take_test, tasks_for
from verified_rextime.results import score_all, submissions_of
from verified_rextime.rows import read_questions
from verified_rextime.tables import SHOWN, free_table
from verified_rextime.tasks import parse_letter


@pytest.fixture(scope="module")
def videos(tmp_path_factory):
    return clips(tmp_path_factory.mktemp("clips"))


class Talks:
    """Returns the scripted reply to a question, and the scripted reading of an answer."""

    name, revision = "talks", ""

    def __init__(self, model: str, replies: dict[str, Reply]):
        self.model, self.replies, self.requests = model, replies, []

    def answer(self, requests):
        for request in requests:
            self.requests.append(request)
            slots = request.slots
            said = slots["answer"] if request.task == "rextime/reading" else slots.get("question", "describe")
            yield self.replies[said]


def engines() -> dict:
    seen = {
        "What is 0?": Reply("It drops\n down the stairs."),
        "What is 1?": Reply("The video does not say."),
        "What is 2?": Reply("It dr", "length"),
        "What is 3?": Reply("A thing."),
    }
    read = {
        "It drops down the stairs.": Reply('{"option": "C"}'),
        "The video does not say.": Reply("None of them."),
        "A thing.": Reply("A thing is not an option"),
    }
    return {"video_lmm": Talks("seer", seen), "llm": Talks("reader", read)}


def answered(folder, videos, rows, roles):
    with Session(generation_settings(folder, attempts=1), 7, tasks_for("free", rows), roles) as session:
        return take_test(rows, videos, "free", 4, session)


def test_free_answers_are_read_by_another_model_which_sees_neither_video_nor_truth(videos, tmp_path):
    rows, roles = [question(n) for n in range(4)], engines()
    submission, failures = answered(tmp_path, videos, rows, roles)
    assert submission == [
        {"qid": "q0", "ans": "C", "text": "It drops down the stairs."},
        {"qid": "q1", "ans": "none", "text": "The video does not say."},
        {"qid": "q2", "ans": None, "text": None},
        {"qid": "q3", "ans": None, "text": "A thing."},
    ]
    assert {row["qid"]: row["reason"] for row in failures} == {"q2": "truncated-token-limit", "q3": "ok-no-letter"}
    assert not any(
        option in request.prompt for request in roles["video_lmm"].requests for option in question(0)["options"]
    )
    assert len(roles["llm"].requests) == 3
    for request in roles["llm"].requests:
        assert request.frames is None and not request.images and 'C. "it falls"' in request.prompt
    again = engines()
    assert answered(tmp_path, videos, rows[:2], again)[0] == submission[:2]
    assert not again["video_lmm"].requests and not again["llm"].requests


@pytest.mark.parametrize(
    "text, letter",
    [
        ("b", "B"),
        ("(c)", "C"),
        ("**D**", "D"),
        ("A. A man falls", "A"),
        ('{"answer": "Option C"}', "C"),
        ("The answer is A because a ball rolls.", "A"),
        ("It shows a man, so B.", "B"),
        ("A ball rolls, which is option (d)", "D"),
        ("A man falls", None),
        ("The answer is a dog", None),
        ('{"answer": 3}', None),
    ],
)
def test_an_answer_is_the_letter_of_an_option_and_no_article(text, letter):
    parsed = parse_letter({}, text, 1, False)
    assert parsed.sections.get("answer") == letter and parsed.missing == (letter is None)


def test_scores_and_table_name_the_model_that_read_the_answers(videos, tmp_path):
    rows = [question(n) for n in range(SHOWN + 5)]
    write_jsonl(tmp_path / "questions.jsonl", rows)
    given = [{"qid": row["qid"], "ans": "C" if n < 2 else "none", "text": f"text {n}"} for n, row in enumerate(rows)]
    write_jsonl(tmp_path / "free.jsonl", given)
    system = {"mode": "vqa", "files": [tmp_path / "free.jsonl"], "reader": "judge-1"}
    questions = read_questions(tmp_path / "questions.jsonl")
    systems = submissions_of(questions, {"seer, free": system}, "test")
    scored = score_all(questions, systems, 1)["systems"]["seer, free"]
    assert scored["result"]["VQA"] == pytest.approx(2 / len(rows))
    (note,) = [note for note in scored["notes"] if "judge-1" in note]
    assert f"(2 of {len(rows)} mean one)" in note
    test = {"questions": tmp_path / "questions.jsonl", "scored": True, "answers": [tmp_path / "free.jsonl"]}
    table = free_table({"test": test}, "seer", "judge-1")
    assert len(table.rows) == SHOWN and f"test {len(rows)}" in table.notes[1]
    assert [row[4:] for row in table.rows[1:3]] == [
        ("it falls", "text 1", "C", "right"),
        ("it falls", "text 2", "none", "wrong"),
    ]
