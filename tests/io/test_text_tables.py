"""CSV of others: rows by column and number, and errors that say which row."""

import pytest
from refusals import refused

from verified.io.text_tables import read_csv


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
