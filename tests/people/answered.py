"""Keys of a study and of questions across time, and answer files to them as the pages export them."""

from verified.benchmark.rextime import people, people_answers
from verified.people.answers import Form, answer_checksum
from verified.people.study import sample

STUDY, QUESTION_PAGES = sample.FORM, people_answers.FORM
QUESTIONS = [
    {
        "qid": f"q/{number}",
        "query": f"<b>What</b> happens after {number}?",
        "answer": f"Thing {number}.",
        "vid": "one" if number < 3 else "two",
        "duration": 4.0,
        "relevant_windows": [[1.0, 2.5]],
        "question_windows": [],
        "options": [f"Thing {k}." for k in range(4)],
        "ans": "B",
        "kind": "sequential",
    }
    for number in (1, 2, 3)
]


def annotations(statics: int, dynamics: int) -> list[dict]:
    kinds = ["statics"] * statics + ["dynamics"] * dynamics
    return [
        {
            "desc_id": ident,
            "video": f"v{ident % 3}",
            "time": [0.5, 1.5],
            "cog_desc": f"coarse {ident}",
            "fig_desc": f"<b>fine</b> {ident}",
            "fig_desc_type": kind,
        }
        for ident, kind in enumerate(kinds, start=1)
    ]


def study(statics: int = 60, dynamics: int = 70, captions: int = 50, questions: int = 30, raters: int = 3) -> dict:
    return sample.plan("demo", "Demo", annotations(statics, dynamics), captions, questions, raters, 1)


def question_key(tool="verify", raters=1, most=20) -> dict:
    shown = ("qid", "query", "kind", "duration", "answer", "options", "ans")
    items = [
        {**{name: row[name] for name in shown}, "video": row["vid"], "window": row["relevant_windows"][0]}
        for row in QUESTIONS
    ]
    return people.plan(tool, "Test", items, raters, most, 1)


def answer_file(form: Form, key: dict, person: int = 1, give=lambda number: {}) -> dict:
    """The file of one person, who answers an item as `give` says and otherwise as everybody does."""
    usual = {"statics": 1, "dynamics": 0, "accuracy": 4}
    if form is QUESTION_PAGES:
        usual = {"start": 1, "end": 2.5} | ({"answer": "B"} if key["tool"] == "human" else {})
    answers = []
    for number in form.shares(key)[person - 1]:
        changes = give(number)
        answer = {form.item: number, **(changes if changes.get("bad") else usual | changes)}
        answers.append(answer | {"check": answer_checksum(form, key[form.task], person, answer)})
    return {form.task: key[form.task], form.person: person, "answers": answers}
