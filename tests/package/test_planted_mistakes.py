"""The list of planted mistakes fits the code: `make test-planted` plants each, whose text must be there once."""

from collections import Counter

import pytest
from changed import distance
from planted_mistakes import PROJECT, TESTS, first_failure, read_mistakes, tests_of

LISTED = read_mistakes(TESTS / "planted_mistakes.yaml")
tests_of.__test__ = False


@pytest.mark.parametrize("row", LISTED, ids=lambda row: f"{row.room}: {row.mistake}")
def test_a_mistake_can_be_planted_in_one_place(row):
    text = (PROJECT / row.file).read_text(encoding="utf-8")
    assert text.count(row.before) == 1 and row.after != row.before
    assert any(TESTS.glob(f"{row.room}/test_*.py")) or any(PROJECT.glob(f"extensions/{row.room}/tests/test_*.py"))


def test_tests_of_the_room_come_first_and_the_nearest_of_them():
    in_room, others = tests_of("scripts/verified/benchmark/tiou.py", "vcmr")
    assert {test.parent.name for test in in_room} == {"vcmr"}
    far = [distance(test, PROJECT / "scripts/verified/benchmark/tiou.py") for test in others]
    assert far == sorted(far) and TESTS / "benchmark" / "test_tiou.py" in others[: far.count(1)]
    assert not set(in_room) & set(others)


def test_no_mistake_is_listed_twice():
    assert max(Counter((row.file, row.before, row.after) for row in LISTED).values()) == 1


def test_the_first_test_that_fails_is_named(tmp_path):
    file, module = tmp_path / "test_halves.py", tmp_path / "extensions" / "halves" / "verified_half.py"
    module.parent.mkdir(parents=True)
    module.write_text("HALF = 1 / 2\n")
    test = "from verified_half import HALF\n\n\ndef test_a():\n    assert 1\n\n\ndef test_b():\n    assert HALF == 0\n"
    file.write_text(test)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    slow\n    night\n")
    assert first_failure(tmp_path, [PROJECT / file.name], 60) == f"{file.name}::test_b"
    file.write_text(test.replace("== 0", "< 1"))
    assert first_failure(tmp_path, [PROJECT / file.name], 60) == ""
