"""A long list read element by element equals the document read at once."""

import json
import math

import pytest

from verified.io.jsonl import RepeatedKeyError, members

ELEMENTS = [
    '{"desc_id": 1, "predictions": [[0, 0.5, 10, 0.9], [1, -0.0, 1e-7, 12345678901234567]]}',
    ' {"desc": "a } in a string: two", "predictions": [[0, 1, 2, 3]]}',
    '{"desc": "half a \\ud83d character", "inner": {"of": {"its": "own"}}}',
    '{"number": 1e400, "less": -Infinity}',
    '{"whole": 123456789012345678901234567890, "id": 9007199254740993}',
    '{"empty": {}}\n',
    "{}",
    "[{}]",
    '"{}"',
    "null",
]


def test_elements_are_those_of_the_whole_document():
    text = f'{{"list": [{", ".join(ELEMENTS)}], "after": {{"a": [1]}}}}'
    streamed = {key: list(value) if key == "list" else value for key, value in members(text, ["list"])}
    whole = json.loads(text)
    big = [streamed["list"][4].pop("whole"), whole["list"][4].pop("whole")]
    assert streamed == whole and float(big[0]) == float(big[1])
    assert math.copysign(1, streamed["list"][0]["predictions"][1][1]) == -1


@pytest.mark.parametrize("element", ['{"a": 1', '{"a": 1,}', "{'a': 1}", '{"a": nan}', '{"a": 1} {}', '{"a": 01}', "}"])
def test_malformed_json_is_refused(element):
    with pytest.raises(json.JSONDecodeError):
        [list(value) for _, value in members(f'{{"list": [{element}]}}', ["list"])]


@pytest.mark.parametrize(
    "text",
    ['{"list": [{"a": 1}, {"a": 1, "a": 2}]}', '{"list": [], "list": []}', '{"b": {"a": [{"c": 1, "c": 1}]}}'],
)
def test_a_key_given_twice_is_refused(text):
    with pytest.raises(RepeatedKeyError):
        [list(value) for _, value in members(text, ["list"])]
