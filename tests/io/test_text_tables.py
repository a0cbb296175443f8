"""CSV of others: rows by column and number, and errors that say which row."""

import pytest
from refusals import refused

from verified.io.text_tables import read_csv, text_table


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
