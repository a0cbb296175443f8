"""The review page in a browser, by keyboard alone, and the effect of its saved decisions."""

import json
import re

import pytest
from browser import browser
from small_review import COUNT, GROUPS, MOMENTS, SCORES, build_pages

from verified.annotations.lint import caption_findings
from verified.annotations.selection import annotate, candidates_by_moment
from verified.config.annotations import Annotations, Lint
from verified.io.jsonl import read_jsonl
from verified_lab.review.adjudicate import adjudicate
from verified_lab.review.apply import select_reviewed
from verified_lab.review.decisions import content_id, read_decisions
from verified_lab.review.pages import javascript, queue, text_rules


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    return build_pages(tmp_path_factory.mktemp("review"))


def test_the_most_doubtful_captions_come_first():
    shown = queue(reversed(MOMENTS), GROUPS, "doubt")
    assert [item["desc_id"] for item in shown] == list(range(1, COUNT + 1))
    ids = [content_id(row["video"], row["start"], row["end"], row["caption"]) for row in MOMENTS]
    assert [item["moment"] for item in shown] == ids
    assert [item["desc_id"] for item in queue(reversed(MOMENTS), GROUPS, "corpus")] == list(range(COUNT, 0, -1))
    unscored = candidates_by_moment(MOMENTS, [{**SCORES[0], "score": float("nan")}])
    assert queue(MOMENTS, unscored, "doubt") == []  # nothing to judge


def content(chromium, name: str) -> str:
    return chromium.run(f"document.getElementById('{name}').textContent")


def key(chromium, letter: str, condition: str) -> None:
    chromium.insist(lambda: chromium.press(letter, ord(letter.upper()), letter), condition, once=True)


def write(chromium, text: str) -> None:
    chromium.insist(lambda: chromium.type(text), f"document.activeElement.value === '{text}'", once=True)


def enter(chromium, condition: str, modifiers: int = 0) -> None:
    press = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "modifiers": modifiers, "text": "\r"}

    def pressed() -> None:
        for kind in ("keyDown", "keyUp"):
            chromium.call("Input.dispatchKeyEvent", type=kind, **press)

    chromium.insist(pressed, condition, once=True)


def heading(desc_id: int, number: int) -> str:
    return f"document.getElementById('heading').textContent === 'Moment {desc_id} ({number} of 5)'"


def load(chromium, file, said: str) -> None:
    node = chromium.call("DOM.getDocument")["root"]["nodeId"]
    field = chromium.call("DOM.querySelector", nodeId=node, selector="#load")["nodeId"]
    chromium.insist(
        lambda: chromium.call("DOM.setFileInputFiles", nodeId=field, files=[str(file)]),
        f"document.getElementById('message').textContent.includes('{said}')",
    )


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
    given, _, counts = select_reviewed(annotations, GROUPS, found["outcomes"], None, Annotations())
    assert counts == {"accepted": 1, "chosen": 1, "edited": 1, "kept": 3}
    assert given[2]["review"]["reviewers"] == ["Ann Ä."]

    with browser(tmp_path / "second") as chromium:  # another computer: it goes on from the saved file
        chromium.open(pages / "page-001.html")
        load(chromium, first, "are here again")
        assert content(chromium, "progress") == "3 of 5 decided"
        chromium.run("document.getElementById('moment').focus()")
        key(chromium, "o", heading(4, 4))
        key(chromium, "a", heading(5, 5))
        again = read_jsonl(saved(chromium, "review-kitchen-001-Ann-Ä-.jsonl"))
        assert again[: len(rows)] == rows and again[-1]["decision"] == "accept"
        assert chromium.messages == []
    both = adjudicate(read_decisions([first, chromium.folder / "review-kitchen-001-Ann-Ä-.jsonl"]), MOMENTS, GROUPS)
    assert len(both["decisions"]) == len(rows) + 1 and both["outcomes"][4]["decision"] == "accept"


def test_near_duplicates_of_a_video_follow_each_other():
    moments = [
        {**MOMENTS[0], "desc_id": n, "video": video, "start": at, "end": at + 1.0}
        for n, video, at in ((1, "v", 0.0), (2, "w", 0.0), (3, "v", 0.2), (4, "v", 2.0))
    ]
    scores = [{**SCORES[0], "desc_id": n, "score": n / 1.0, "caption": f"what {n} shows"} for n in range(1, 5)]
    found = queue(moments, candidates_by_moment(moments, scores), "doubt")
    assert [(item["desc_id"], item.get("near")) for item in found] == [(1, 2), (3, 2), (2, None), (4, None)]
    said = [{**row, "caption": "It falls."} for row in scores]
    found = queue(moments, candidates_by_moment(moments, said), "doubt")
    assert [item["desc_id"] for item in found] == [1, 3, 4, 2]


CAPTIONS = (
    "A dog runs.", '"A dog runs."', "“quoted”", "‘a’", "«Ein Hund»", "it runs for 3 seconds", "at 1:30 it ends",
    "the last frame", "see www.example.org", "https://a.b", "<b>bold</b>", "{x}", "**x**",
    "As an AI language model", "Über 12 Minuten", "ask @anna", "mail a.b@c.de", "call +49 170 1234567",
    "the caption says", "the original caption", "the prompt", "日本語 3s", "a 2nd minute", "in １２ seconds", "è5s",
    "two  blanks", " blank", "tab\there", "$x$", "&amp;", "user: hi", "candidate 3", "answer: yes", "a\\b",
    "İ 5 SECONDS", "please note", "<think>a dog</think> A dog runs.", "x" * 300, "'it's'", "12.5s",
    "the frames show", "[/INST]", "1234567890",
)  # fmt: skip


