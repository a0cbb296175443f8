"""The mini test: a sample by kind or by list, from files in the form that the data set has."""

import json

import pytest
from refusals import refused

from verified_rextime.config import ReleasedQuestions
from verified_rextime.results import System, score_all
from verified_rextime.rows import Prediction, Question, choose, read_questions
from verified_rextime.tables import kinds_table

CATEGORIES = ("sequential", "cause_effect", "means_end")


@pytest.fixture
def published(tmp_path):
    """One JSON array with the keys of the data set that has the options."""
    rows = [
        {
            "qid": f"anet_test{number}",
            "vid": f"v_{number // 2}",
            "duration": 20,
            "question": f"What is {number}?",
            "answer": "From <s0> to <e0>, <option>.",
            "category": CATEGORIES[number % 3],
            "options": [f"{letter}{number}" for letter in "wxyz"],
            "span": [2, 8],
            "ans": "B",
        }
        for number in range(18)
    ]
    file = tmp_path / "rextime_val.json"
    file.write_text(json.dumps(rows))
    return file


def test_the_published_array_is_read_with_its_kinds(published, tmp_path):
    first, second, third, *_ = questions = read_questions(published)
    assert len(questions) == 18 and first.query == "What is 0?" and first.windows == ((2.0, 8.0),)
    assert [one.kind for one in (first, second, third)] == ["sequential", "cause_effect", "means_to_an_end"]
    broken = json.loads(published.read_text())
    del broken[3]["vid"]
    published.write_text(json.dumps(broken))
    with refused("vid", file="rextime_val.json", row=4):
        read_questions(published)


def test_a_sample_has_so_many_of_each_kind_and_hangs_on_seed_and_ids_alone(published):
    questions = read_questions(published)
    given = ReleasedQuestions(questions=str(published), per_kind=2)
    drawn = choose(questions, given, 1)
    assert [sum(one.kind == kind for one in drawn) for kind in sorted({one.kind for one in questions})] == [2, 2, 2]
    assert {one.qid for one in choose(questions[::-1], given, 1)} == {one.qid for one in drawn}
    assert any({one.qid for one in choose(questions, given, seed)} != {one.qid for one in drawn} for seed in (2, 3, 4))
    with refused("7", "6", remedy=True):
        choose(questions, given.model_copy(update={"per_kind": 7}), 1)
    with refused("kind", "only", remedy=True):
        choose([Question("q", "?", "v", 9.0, ((0.0, 1.0),))], given, 1)


def test_systems_are_shown_by_the_kind_of_question(published):
    questions = read_questions(published)
    letters = {q.qid: Prediction((2.0, 8.0), "B" if q.kind == "sequential" else "A") for q in questions}
    results = {"val": score_all(questions, {"mine": System("both", letters)}, 1)}
    rows = {(row[1], row[2]): row for row in kinds_table(results).rows}
    assert rows["mine", "sequential"][3:] == (6, 100, 100, 100, 100, 100)
    assert rows["mine", "cause effect"][7:] == (0, 0) and rows["mine", "means to an end"][4] == 100
    without = [Question("q", "?", "v", 9.0, ((0.0, 1.0),), "A")]
    assert kinds_table({"x": score_all(without, {}, 1)}) is None
