"""What submissions of all benchmarks share: their rows, and which queries are scored."""

import pytest
from refusals import refused

from verified.benchmark.submissions import NAMED, list_some, match, rows_by_id


def test_rows_have_numbers_and_ids_and_whole_numbers_are_texts(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": "a", "x": 1}\n{"id": 7, "x": 2}\n{"id": "a", "x": 3}\n')
    rows = [(number, name, row["x"]) for number, name, row in rows_by_id(path, "id", ("x",), last_of_equal_ids=True)]
    assert rows == [(1, "a", 1), (2, "7", 2), (3, "a", 3)]
    with refused("a", file=path, row=3, remedy=True):
        list(rows_by_id(path, "id"))


@pytest.mark.parametrize("line", ['{"id": null}', '{"id": " "}', '{"id": true}', '{"id": [1]}', "{}", "[1]", "{"])
def test_a_row_without_an_id_is_refused(line, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"id": "a"}}\n{line}\n')
    with refused(file=path, row=2):
        list(rows_by_id(path, "id"))


def test_ids_must_be_the_same_unless_those_in_both_are_asked_for():
    given = {"b": 0, "x": 0, "a": 0}
    with refused("c", "x", "--partial", file="s.json", remedy=True):
        match(["c", "b", "a"], given, False, "s.json")
    found = match(["c", "b", "a"], given, True, "s.json", "questions", "row")
    assert (found.both, found.missing, found.unknown) == (["b", "a"], ["c"], ["x"])
    assert [note.partition(" ")[0] for note in found.notes()] == ["1", "1"]
    assert list(match([1, 2], {1: 0, 2: 0}, False, "s.json").notes()) == []


def test_no_id_in_common_is_an_error_even_in_part():
    with refused(file="s.json", remedy=True):
        match([1], {2: 0}, True, "s.json")


def test_long_lists_of_ids_are_counted():
    assert list_some([3, 4]) == "3, 4"
    assert list_some(list(range(20))).endswith(f"7 and {20 - NAMED} more")
