"""Tables of text: rows of others by column and number, cells that a spreadsheet or a report would run, large claims."""

import csv
import io

import pytest
import torch
from refusals import refused

from verified.config import load
from verified.io.foreign import read_tensors
from verified.io.text_tables import read_csv, text_table, without_apostrophe, write_csv


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (None, ()),
        (b"name\n\xff\n", ("UTF-8",)),
        (b"other\nx\n", ("name",)),
        (b"", ("name",)),
        (b"name\n" + b"a" * 200_000 + b"\n", ()),
    ],
)
def test_malformed_tables_are_refused(tmp_path, content, named):
    if content is not None:
        (tmp_path / "a.csv").write_bytes(content)
    with refused(*named, file=tmp_path / "a.csv"):
        read_csv(tmp_path / "a.csv", ("name",))


def test_columns_of_numbers_are_right_with_gaps_as_well_and_those_of_texts_left():
    rows = [{"Run": "a", "R1": 5.25, "N": None}, {"Run": None, "R1": None, "N": 10}, {"Run": "bcde"}]
    assert text_table(["Run", "R1", "N"], rows) == "Run     R1   N\na     5.25   -\n-        -  10\nbcde     -   -"


FORMULAS = ["=cmd|'/C calc'!A0", '=HYPERLINK("http://a.example","b")', "+1", "-2+3", "@SUM(A1)", "\t=1"]


@pytest.mark.parametrize("text", [*FORMULAS, "a plain caption", "it's", "'quoted'", "", "a, b", 'a "b"'])
def test_texts_come_back_from_csv_and_no_cell_begins_like_a_formula(tmp_path, text):
    write_csv(tmp_path / "a.csv", [("caption", "n"), (text, -1.5)])
    (row,) = list(csv.reader(io.StringIO((tmp_path / "a.csv").read_text())))[1:]
    assert not row[0].startswith(("=", "+", "-", "@", "\t")) and row[1] == "-1.5"
    assert without_apostrophe(row[0]) == text
    assert read_csv(tmp_path / "a.csv", ["caption"])[0][1]["caption"] == text


@pytest.mark.parametrize("text", ["Evil <script>alert(301)</script>", "a </SCRIPT > b", "<!-- <script"])
def test_a_configuration_holds_no_script(text):
    with refused("title"):
        load({"name": "nano", "datasets": {"nano": {"title": text, "source": {"kind": "demo"}}}})


def test_a_tensor_that_repeats_a_few_numbers_is_refused_by_name(tmp_path):
    torch.save({"weight": torch.zeros(1).expand(40_000, 40_000)}, tmp_path / "a.pth")
    with refused("weight"):
        read_tensors(tmp_path / "a.pth")
