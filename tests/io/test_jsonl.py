"""JSON Lines: whole files or none, errors that name file and row."""

import pytest
from refusals import refused

from verified.io.jsonl import read_json, read_jsonl, write_jsonl


def test_written_rows_are_read_back(tmp_path):
    rows = [{"a": 1, "b": "ü\u2028"}, {"a": None}]
    assert write_jsonl(tmp_path / "x.jsonl", rows) == 2
    assert read_jsonl(tmp_path / "x.jsonl") == rows
    assert (tmp_path / "x.jsonl").read_bytes().endswith(b"}\n")


@pytest.mark.parametrize(
    ("text", "row", "named"),
    [
        (b'{"a": 1}\n{"a": ', 2, "JSON"),
        (b'{"a": 1}\n[1]', 2, "list"),
        (b'{"a": 1}\n\xef\xbb\xbf{"a": 2}\n', 2, "JSON"),
        (b'{"b": 1}\n', 1, "'a'"),
        (b'{"a": 1}\n\xff\n', 2, "UTF-8"),
        (b'{"a": ' + b"9" * 5000 + b"}", 1, "number"),
        (b'{"a": ' + b"[" * 200_000 + b"}", 1, "nested"),
        (b'{"a": 1}\n{"a": 1, "b": 2, "b": 3}', 2, "'b'"),
        (b'{"a": [{"b": 2, "b": 3}]}', 1, "'b'"),
    ],
)
def test_errors_name_file_and_row(tmp_path, text, row, named):
    (tmp_path / "x.jsonl").write_bytes(text)
    with refused(named, file="x.jsonl", row=row):
        read_jsonl(tmp_path / "x.jsonl", required=["a"])


def test_a_key_given_twice_in_a_document_is_refused(tmp_path):
    (tmp_path / "x.json").write_text('[{"a": 1, "a": 2}]')
    with refused("'a'", file=tmp_path / "x.json", remedy=True):
        read_json(tmp_path / "x.json")
