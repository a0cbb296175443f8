"""Files that claim much, cells that a spreadsheet would run, values that a report would run."""

import csv
import io

import pandas as pd
import pytest
import torch
from refusals import refused

from verified.config import load
from verified.io.foreign import read_tensors
from verified.io.text_tables import csv_text, read_csv, without_apostrophe, write_csv

FORMULAS = ["=cmd|'/C calc'!A0", '=HYPERLINK("http://a.example","b")', "+1", "-2+3", "@SUM(A1)", "\t=1"]


@pytest.mark.parametrize("text", [*FORMULAS, "a plain caption", "it's", "'quoted'", "", "a, b", 'a "b"'])
def test_texts_come_back_from_csv_and_no_cell_begins_like_a_formula(tmp_path, text):
    write_csv(tmp_path / "a.csv", [("caption", "n"), (text, -1.5)])
    (row,) = list(csv.reader(io.StringIO((tmp_path / "a.csv").read_text())))[1:]
    assert not row[0].startswith(("=", "+", "-", "@", "\t")) and row[1] == "-1.5"
    assert without_apostrophe(row[0]) == text
    assert read_csv(tmp_path / "a.csv", ["caption"])[0][1]["caption"] == text


def test_floats_in_csv_are_read_as_they_were():
    values = [0.1, 1 / 3, 1e-12, 123456.789]
    assert pd.read_csv(io.StringIO(csv_text([["a"], *([value] for value in values)])))["a"].tolist() == values


@pytest.mark.parametrize("text", ["Evil <script>alert(301)</script>", "a </SCRIPT > b", "<!-- <script"])
def test_a_configuration_holds_no_script(text):
    with refused("title"):
        load({"name": "nano", "datasets": {"nano": {"title": text, "source": {"kind": "demo"}}}})


def test_a_tensor_that_repeats_a_few_numbers_is_refused_by_name(tmp_path):
    torch.save({"weight": torch.zeros(1).expand(40_000, 40_000)}, tmp_path / "a.pth")
    with refused("weight"):
        read_tensors(tmp_path / "a.pth")
