"""Questions that people annotate: items in, answers aggregated, the three pages clicked through in a browser."""

import json

import numpy as np
import pytest
from browser import browser
from question_pages import PAGES, QUESTIONS, marked, question_key
from refusals import said

from verified.__main__ import main
from verified.demo.source import write_video
from verified.io.jsonl import read_json, read_jsonl, write_json, write_jsonl
from verified.people.answers import collect
from verified_rextime.people import aggregate, agreement, annotated_questions


@pytest.fixture
def questions(tmp_path):
    write_jsonl(tmp_path / "questions.jsonl", QUESTIONS)
    return tmp_path / "questions.jsonl"


def test_several_raters_are_aggregated_and_their_agreement_is_measured(tmp_path):
    key = question_key(raters=3, most=3)
    changes = [{2: {"bad": True}}, {2: {"bad": True}, 1: {"start": 1.5}}, {1: {"end": 3}}]
    paths = []
    for annotator, change in enumerate(changes, start=1):
        paths.append(tmp_path / f"{annotator}.json")
        write_json(paths[-1], marked(key, annotator, lambda item, of=change: of.get(item, {})))
    answers = collect(paths, key, PAGES).answers
    rows = {row["qid"]: row for row in aggregate(answers, key)}
    assert rows["q/1"]["window"] == [1, 2.5] and rows["q/2"]["bad"] and not rows["q/3"]["bad"]
    half = aggregate([answer for answer in answers if answer["annotator"] != 2], key)
    assert [row["bad"] for row in half] == [False, True, False], "by one of two"
    marks = {"qid": "q/1", "relevant_windows": [[1, 2.5]]}
    assert annotated_questions([{"qid": "q/1"}], rows.values(), "verify")[0] == [marks]
    measured = agreement(answers, key)
    assert measured["pairs_of_spans"] == 6 and 0.5 < measured["mean_iou_of_spans"] < 1
    assert 0 < measured["alpha"] < 1


@pytest.fixture(scope="module")
def videos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("videos")
    draw = np.random.default_rng(2)
    for name in ("one", "two"):
        frames = np.repeat(draw.integers(0, 255, (4, 64, 96, 3), dtype=np.uint8), 8, axis=0)
        write_video(folder / f"{name}.mp4", frames, 8)
    return folder


def make_pages(tool, questions, videos, folder):
    arguments = ["--tool", tool, "--videos", str(videos), "--output", str(folder), "--side", "96"]
    assert main(["rextime", "questions", str(questions), *arguments]) == 0
    page = folder / "annotator-01.html"
    task = page.read_text(encoding="utf-8").split('id="task">')[1].split("</script>")[0]
    return page, json.loads(task)


def imported(answers, pages, folder, *options):
    command = ("rextime", "collect", answers, "--key", pages / "key.json", "--output", folder, *options)
    return main(list(map(str, command)))


def test_pages_hold_what_an_annotator_may_see_and_nothing_else(questions, videos, tmp_path, capsys):
    page, task = make_pages("human", questions, videos, tmp_path / "human")
    assert set(task["items"][0]) == {"item", "clip", "query", "video", "duration", "options"}
    assert page.read_text().count("data:video/mp4") == 2  # a video of two questions is embedded once
    _, task = make_pages("verify", questions, videos, tmp_path / "verify")
    assert "window" not in task["items"][0] and "ans" not in task["items"][0]
    assert "<b>" not in page.read_text().split('id="task">')[1].split("</script>")[0]
    arguments = ["--tool", "verify", "--videos", str(questions.parent / "verify"), "--output", str(tmp_path / "x")]
    assert main(["rextime", "questions", str(questions), *arguments]) == 2
    said(capsys.readouterr().err, "one", remedy=True)


TEXT = "document.getElementById('{}').textContent"


def seek(chromium, seconds):
    chromium.run(f"document.getElementById('video').currentTime = {seconds}")
    chromium.wait(f"Math.abs(document.getElementById('video').currentTime - {seconds}) < 0.2")


def span_by_keys(chromium, start, end):
    chromium.run("document.getElementById('question').focus()")
    for key, code, name, seconds in (("s", 83, "start", start), ("e", 69, "end", end)):
        seek(chromium, seconds)
        value = f"Math.abs(seconds(document.getElementById('{name}').value) - {seconds}) < 0.11"
        chromium.insist(lambda key=key, code=code: chromium.press(key, code, key), value)


