"""JSON and YAML: rows and documents whole or refused by file and row, long lists, and bombs."""

import json
import math
import time

import pytest
from refusals import refused

from verified.io.jsonl import RepeatedKeyError, members, read_json, read_jsonl
from verified.io.yaml_file import read_yaml


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
    "text", ['{"list": [{"a": 1}, {"a": 1, "a": 2}]}', '{"list": [], "list": []}', '{"b": {"a": [{"c": 1, "c": 1}]}}']
)
def test_a_key_given_twice_is_refused(text):
    with pytest.raises(RepeatedKeyError):
        [list(value) for _, value in members(text, ["list"])]


BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 10)}]\n" for n in range(9)
)


def test_values_are_those_of_yaml():
    text = (
        "a: {b: [1, 2.5, yes, null, '33:44', 0.10, 2020-01-31]}\nbase: &base {c: 1, d: 2}\njoined: {<<: *base, d: 3}\n"
    )
    values = read_yaml(text, "c.yaml")
    assert values["a"]["b"][:6] == [1, 2.5, True, None, "33:44", 0.1] and values["joined"] == {"c": 1, "d": 3}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("retrieval:\n  bootstrap: 900\nname: x\nretrieval:\n  models: [xml]\n", ["retrieval", "line 1", "line 4"]),
        ("a:\n  b: 1\n  c: {d: 1, d: 2}\n", ["d", "line 3"]),
        (BOMB, ["line"]),
        ("a: &a [*a]\n", ["line 1"]),
        ("a: " + "[" * 20000 + "\n", []),
        ("a: !!python/object/apply:os.system [ls]\n", ["line 1", "column 4"]),
        ("x: 1\na: 2020-13-45\n", ["2020-13-45", "line 2", "column 4"]),
        ("a: 1:99999999999999999999999:x\n  b: c\n", ["line 2"]),
        ("x: 1\na: [2, 33:44]\n", ["33:44", "2024", "line 2", "column 8"]),
        ("x: 1\na: 010\n", ["010", "that is 8", "line 2"]),
        ("a: -.inf\n", ["-.inf", "line 1"]),
        ("x: 1\n\na: " + "t" * 10_001, ["10,000", "line 3"]),
        ("a: !!timestamp soon\n", ["soon", "line 1"]),
        ("? [a, b]\n: 1\n", ["line 1"]),
        ("a: \x01\n", []),
        ("- a\n- b\n", []),
        ("1: a\n", []),
        ("", []),
        ("a: b: c\n", ["line 1", "column 5"]),
    ],
)
def test_unusable_yaml_is_named_by_its_line(text, named):
    started = time.process_time()
    with refused(*named, file="c.yaml"):
        read_yaml(text, "c.yaml")
    assert time.process_time() - started < 30  # it ends, where copying aliases does not
