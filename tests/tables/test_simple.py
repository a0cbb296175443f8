"""Tables that any stage contributes, the core's among them: valid contents, storage, and every output form."""

import csv
import html.parser
import io
import re
from types import SimpleNamespace

import pandas as pd
import pytest
from hostile import CAPTIONS
from hypothesis import given
from hypothesis import settings as cases
from hypothesis import strategies as st
from shown_settings import shown_settings

from verified.config import load
from verified.lmm.ledger_files import lineage_of
from verified.tables.added.availability import METRICS, tables
from verified.tables.collect import Run
from verified.tables.own_corpus import costs_table
from verified.tables.render import Sheet, csv_text, html_page, latex, markdown
from verified.tables.shown import Shown, shown_values
from verified.tables.summary import closing_message
from verified.tables.table import Estimate, Table, read_table_json, write_table_json
from verified.tables.write import write_simple

TABLE = Table(
    "long-form",
    "Recall in movies",
    ("Data set", "Window", "R@1", "Queries", "Remark"),
    [["Movies", "180 s", Estimate(12.345, 10.0, 14.5), 200, "small"], ["Movies", "60 s", None, 0, ""]],
    notes=["Windows overlap by half."],
    digits=(0, 0, 1, 0, 0),
)
HOSTILE = ["=1+1|<b>&\\cmd{x}_%$#^~", "[2em]", "a\nb\r\nc", "</script><script>", "%", "\\", "–†±", "\\[4pt]", "'", '"']


def test_every_form_shows_what_the_table_says(tmp_path):
    write_table_json(str(tmp_path / "tables.json"), [TABLE])
    assert read_table_json(tmp_path / "tables.json") == [TABLE]
    write_simple(tmp_path, TABLE, ["Made by a test."])
    text = (tmp_path / "long-form.md").read_text(encoding="utf-8")
    assert text.startswith("# long-form: Recall in movies\n\n| Data set | Window | R@1 | Queries | Remark |\n|---|")
    assert "| Movies | 180 s | 12.3 [10.0, 14.5] | 200 | small |\n| Movies | 60 s | – | 0 |  |\n" in text
    for ending in ("md", "tex", "html"):
        form = (tmp_path / f"long-form.{ending}").read_text(encoding="utf-8")
        assert "Windows overlap by half." in form and "Made by a test." in form
    tabular = (tmp_path / "long-form.tex").read_text(encoding="utf-8")
    assert r"\begin{tabular}{llrrr}" in tabular and tabular.count(r"\midrule") == 1
    rows = pd.read_csv(tmp_path / "long-form.csv")
    assert [rows[name][0] for name in ("R@1", "R@1 low", "R@1 high", "Queries")] == [12.345, 10.0, 14.5, 200]
    assert rows["R@1"].isna()[1] and len(rows) == len(TABLE.rows)


def test_a_run_ends_with_its_leading_tables_and_the_next_commands(tmp_path):
    write_simple(tmp_path, TABLE, ["Made by a test."])
    write_simple(tmp_path, Table("corpus-mine", "In and out", ("What", "Number", "Which"), [["videos", 12, ""]]), [])
    shown, further = ["corpus-mine", "absent", "long-form"], {"Ask": ["verified a", "verified b --c"]}
    said = closing_message(tmp_path, shown, ["my kitchen.yaml"], further).splitlines()
    assert said[1:5] == ["In and out", "", "What    Number  Which", "videos      12"]
    assert said[10].split() == ["Data", "set", "Window", "R@1", "Queries", "Remark"]
    assert said[-2] == "Figures and pages: verified report --configfile 'my kitchen.yaml'"
    file = "--configfile 'my kitchen.yaml'"
    assert said[-1] == f"Ask: verified a {file} && verified b --c {file}"
    assert closing_message(tmp_path, shown).splitlines()[-1] == "Figures and pages: verified report"


TAGS = {
    "html", "head", "meta", "title", "style", "body", "table", "caption", "thead", "tbody", "tr", "th", "td", "p",
    "main", "div", "h1", "span", "script",
}  # fmt: skip
LATEX = (
    r"\textbackslash ", r"\textasciitilde ", r"\textasciicircum ", r"$\pm$", r"$^\dagger$", r"$^1$", r"\bfseries ",
    "{[}", r"\textbackslash", r"\space",
)  # fmt: skip


