"""The review page in a browser, by keyboard alone, and what its saved decisions become."""

import numpy as np
import pytest
from browser import browser

from verified.annotations.choose import annotate, candidates_by_moment
from verified.annotations.select import select
from verified.config.trust import NOT_TRUSTED
from verified.demo.encode import write_video
from verified.io.jsonl import read_jsonl
from verified.people.pages import write_pages
from verified.people.review.adjudicate import adjudicate
from verified.people.review.decisions import read_decisions
from verified.people.review.pages import pages as review_pages
from verified.people.review.pages import queue

COUNT = 6
MOMENTS = [
    {
        "desc_id": n,
        "video": "<v>",
        "start": n / 4,
        "end": n / 4 + 1,
        "duration": 4.0,
        "split": "test",
        "caption": f"<i>coarse</i> {n}",
    }
    for n in range(1, COUNT + 1)
]
SCORES = [
    {
        "desc_id": n,
        "type": kind,
        "candidate": 0,
        "caption": f"<b>{kind}</b> of {n}",
        "lineage": f"{kind}{n}",
        "score": (n if kind == "dynamics" else -n) / 2,
    }
    for n in range(1, COUNT + 1)
    for kind in ("statics", "dynamics")
]
GROUPS = candidates_by_moment(MOMENTS, SCORES)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("review")
    frames = np.random.default_rng(0).integers(0, 255, (32, 48, 64, 3), dtype=np.uint8)
    write_video(folder / "v.mp4", frames, 8)
    videos = [{"video": "<v>", "path": str(folder / "v.mp4")}]
    shown = queue(MOMENTS, GROUPS, "doubt")
    made = review_pages("kitchen", "Kitchen", shown, videos, 5, 64, NOT_TRUSTED)
    assert write_pages(folder / "pages", "review", made) == 2
    return folder / "pages"


def test_what_the_evaluator_doubts_most_comes_first():
    assert [item["desc_id"] for item in queue(reversed(MOMENTS), GROUPS, "doubt")] == list(range(1, COUNT + 1))
    assert [item["desc_id"] for item in queue(reversed(MOMENTS), GROUPS, "corpus")] == list(range(COUNT, 0, -1))
    unscored = candidates_by_moment(MOMENTS, [{**SCORES[0], "score": float("nan")}])
    assert queue(MOMENTS, unscored, "doubt") == []  # nothing to judge


def test_pages_hold_so_many_moments_and_no_address_of_the_network(pages):
    names = sorted(path.name for path in pages.iterdir())
    assert names == ["page-001.html", "page-002.html"]
    text = (pages / "page-001.html").read_text(encoding="utf-8")
    assert "http://" not in text and "https://" not in text and "<b>statics" not in text
    assert NOT_TRUSTED in text, "reviewers are told of confidences that mean nothing"


def content(chromium, name: str) -> str:
    return chromium.run(f"document.getElementById('{name}').textContent")


def key(chromium, letter: str, condition: str) -> None:
    """One letter on the keyboard, and what it does."""
    chromium.insist(lambda: chromium.press(letter, ord(letter.upper()), letter), condition, once=True)


def write(chromium, text: str) -> None:
    """A text into the field that has the focus."""
    chromium.insist(lambda: chromium.type(text), f"document.activeElement.value === '{text}'", once=True)


def enter(chromium, condition: str, modifiers: int = 0) -> None:
    """The Enter key, with Control for 2, and what it does."""
    press = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "modifiers": modifiers, "text": "\r"}

    def pressed() -> None:
        for kind in ("keyDown", "keyUp"):
            chromium.call("Input.dispatchKeyEvent", type=kind, **press)

    chromium.insist(pressed, condition, once=True)


def heading(desc_id: int, number: int) -> str:
    return f"document.getElementById('heading').textContent === 'Moment {desc_id} ({number} of 5)'"


def saved(chromium, name: str):
    chromium.run("document.getElementById('save').click()")
    return chromium.downloaded(name)