def test_the_lint_on_the_page_finds_what_the_lint_of_the_run_finds(pages, tmp_path):
    coarse = "The last frame of 3 seconds"
    with browser(tmp_path) as chromium:
        chromium.open(pages / "page-001.html")
        chromium.run(f"items[at].coarse = {json.dumps(coarse)}")
        asked = f"{json.dumps(CAPTIONS)}.map((text) => findings(text).map((rule) => rule.check))"
        found = chromium.run(asked)
        assert chromium.messages == []
    expected = [[check for check, _ in caption_findings(caption, coarse)] for caption in CAPTIONS]
    assert dict(zip(CAPTIONS, found)) == dict(zip(CAPTIONS, expected))
    assert len({check for checks in expected for check in checks}) == len(
        {rule["check"] for rule in text_rules(Lint())}
    )
    assert {rule["check"] for rule in text_rules(Lint(url="off"))}.isdisjoint({"url"})
    with pytest.raises(ValueError):
        javascript(re.compile(r"\Wa"))


def test_times_are_edited_and_moments_drawn_on_the_player(pages, tmp_path):
    def field(name: str, text: str, condition: str) -> None:
        chromium.run(f"document.getElementById('{name}').focus(); document.getElementById('{name}').select()")
        chromium.insist(lambda: chromium.type(text), condition, once=True)

    def timing(start: float, end: float) -> str:
        return f"JSON.stringify(times) === '[{start:g},{end:g}]'"

    def press(name: str) -> None:
        chromium.run(f"document.getElementById('{name}').click()")

    with browser(tmp_path / "first") as chromium:
        chromium.open(pages / "page-001.html")
        chromium.wait("document.getElementById('clip').readyState >= 2")
        field("reviewer", "Ann", "reviewer() === 'Ann'")
        chromium.run("byId('reviewer').dispatchEvent(new Event('change')); byId('clip').pause()")
        assert chromium.run("items[0].clip") == [0, 1.75] and content(chromium, "where").startswith(
            "<v>, 0:00.250–0:01.250"
        )
        # Written as m:ss.s; what is no time, or after the end, is said at once and not kept.
        field("end", "0:09.5", "byId('timing').textContent.includes('0:04.0')")
        chromium.run("byId('moment').focus()")
        key(chromium, "a", "byId('message').textContent.includes('0:04.0')")
        field("end", "1.7", timing(0.25, 1.7))
        # By the player: it stands at 0.6 s.
        chromium.run("byId('moment').focus(); byId('clip').currentTime = 0.6")
        chromium.insist(lambda: chromium.press("[", 219, "["), timing(0.6, 1.7))
        chromium.insist(lambda: chromium.press(".", 190, "."), "byId('clip').currentTime > 0.65")
        # By mouse: the middle of the slider of the start.
        place = chromium.run(
            "(() => { const box = byId('start-range').getBoundingClientRect();"
            " return [box.x + box.width / 2, box.y + box.height / 2] })()"
        )

        def clicked() -> None:
            for kind in ("mousePressed", "mouseReleased"):
                chromium.call(
                    "Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1
                )

        chromium.insist(clicked, "times[0] > 0.8 && times[0] < 1 && byId('start').value === clock(times[0])")
        chromium.run("byId('moment').focus(); setTimes([0.5, 1.7])")
        key(chromium, "a", heading(2, 2))
        # A drawn moment: the lint speaks while it is written, and an error is not kept.
        press("draw")
        assert "times of the new moment" in content(chromium, "message")
        field("start", "2", "times[0] === 2")
        field("end", "0:03", timing(2, 3))
        press("draw")
        field("text", "it waits 5 seconds", "byId('findings').textContent.includes('5 seconds')")
        enter(chromium, "byId('message').textContent.includes('A run would refuse')", modifiers=2)
        field("text", "it waits", "byId('findings').textContent === ''")
        enter(chromium, "byId('decided').textContent === 'New moment (0:02.0–0:03.0): it waits'", modifiers=2)
        chromium.screenshot("review-edits")
        chromium.screenshot("review-edits-narrow", 400, 1000)
        file = saved(chromium, "review-kitchen-001-Ann.jsonl")
        assert chromium.messages == []
    rows = read_jsonl(file)
    assert [row["decision"] for row in rows] == ["accept", "draw"]
    assert all(row["version"] == 2 for row in rows) and rows[0]["time"] == [0.5, 1.7]
    found = adjudicate(read_decisions([file]), MOMENTS, GROUPS)
    annotations, _, _ = annotate(MOMENTS, GROUPS)
    given = select_reviewed(annotations, GROUPS, found["outcomes"], None, Annotations())[0]
    assert (given[0]["time"], given[0]["fig_desc"]) == ([0.5, 1.7], "<b>dynamics</b> of 1")
    assert [(moment["time"], moment["text"]) for moment in found["drawn"]] == [([2, 3], "it waits")]

    newer = tmp_path / "newer.jsonl"
    newer.write_text(json.dumps({**rows[0], "version": 9}) + "\n")
    with browser(tmp_path / "second") as chromium:
        chromium.open(pages / "page-001.html")
        load(chromium, newer, "another version")
        load(chromium, file, "are here again")
        assert content(chromium, "progress") == "1 of 5 decided"
        assert chromium.messages == []
