"""Configurations and prompts' headers: doubled keys, bombs, bad tags and impossible values are named by their line."""

import time

import pytest
from refusals import refused

from verified.io.yaml_file import read_yaml

BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 10)}]\n" for n in range(9)
)


def test_values_are_those_of_yaml():
    text = (
        "a: {b: [1, 2.5, yes, null, '33:44', 0.10, 2020-01-31]}\nbase: &base {c: 1, d: 2}\njoined: {<<: *base, d: 3}\n"
    )
    values = read_yaml(text, "c.yaml")
    assert values["a"]["b"][:6] == [1, 2.5, True, None, "33:44", 0.1] and values["joined"] == {
        "c": 1,
        "d": 3,
    }


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