def finish(chromium):
    chromium.run("document.getElementById('export').click()")
    assert "Please send this file back" in chromium.run(TEXT.format("message"))
    exported = chromium.downloaded("rextime-*.json")
    assert chromium.messages == []
    return exported


def test_answers_are_verified_and_marked_by_keyboard(questions, videos, tmp_path):
    page, _ = make_pages("verify", questions, videos, tmp_path / "verify")
    with browser(tmp_path / "browser") as chromium:
        chromium.open(page)
        chromium.wait("document.getElementById('video').readyState >= 2")
        assert chromium.run(TEXT.format("query")) == "<b>What</b> happens after 1?"
        assert chromium.run("getComputedStyle(document.getElementById('options')).display") == "none"
        span_by_keys(chromium, 1.0, 3.0)
        chromium.screenshot("rextime-verify")
        chromium.run("document.getElementById('export').click()")
        assert "Open: question 2, 3." in chromium.run(TEXT.format("message"))
        assert chromium.run(TEXT.format("heading")) == "Question 2 of 3"
        chromium.run("document.getElementById('export').click()")  # once more: what there is
        assert "1 of 3 answers" in chromium.run(TEXT.format("message"))
        part = chromium.downloaded("rextime-*.json").rename(tmp_path / "part.json")
        chromium.insist(lambda: chromium.press("b", 66, "b"), "document.getElementById('bad').checked")
        chromium.run("answers = {}; log = []; at = 0; begin()")  # begun again with nothing but what it kept
        assert chromium.run(TEXT.format("heading")) == "Question 3 of 3"
        assert chromium.run(TEXT.format("progress")) == "2 of 3 answered"
        for name, value in (("start", "3"), ("end", "2")):
            chromium.run(f"document.getElementById('{name}').focus()")
            chromium.insist(lambda value=value: chromium.type(value), f"given().{name} === {value}")
        assert "must end after its start" in chromium.run(TEXT.format("problem"))
        chromium.run("document.getElementById('end').value = ''; document.getElementById('end').focus()")
        chromium.insist(lambda: chromium.type("3.5"), "given().end === 3.5")
        export = finish(chromium)
    assert imported(part, tmp_path / "verify", tmp_path / "part") == 0
    counted = read_json(tmp_path / "part/summary.json")
    assert (counted["answers"], counted["annotators_unfinished"], counted["annotators_missing"]) == (1, [1], [])
    values = json.loads(export.read_text())
    assert {row["action"] for row in values["log"]} >= {"shown", "start", "end", "bad"}
    untimed = [{**QUESTIONS[0], "relevant_windows": [], "qid": f"new/{n}"} for n in (1, 2)]
    write_jsonl(questions, [*QUESTIONS[:2], {**QUESTIONS[2], "relevant_windows": []}, *untimed])
    assert imported(export, tmp_path / "verify", tmp_path / "out", "--questions", questions) == 0
    kept = read_jsonl(tmp_path / "out/questions.jsonl")
    assert [row["qid"] for row in kept] == ["q/1", "q/3"]
    assert kept[0]["relevant_windows"][0] == pytest.approx([1.0, 3.0], abs=0.11)
    assert kept[1]["relevant_windows"] == [[3, 3.5]]
    assert read_jsonl(tmp_path / "out/log.jsonl")[0]["annotator"] == 1


def test_people_who_take_the_test_are_scored(tmp_path):
    """Of three questions, the letter is right twice; the span is the true one twice."""
    key = question_key("human")
    given = {1: {"answer": "B"}, 2: {"answer": "B", "start": 3.0, "end": 4.0}, 3: {"answer": "C"}}
    write_json(tmp_path / "key.json", key)
    write_json(tmp_path / "person.json", marked(key, give=given.__getitem__))
    assert imported(tmp_path / "person.json", tmp_path, tmp_path / "scores") == 0
    performance = read_json(tmp_path / "scores" / "summary.json")["performance"]
    scores = performance["annotator 1"]
    assert performance["mean of 1"] == scores and scores["questions"] == 3
    assert scores["VQA"] == pytest.approx(2 / 3)
    assert scores["MR-full-R1@0.5"] == pytest.approx(200 / 3, abs=0.01)