def test_a_page_is_worked_through_by_keyboard_left_and_gone_on_with(pages, tmp_path):
    with browser(tmp_path / "first") as chromium:
        chromium.open(pages / "page-001.html")
        chromium.wait("document.getElementById('clip').readyState >= 2")
        assert content(chromium, "judged") == "<b>dynamics</b> of 1" and content(chromium, "coarse").startswith("<i>")
        chromium.run("document.getElementById('moment').focus()")
        # Without a name nothing is decided.
        key(chromium, "a", "document.getElementById('message').textContent.includes('your name first')")
        write(chromium, "Ann Ä.")
        chromium.run("document.getElementById('reviewer').blur()")
        chromium.wait("document.activeElement === document.body")
        key(chromium, "a", heading(2, 2))
        key(chromium, "1", heading(3, 3))
        key(chromium, "e", "document.activeElement.id === 'text'")
        chromium.run("document.getElementById('text').value = '  a noisy \\n picture '")
        enter(chromium, heading(4, 4), modifiers=2)
        key(chromium, "r", "document.activeElement.id === 'reason'")
        write(chromium, "wrong object")
        enter(chromium, heading(5, 5))
        key(chromium, "f", "document.activeElement.id === 'reason'")
        chromium.insist(lambda: chromium.press("Escape", 27), "document.getElementById('rejecting').hidden")
        key(chromium, "f", "document.activeElement.id === 'reason'")
        write(chromium, "too dark")
        enter(chromium, "document.getElementById('decided').textContent === 'Flagged: too dark'")
        assert content(chromium, "progress") == "4 of 5 decided"
        chromium.screenshot("review")
        chromium.screenshot("review-narrow", 400, 1000)
        # Begun again with nothing but what it kept, it goes on where it was: a page that is loaded again may read the
        # browser's storage before it was written.
        chromium.run("decisions = []; at = 0; document.getElementById('reviewer').value = ''; begin()")
        assert chromium.run(heading(5, 5))
        key(chromium, "p", heading(4, 4))
        key(chromium, "u", "document.getElementById('decided').textContent === ''")
        assert content(chromium, "progress") == "3 of 5 decided"
        first = saved(chromium, "review-kitchen-001-Ann-Ä-.jsonl")
        assert chromium.messages == []

    rows = read_jsonl(first)
    assert [row["decision"] for row in rows] == ["accept", "choose", "edit", "reject", "flag", "withdraw"]
    found = adjudicate(read_decisions([first]), MOMENTS, GROUPS)
    assert {n: outcome["caption"] for n, outcome in found["outcomes"].items()} == {
        1: "<b>dynamics</b> of 1",
        2: "<b>statics</b> of 2",
        3: "a noisy picture",
    }
    assert found["flags"] == [5] and rows[4]["reason"] == "too dark"
    assert [row["state"] for row in found["decisions"]][3] == "withdrawn"
    annotations, _, _ = annotate(MOMENTS, GROUPS)
    given, _, counts = select(annotations, GROUPS, found["outcomes"], None)
    assert counts == {"accepted": 1, "chosen": 1, "edited": 1, "kept": 3}
    assert given[2]["review"]["reviewers"] == ["Ann Ä."]

    with browser(tmp_path / "second") as chromium:  # another computer: it goes on from the saved file
        chromium.open(pages / "page-001.html")
        node = chromium.call("DOM.getDocument")["root"]["nodeId"]
        field = chromium.call("DOM.querySelector", nodeId=node, selector="#load")["nodeId"]
        chromium.insist(
            lambda: chromium.call("DOM.setFileInputFiles", nodeId=field, files=[str(first)]),
            "document.getElementById('message').textContent.includes('are here again')",
        )
        assert content(chromium, "progress") == "3 of 5 decided"
        chromium.run("document.getElementById('moment').focus()")
        key(chromium, "o", heading(4, 4))
        key(chromium, "a", heading(5, 5))
        again = read_jsonl(saved(chromium, "review-kitchen-001-Ann-Ä-.jsonl"))
        assert again[: len(rows)] == rows and again[-1]["decision"] == "accept"
        assert chromium.messages == []
    both = adjudicate(read_decisions([first, chromium.folder / "review-kitchen-001-Ann-Ä-.jsonl"]), MOMENTS, GROUPS)
    assert len(both["decisions"]) == len(rows) + 1 and both["outcomes"][4]["decision"] == "accept"
