"""Sample captions for the human study, assign them to graders, and build their pages (supplement A.2 and D)."""

from collections.abc import Iterable, Iterator, Mapping

from verified.errors import InputError
from verified.io.fig import TYPES
from verified.people.answers import Form
from verified.people.pages import Page, add_digest, assign
from verified.runtime.seeds import generator

ALLOWED = {"statics": (0, 1), "dynamics": (0, 1), "accuracy": (1, 2, 3, 4, 5)}
"""The three questions: richer static information, richer dynamic information, accuracy; and their valid answers."""
GRADES = tuple(ALLOWED)


def _problem(answer: Mapping, question: Mapping, key: Mapping) -> str | None:
    for name, allowed in ALLOWED.items():
        if answer.get(name) is None:
            return f"the answer on {name} is missing"
        if type(answer[name]) is not int or answer[name] not in allowed:
            return f"{name} is {answer[name]!r}, not one of {', '.join(map(str, allowed))}"
    return None


FORM = Form("study", "participant", "question", GRADES, _problem)


def plan(
    dataset: str, title: str, annotations: Iterable[dict], captions: int, questions: int, raters: int, seed: int
) -> dict:
    """The study's key: its questions with their captions, and the questions of each participant.

    `captions` statics and as many dynamics captions are drawn without replacement; a data set with fewer contributes
    all of them. Every question goes to `raters` different participants, who get at most `questions` each, in a separate
    random order. Raises InputError for annotations without caption types.
    """
    rows = list(annotations)
    if any("fig_desc_type" not in row for row in rows):
        raise InputError(
            f"the annotations of {dataset} do not say which captions are statics and which dynamics",
            remedy="a study needs annotations made by this workflow",
        )
    drawn = []
    for kind in TYPES:
        of_kind = sorted((row for row in rows if row["fig_desc_type"] == kind), key=lambda row: row["desc_id"])
        order = generator(seed, "study", dataset, kind).permutation(len(of_kind))[:captions]
        drawn += [of_kind[index] for index in order]
    if not drawn:
        raise InputError(f"{dataset} has no captions to ask about")
    order = generator(seed, "study", dataset, "questions").permutation(len(drawn))
    dealt = [
        {
            "question": number,
            "desc_id": row["desc_id"],
            "video": row["video"],
            "time": row["time"],
            "type": row["fig_desc_type"],
            "coarse": row["cog_desc"],
            "fine": row["fig_desc"],
        }
        for number, row in enumerate((drawn[index] for index in order), start=1)
    ]
    key = {
        "dataset": dataset,
        "title": title,
        "seed": seed,
        "raters": raters,
        "questions": dealt,
        "participants": assign(len(dealt), min(questions, len(dealt)), raters, seed),
    }
    return add_digest("study", key)


def pages(key: Mapping, clips: Mapping[int, bytes]) -> Iterator[Page]:
    """A page per participant, without the captions' types."""
    questions = {row["question"]: row for row in key["questions"]}
    for participant, numbers in enumerate(key["participants"], start=1):
        study = {
            "study": key["study"],
            "title": key["title"],
            "participant": participant,
            "questions": [
                {name: questions[number][name] for name in ("question", "coarse", "fine")} for number in numbers
            ],
        }
        yield Page(
            f"participant-{participant:02d}.html",
            f"Study of video descriptions, participant {participant}",
            {"study": study},
            {f"clip-{number}": clips[number] for number in numbers},
        )
