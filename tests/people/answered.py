"""Keys of a study, and answer files to pages as these export them."""

from given import fig

from verified.people.answers import Form, answer_checksum
from verified.people.study import sample

STUDY = sample.FORM
GRADED = {"statics": 1, "dynamics": 0, "accuracy": 4}


def annotations(statics: int, dynamics: int) -> list[dict]:
    kinds = ["statics"] * statics + ["dynamics"] * dynamics
    rows = []
    for ident, kind in enumerate(kinds, start=1):
        said = {"cog_desc": f"coarse {ident}", "fig_desc": f"<b>fine</b> {ident}", "fig_desc_type": kind}
        rows.append(fig(ident, f"v{ident % 3}", 0.5, 1.5, **said))
    return rows


def study(statics: int = 60, dynamics: int = 70, captions: int = 50, questions: int = 30, raters: int = 3) -> dict:
    return sample.plan("demo", "Demo", annotations(statics, dynamics), captions, questions, raters, 1)


def answer_file(form: Form, key: dict, person: int = 1, give=lambda number: {}, usual: dict = GRADED) -> dict:
    """The file of one person, who answers an item as `give` says and otherwise as `usual`."""
    answers = []
    for number in form.shares(key)[person - 1]:
        changes = give(number)
        answer = {form.item: number, **(changes if changes.get("bad") else usual | changes)}
        answers.append(answer | {"check": answer_checksum(form, key[form.task], person, answer)})
    return {form.task: key[form.task], form.person: person, "answers": answers}
