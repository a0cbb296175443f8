"""The audit: each check alone, the command on clean files, and the pages of findings."""

import json

import numpy as np
import pytest
from browser import browser
from given import fig
from small_review import GROUPS, MOMENTS, noise

from verified.__main__ import main
from verified.io.jsonl import read_json, read_jsonl, write_json, write_jsonl
from verified.people.pages import write_pages
from verified_lab.audit.checks import alike, disagreement, leaks, outside
from verified_lab.audit.findings import Finding, open_findings
from verified_lab.audit.pages import audit_queue
from verified_lab.audit.queries import Audited
from verified_lab.config import Audit
from verified_lab.pages import REVIEW
from verified_lab.review.pages import pages

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
        query(2, "a", 2.5, 5, "A dog runs."),
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
        "1": [(10, 15), (10.5, 15), (11, 16), (0, 5), (10, 15)],  # four of five agree on another span
        "2": [(10, 15)] * 5,
        "3": [(10, 15), (0, 2), (5, 7), (12, 18), (2, 4)],  # no consensus
        "4": [(10, 15)] * 2,  # too few answers
    }
    answers = {
        f"run {n}": {("test", name): given[n] for name, given in spans.items() if n < len(given)} for n in range(5)
    }
    (found,) = disagreement(rows, answers, SETTINGS)
    assert found.id == "1" and found.time == (10.25, 15.0) and found.doubt == pytest.approx(0.8)
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


def row(number: int, video: str, start: float, end: float, caption: str) -> dict:
    return fig(number, video, start, end, duration=20.0, fig_desc=caption)


def test_the_command_counts_and_writes_what_is_clean(tmp_path, capsys):
    write_jsonl(tmp_path / "train.jsonl", [row(1, "a", 0, 5, "a man eats"), row(2, "b", 0, 5, "a man drinks")])
    test = [row(3, "c", 0, 5, "a dog runs"), row(4, "c", 9, 14, "a dog runs"), row(5, "a", 3, 21, "a cat sleeps")]
    write_jsonl(tmp_path / "test.jsonl", [*test, row(6, "d", 2, 8, "a tree falls")])
    for seed in (1, 2, 3):
        lists = [
            {"desc_id": number, "predictions": [[index, start, start + length, 1.0]]}
            for number, index, start, length in ((3, 0, 0, 5), (4, 0, 9, 5), (5, 1, 3, 15), (6, 2, 12 + seed / 10, 5))
        ]
        write_json(tmp_path / f"seed-{seed}.json", {"video2idx": {"c": 0, "a": 1, "d": 2}, "SVMR": lists})
    splits = [str(tmp_path / f"{split}.jsonl") for split in ("train", "test")]
    runs = [str(tmp_path / f"seed-{seed}.json") for seed in (1, 2, 3)]
    assert main(["audit", *splits, "--runs", *runs, "--output", str(tmp_path / "out"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    checks = {"outside": 1, "repeated": 0, "ambiguous": 2, "disagreement": 1, "leak": 1}
    assert found["splits"]["test"] == {"queries": 4, "checks": checks, "clean": 0}
    assert found["splits"]["train"]["clean"] == 2 and read_json(tmp_path / "out" / "summary.json") == found
    assert read_jsonl(tmp_path / "out" / "clean" / "train.jsonl") == read_jsonl(tmp_path / "train.jsonl")
    assert read_jsonl(tmp_path / "out" / "clean" / "test.jsonl") == []
    reported = {(one["id"], one["check"]): one["time"] for one in read_jsonl(tmp_path / "out" / "findings.jsonl")}
    assert reported["5", "outside"] == [3, 20.0] and reported["6", "disagreement"] == [12.2, 17.2]


def test_pages_show_findings_and_proposed_spans(tmp_path):
    found = [
        Finding("test", "2", "outside", "ends 0.40 s after the video"),
        Finding("test", "2", "repeated", "query 7", 0.3),
        Finding("test", "4", "disagreement", "3 of 3 grounders", 0.8, (1.5, 2.5)),
        Finding("test", "99", "ambiguous", "query 2"),
    ]
    shown = audit_queue(MOMENTS, GROUPS, found)
    write_pages(tmp_path / "pages", REVIEW, pages("kitchen", "Kitchen", shown, noise(tmp_path), 5, 64))
    assert [(item["desc_id"], item["proposed"]) for item in shown] == [(2, None), (4, [1.5, 2.5])]
    assert shown[0]["audit"][0].startswith("outside: ")
    with browser(tmp_path / "profile") as chromium:
        chromium.open(tmp_path / "pages" / "page-001.html")
        chromium.wait("document.getElementById('clip').readyState >= 2")
        second = "document.getElementById('heading').textContent.includes('(2 of 2)')"
        chromium.insist(lambda: chromium.run("document.getElementById('next').click()"), second, once=True)
        assert "grounders agree" in chromium.run("document.getElementById('audit').textContent")
        chromium.insist(
            lambda: chromium.run("document.getElementById('proposed').click()"),
            "byId('start').value.endsWith('1.5') && byId('end').value.endsWith('2.5')",
            once=True,
        )
