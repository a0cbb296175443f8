"""The audit of files: each check alone, the command, decisions of people, and what is clean."""

import json

import numpy as np
import pytest
from browser import browser

from verified.__main__ import main
from verified.io.jsonl import read_json, read_jsonl, write_json, write_jsonl
from verified_lab.audit.checks import alike, disagreement, leaks, outside
from verified_lab.audit.findings import open_findings
from verified_lab.audit.queries import Audited, of_file
from verified_lab.config import Audit

SETTINGS = Audit()


def query(number: int, video: str, start: float, end: float, caption: str, split: str = "test", **more) -> Audited:
    return Audited(split, str(number), video, ((start, end),), caption, **{"duration": 20.0, **more})


def words(captions):
    """A vector of each caption by its words alone."""
    known = sorted({word for caption in captions for word in caption.split()})
    return np.array([[float(word in caption.split()) for word in known] for caption in captions])


def ids(findings) -> list[str]:
    return [one.id for one in findings]


def test_spans_outside_their_video_are_found_with_what_is_left_of_them():
    rows = [query(1, "a", 5, 20.4, "x"), query(2, "a", -1, 3, "x"), query(3, "a", 4, 4, "x"), query(4, "a", 0, 20, "x")]
    found = list(outside([*rows, query(5, "a", 0, 99, "x", duration=None), query(6, "a", 25, 30, "x")], 0.0))
    assert ids(found) == ["1", "2", "3", "6"]
    assert [one.time for one in found] == [(5, 20.0), (0.0, 3), None, None] and "0.40 s" in found[0].detail
    assert ids(outside(rows, 0.5)) == ["2", "3"]


def test_the_same_words_about_one_span_are_repeated_and_about_two_ambiguous():
    rows = [
        query(1, "a", 0, 5, "a dog runs"),
        query(2, "a", 0.5, 5, "A dog runs."),
        query(3, "a", 9, 12, "a dog runs"),
        query(4, "a", 9, 12, "a cat sleeps"),
        query(5, "b", 0, 5, "a dog runs"),
        query(6, "a", 0, 5, "a dog runs", split="train"),
    ]
    found = list(alike(rows, words, 0.01, 0.5))
    assert {(one.id, one.check) for one in found} == {
        ("2", "repeated"), ("1", "ambiguous"), ("3", "ambiguous"), ("2", "ambiguous"),
    }  # fmt: skip
    assert "query 3 at 9.00–12.00 s" in next(one.detail for one in found if one.id == "1")


def test_a_small_distance_of_vectors_counts_as_the_same_said():
    rows = [query(1, "a", 0, 5, "one two three four"), query(2, "a", 9, 12, "one two three five")]
    assert ids(alike(rows, words, 0.01, 0.5)) == []
    assert ids(alike(rows, words, 0.25, 0.5)) == ["2", "1"]


def test_grounders_that_agree_on_another_span_are_held_against_the_annotation():
    rows = [query(1, "a", 0, 5, "x"), query(2, "a", 10, 15, "x"), query(3, "a", 0, 5, "x"), query(4, "a", 0, 5, "x")]
    spans = {
        "1": [(10, 15), (10.5, 15), (10, 16), (0, 5), (10, 15)],  # four of five agree on another span
        "2": [(10, 15)] * 5,
        "3": [(10, 15), (0, 2), (5, 7), (12, 18), (2, 4)],  # no consensus
        "4": [(10, 15)] * 2,  # too few answers
    }
    answers = {
        f"run {n}": {("test", name): given[n] for name, given in spans.items() if n < len(given)} for n in range(5)
    }
    (found,) = disagreement(rows, answers, SETTINGS)
    assert found.id == "1" and found.time == (10.0, 15.0) and found.doubt == pytest.approx(0.8)
    annotators = [Audited("test", "1", "a", ((0, 5), (10, 15)), "x", 20.0)]
    assert not list(disagreement(annotators, answers, SETTINGS)), "one of the annotators agrees"


def test_findings_that_people_rejected_close_but_facts_stay():
    rows = [query(1, "a", 0, 5, "x", reviewed=True), query(2, "a", 15, 25, "x", reviewed=True)]
    found = [*alike(rows, words, 0.01, 0.5), *outside(rows, 0.0)]
    assert {one.check for one in found} == {"ambiguous", "outside"}
    assert [one.check for one in open_findings(found, rows)] == ["outside"]


def test_a_video_of_an_earlier_split_leaks_by_its_name_or_as_a_copy():
    rows = [
        query(1, "a", 0, 5, "x", split="train"),
        query(2, "a", 0, 5, "y"),
        query(3, "copy-of-a", 0, 5, "z"),
        query(4, "b", 0, 5, "z"),
    ]
    assert ids(leaks(rows, {})) == ["2"]
    found = list(leaks(rows, {"copy-of-a": "a"}))
    assert ids(found) == ["2", "3"] and "as a" in found[1].detail


def fig(number: int, video: str, start: float, end: float, caption: str) -> dict:
    row = {"video": video, "time": [start, end], "desc_id": number, "duration": 20.0, "cog_desc": "coarse"}
    return {**row, "fig_desc": caption, "fig_desc_score": 0.5}