class Cells(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.cells, self.tags, self.inside, self.scripts = [], set(), False, 0

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.scripts += tag == "script"
        if tag == "td":
            self.cells.append("")
            self.inside = True

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != "td"

    def handle_data(self, data):
        if self.inside:
            self.cells[-1] += data


@pytest.mark.parametrize("text", [*HOSTILE, *CAPTIONS.values()])
def test_hostile_text_stays_text(text):
    assert_stays_text(text)


@cases(max_examples=40, deadline=None)
@given(st.text(max_size=30))
def test_any_text_stays_text(text):
    assert_stays_text(text)


def assert_stays_text(text: str) -> None:
    """No form of a table takes a title, heading, cell or note for markup, a command, a formula or another cell."""
    cells, bold, notes = [[text, "1"], ["x", text]], [[False, True]] * 2, [text]
    sheet = Sheet("key", text, ["a", f"b {text}"], cells, 1, bold, [[text, ""]] * 2)
    page = Cells()
    page.feed(html_page(sheet, notes))
    assert page.tags <= TAGS and page.scripts == 1
    assert len(page.cells) == 4
    lines = markdown(sheet, notes).splitlines()
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 3 for line in lines[2:6])
    tabular = latex(sheet, notes)
    body = tabular[tabular.index(r"\toprule") :].splitlines()[1:-2]
    for line in (line for line in body if not line.endswith("rule")):
        cells = line.removesuffix(r" \\").split(" & ")
        assert len(cells) == 2 and not cells[0].lstrip().startswith("[")
        for command in LATEX:
            line = line.replace(command, "")
        assert not re.search(r"(?<!\\)[&%$#_{}]|\\(?![&%$#_{}])|[~^]", "".join(line.removesuffix(r" \\").split(" & ")))
    rows = list(csv.reader(io.StringIO(csv_text(pd.DataFrame([[text, 1]], columns=["t", "n"])), newline="")))
    assert len(rows) == 2 and len(rows[1]) == 2 and rows[1][0][:1] not in ("=", "+", "-", "@", "\t", "\r")


DEMO = {"title": "Demo", "source": {"kind": "demo"}}


def settings(**values: object) -> Shown:
    return Shown(**shown_values(load({"datasets": {"demo": DEMO}, **values})))


def test_tables_depend_on_what_they_show_and_on_nothing_else():
    first = settings()
    costs_time_alone = {"retrieval": {"threads": 7}, "generation": {"llm": {"api_slots": 3}}, "features": {"batch": 2}}
    assert settings(**costs_time_alone) == first
    for values in (
        {"seed": 1},
        {"datasets": {"demo": {**DEMO, "title": "Other"}}},
        {"retrieval": {"models": ["hero"]}},
        {"generation": {"llm": {"model": "another"}}},
        {"evaluator": {"hard_negatives": "own"}},
        {"annotations": {"choose_by": "random"}},
    ):
        assert settings(**values) != first


SETTINGS = shown_settings({"sta": "STA", "demo": "Demo"})
COUNTS = {
    "train": {"videos": 10, "videos_at_hand": 9, "moments": 30, "moments_at_hand": 25},
    "test": {"videos": 8, "videos_at_hand": 4, "moments": 20, "moments_at_hand": 12},
}


def test_missing_videos_count_as_missed():
    metrics = {task: {metric: value for _, metric in METRICS} for task in ("VCMR", "VR") for value in (40.0,)}
    facts = {"queries": 10, "split": "test", "metrics": metrics}
    run, ranker = Run([facts] * 2), Run([{**facts, "localises": False}])
    runs = {("sta", "xml", "fig", "cog"): run, ("demo", "xml", "fig", "cog"): run, ("sta", "zap", "fig", "cog"): ranker}
    collection = SimpleNamespace(statistics={("sta", "counts"): {"published": COUNTS}}, runs=runs)
    numbers, recalls = tables(SETTINGS, collection, [])
    assert numbers.rows == (("STA", "train", 10, 9, 30, 25), ("STA", "test", 8, 4, 20, 12))
    row, ranks = recalls.rows  # the demo is published nowhere
    assert ranks[6:] == (*[None] * 8, *[40.0, 20.0] * 2)
    assert row[:6] == ("STA", "XML", "fig", "cog", 10, 20)
    assert row[6:] == pytest.approx([40.0, 20.0] * len(METRICS)), "half of the published queries could be asked"
    assert len(recalls.header) == len(row)


def call(task: str, status: str = "ok", **more) -> dict:
    numbers = {"attempts": 1, "tokens_in": 10, "tokens_out": 4, "cost": 0.5, "seconds": 2.0}
    return {"task": task, "model": "m", "status": status, **numbers, **more}


def test_costs_count_each_call_once_and_tell_them_of_a_moment():
    rows = [
        {"lineage": {"questions": "a", "answers": "b"}, "candidates": [{"lineage": "c"}, {"lineage": "c"}]},
        {"keyframes": [{"lineage": "d"}, {"lineage": "gone"}]},
    ]
    keys = list(lineage_of(rows))
    assert sorted(set(keys)) == ["a", "b", "c", "d", "gone"]
    ledger = {
        "a": call("questions"),
        "b": call("answers", attempts=3, status="blocked"),
        "c": call("questions"),
        "d": call("describe"),
    }
    table = costs_table("Kitchen", "kitchen", keys, ledger.get, 2)
    rows = {row[0]: row[2:] for row in table.rows}
    assert rows["questions"] == (2, 0, 2, 20, 8, 1.0, 4.0) and rows["answers"][:3] == (1, 1, 3)
    assert rows["all"] == (4, 1, 6, 40, 16, 2.0, 8.0)
    assert rows["all, of an annotated moment"] == (2.0, 0.5, 3.0, 20.0, 8.0, 1.0, 4.0)
    assert "1 calls are not in the ledger any more." in table.notes
