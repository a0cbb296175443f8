"""Questions, their videos, the key of pages that ask them, and answer files as the pages write them."""

from pathlib import Path

from media import counted, write_video
from people.answered import answer_file

from verified.io.video import probe
from verified_rextime import people

PAGES = people.FORM
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


def question(number: int, **changes) -> dict:
    """A question with four options, of which the third is right, about two seconds of the video v."""
    options = ["it grows", "it stays", "it falls", "it turns"]
    row = {"qid": f"q{number}", "query": f"What is {number}?", "duration": 2.0, "vid": "v", "options": options}
    return row | {"relevant_windows": [[0.5, 1.5]], "ans": "C"} | changes


COLOURS = ("red", "blue", "pink", "green", "white")
VERBS = ("bounces", "grows", "moves to the left", "vanishes", "circles around", "shrinks", "moves up")


def captions(videos: int) -> dict:
    """ActivityNet's form: three events of 3.5 s in 12 s of each video, and a video whose one event is too sparse."""
    described = {
        f"v{video}": {
            "duration": 12.0,
            "timestamps": [[4.0 * number, 4.0 * number + 3.5] for number in range(3)],
            "sentences": [
                f"a {COLOURS[video % 5]} {('ball', 'box', 'star')[number]} {VERBS[(video + number) % 7]}"
                for number in range(3)
            ],
        }
        for video in range(videos)
    }
    return described | {"sparse": {"duration": 99.0, "timestamps": [[0, 3]], "sentences": ["a ball grows"]}}


def clips(folder: Path, names: str = "v") -> dict[str, dict]:
    files = {name: write_video(folder / f"{name}.mp4", counted(16), 8) for name in names}
    return {name: {"video": name, "path": str(path), "sha256": name, **probe(path)} for name, path in files.items()}


def question_key(tool="verify", raters=1, most=20) -> dict:
    shown = ("qid", "query", "kind", "duration", "answer", "options", "ans")
    items = [
        {**{name: row[name] for name in shown}, "video": row["vid"], "window": row["relevant_windows"][0]}
        for row in QUESTIONS
    ]
    return people.plan(tool, "Test", items, raters, most, 1)


def marked(key: dict, person: int = 1, give=lambda number: {}) -> dict:
    """The file of one person, who answers an item as `give` says and otherwise as everybody does."""
    usual = {"start": 1, "end": 2.5} | ({"answer": "B"} if key["tool"] == "human" else {})
    return answer_file(PAGES, key, person, give, usual)