@pytest.fixture
def files(tmp_path):
    write_jsonl(tmp_path / "train.jsonl", [fig(1, "a", 0, 5, "a man eats"), fig(2, "b", 0, 5, "a man drinks")])
    test = [fig(3, "c", 0, 5, "a dog runs"), fig(4, "c", 9, 14, "a dog runs"), fig(5, "a", 3, 21, "a cat sleeps")]
    write_jsonl(tmp_path / "test.jsonl", [*test, fig(6, "d", 2, 8, "a tree falls")])
    for seed in (1, 2, 3):
        lists = [
            {"desc_id": number, "predictions": [[index, start, start + length, 1.0]]}
            for number, index, start, length in ((3, 0, 0, 5), (4, 0, 9, 5), (5, 1, 3, 15), (6, 2, 12 + seed / 10, 5))
        ]
        write_json(tmp_path / f"seed-{seed}.json", {"video2idx": {"c": 0, "a": 1, "d": 2}, "SVMR": lists})
    return tmp_path


def run(*words) -> int:
    return main(["audit", *map(str, words)])


def test_the_command_counts_and_writes_what_is_clean(files, capsys):
    runs = [files / f"seed-{seed}.json" for seed in (1, 2, 3)]
    assert run(files / "train.jsonl", files / "test.jsonl", "--runs", *runs, "--output", files / "out", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    checks = {"outside": 1, "repeated": 0, "ambiguous": 2, "disagreement": 1, "leak": 1, "rejected": None}
    assert found["splits"]["test"] == {"queries": 4, "checks": checks, "clean": 0}
    assert found["splits"]["train"]["clean"] == 2 and read_json(files / "out" / "summary.json") == found
    assert read_jsonl(files / "out" / "clean" / "train.jsonl") == read_jsonl(files / "train.jsonl")
    assert read_jsonl(files / "out" / "clean" / "test.jsonl") == []
    told = {(row["id"], row["check"]): row["time"] for row in read_jsonl(files / "out" / "findings.jsonl")}
    assert told["5", "outside"] == [3, 20.0] and told["6", "disagreement"] == [12.2, 17.2]


def decided(files, number: int, decision: str, **more) -> dict:
    audited = [one for name in ("train", "test") for one in of_file(files / f"{name}.jsonl")]
    query = audited[number - 1]
    (start, end), when = query.spans[0], "2026-01-31T12:00:00Z"
    from verified.people.review.decisions import VERSION, content_id

    moment = content_id(query.video, start, end, query.caption)
    shown = {"dataset": "train+test", "desc_id": number, "video": query.video, "start": start, "end": end}
    judged = {"type": "given", "candidate": 0, "caption": query.caption, "reviewer": "Ann", "when": when}
    return {"version": VERSION, **shown, "moment": moment, "decision": decision, **judged, **more}


def test_decisions_confirm_mend_and_reject(files, capsys):
    rows = [
        decided(files, 3, "accept"),
        decided(files, 4, "edit", text="a dog runs home"),
        decided(files, 6, "accept", time=[12.2, 17.2]),
        decided(files, 2, "reject", reason="not in the clip"),
    ]
    write_jsonl(files / "ann.jsonl", rows)
    words = files / "train.jsonl", files / "test.jsonl", "--decisions", files / "ann.jsonl", "--output", files / "out"
    assert run(*words, "--runs", *(files / f"seed-{seed}.json" for seed in (1, 2, 3)), "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["splits"]["train"]["checks"]["rejected"] == 1
    clean = {row["desc_id"]: row for row in read_jsonl(files / "out" / "clean" / "test.jsonl")}
    assert set(clean) == {3, 4, 6}
    assert clean[6]["time"] == [12.2, 17.2] and clean[4]["fig_desc"] == "a dog runs home"


def test_pages_show_findings_and_proposed_spans(files, capsys):
    from verified.demo.source import write_video

    (files / "videos").mkdir()
    generator = np.random.default_rng(0)
    for name in "acd":
        frames = generator.integers(0, 255, (40, 32, 32, 3), dtype=np.uint8)
        write_video(files / "videos" / f"{name}.mp4", frames, 2)
    runs = [files / f"seed-{seed}.json" for seed in (1, 2, 3)]
    words = files / "train.jsonl", files / "test.jsonl", "--videos", files / "videos", "--output", files / "out"
    assert run(*words, "--runs", *runs) == 0
    page = (files / "out" / "pages" / "page-001.html").read_text(encoding="utf-8")
    review = json.loads(page.split('id="review">')[1].split("</script>")[0])
    items = {item["desc_id"]: item for item in review["items"]}
    assert set(items) == {3, 4, 5, 6} and items[6]["proposed"] == [12.2, 17.2]
    assert items[5]["audit"][0].startswith("outside: ") and items[3]["proposed"] is None
    assert items[3]["candidates"] == [{"type": "given", "candidate": 0, "caption": "a dog runs", "score": None}]
    number = review["items"].index(items[6]) + 1
    with browser(files / "profile") as chromium:
        chromium.open(files / "out" / "pages" / "page-001.html")
        chromium.wait("document.getElementById('clip').readyState >= 2")
        for place in range(2, number + 1):
            told = f"document.getElementById('heading').textContent.includes('({place} of 4)')"
            chromium.insist(lambda: chromium.run("document.getElementById('next').click()"), told, once=True)
        assert "grounders agree" in chromium.run("document.getElementById('audit').textContent")
        chromium.insist(
            lambda: chromium.run("document.getElementById('proposed').click()"),
            "document.getElementById('start').value === '0:12.2' && document.getElementById('end').value === '0:17.2'",
            once=True,
        )
