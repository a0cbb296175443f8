"""The report: its front page, and the inputs of its rules by kind of data set."""

import re

import pytest
from given import fig

from verified.report.front import Corpus, facts, moments, recalls, soundness
from verified.report.summary import omitted_tables, write_summary

HEAD = "table,dataset,method,train,test,task,metric,value,ours,difference,tolerance,verdict,note\n"


@pytest.fixture
def tables(tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "main-4.html").write_text(
        "<!DOCTYPE html>\n<html><body>\n<main><table><caption>x</caption></table></main></body></html>"
    )
    (folder / "reproduction.csv").write_text(
        f"{HEAD}main-4,A,XML,,,VR,r1,1.0,,,,not attempted,<script>alert(1)</script>\n"
        "main-1,A,,,,statistics,words,6.2,6.2,0.0,0.05,reproduced,\n"
    )
    (folder / "all.csv").write_text(
        "table,dataset,method,train,test,task,metric,value,note\nmain-3,A,,,,user-study,S_total,,needs <people>\n"
        "main-4,A,XML,FIG,FIG,VR,r1,1.0,\nmain-5,A,XML,FIG,FIG,SVMR,0.5/r1,,XML was not trained\n"
        "verdicts,,,,,all,figures,2,\n"
    )
    return folder


def test_texts_of_the_tables_stay_text_on_the_front_page(tables, tmp_path):
    write_summary(tables, tmp_path / "summary.html", tmp_path / "verdicts.html", ["main-4"])
    summary = (tmp_path / "summary.html").read_text()
    verdicts = (tmp_path / "verdicts.html").read_text()
    assert "<table><caption>x</caption></table>" in summary and "<body" not in summary
    assert "&lt;script&gt;alert(1)" in verdicts and "<script" not in summary and "<script>alert" not in verdicts
    assert 'class="warning"' not in summary
    assert "truth" not in summary  # there is no validity.csv
    assert '<meta name="viewport"' in verdicts and "prefers-color-scheme: dark" in verdicts


def test_the_front_page_leads_with_its_notice_and_names_omissions_with_reasons(tables, tmp_path):
    (tables / "corpus-a.html").write_text(
        "<html><body><main><table><caption>came in</caption></table></main></body></html>"
    )
    leading = ["corpus-a", "main-4", "not-built"]
    write_summary(tables, tmp_path / "summary.html", tmp_path / "verdicts.html", leading)
    summary = (tmp_path / "summary.html").read_text()
    assert summary.index("came in") < summary.index("<caption>x</caption>")
    assert "<li>main-3: needs &lt;people&gt;.</li><li>main-5: no retrieval model was trained for it.</li>" in summary
    (tables / "main-3.html").touch()
    (tables / "main-5.html").touch()
    assert omitted_tables(tables) == []


def corpus(keyframes=()):
    rows = [
        fig(n, f"v{n % 5}", 1.0, 3.5, cog_desc=f"coarse <{n}>", fig_desc=f"fine <i>{n}</i>", fig_desc_score=n / 10,
            fig_desc_type="statics", split="test" if n % 2 else "train")
        for n in range(20)
    ]  # fmt: skip
    return Corpus("A & B", "rendered", rows, "test", keyframes)


CELL = {"table": "main-4", "dataset": "A & B", "test": "FIG", "task": "VR", "metric": "r1"}


CELLS = [
    {**CELL, "method": "XML", "train": "COG", "value": "6.2", "low": "4.6", "high": "8.4", "trainings": "3"},
    {**CELL, "method": "XML", "train": "FIG", "value": "25.4", "low": "15", "high": "40", "trainings": "3"},
    {**CELL, "method": "<mine>", "train": "FIG", "value": "30", "low": "", "high": "", "trainings": "1"},
]


def test_the_front_page_names_the_run_and_its_figures_beside_chance():
    text = facts([corpus()], CELLS, {"llm": "a-model", "image_lmm": "a-model", "video_lmm": "hand-written"})
    assert "20 moments" in text and "written by a-model, a person" in text and "2 retrieval models" in text
    assert "1 to 3 trainings each, asked 10 queries about 5 videos" in text
    shown = recalls([corpus()], CELLS)
    assert (
        'aria-label="VR r1: finds the video first in percent, from 0 to 40. XML: COG 6.2 [4.6, 8.4], FIG 25.4' in shown
    )
    assert "chance 20.0" in shown and "&lt;mine&gt;" in shown and "30.0¹" in shown
    assert shown.count("<circle") == 3 and shown.count('fill="var(--paper)"') == 1, "COG is hollow"
    assert shown.count('class="chance"') == 2, "beside the dots of a row, not through its name"
    assert recalls([corpus()], []) == ""
    picked = re.findall(r"fine &lt;i&gt;(\d+)", moments([corpus()]))
    assert picked == ["3", "7", "13", "17"], "of the test split, at the middles of quarters of confidence"


def test_the_head_counts_every_aim_below_it():
    check = {"check": "c", "aim": "> 0", "value": 1.0, "low": None, "high": None}
    shown = soundness([{**check, "met": met} for met in (True, True, None, False)])
    assert "2 of 4 aims are met, 1 cannot be told" in shown and shown.count("<li") == 4
    assert shown.index("✗") < shown.index("✓") and 'class="good" x="3.0%" width="94.00%"' in shown


def test_a_run_without_published_figures_says_nothing_of_them(tables, tmp_path):
    (tables / "reproduction.csv").unlink()
    write_summary(tables, tmp_path / "summary.html", tmp_path / "verdicts.html", ["main-4"])
    assert "paper" not in (tmp_path / "summary.html").read_text(encoding="utf-8").partition("</style>")[2]
