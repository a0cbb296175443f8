"""Whatever stands in a file of annotations, the lint names it and ends; hidden characters are found."""

import json

import pytest
from fuzz import damaged
from given import ROW
from refusals import refused

from verified.__main__ import main
from verified.annotations.lint import lint
from verified.config.annotations import Annotations
from verified.errors import InputError
from verified.io.fig import read_fig


def test_any_damage_is_found_or_harmless(tmp_path, capsys):
    path = tmp_path / "test.jsonl"
    whole = b"".join(json.dumps({**ROW, "desc_id": number}).encode() + b"\n" for number in range(3))
    statuses = set()
    for case, content in enumerate(damaged(whole, 400, seed=22)):
        path.write_bytes(content)
        status = main(["lint", str(path), *(["--json"] if case % 2 else [])])
        assert "test.jsonl" in capsys.readouterr().out
        statuses.add(status)
    assert statuses == {0, 1}


def test_any_damage_is_read_or_refused_with_file_and_row(tmp_path):
    path = tmp_path / "test.jsonl"
    whole = b"".join(json.dumps({**ROW, "desc_id": number}).encode() + b"\n" for number in range(3))
    refused = 0
    for content in damaged(whole, 400, seed=24):
        path.write_bytes(content)
        try:
            read_fig(path)
        except InputError as error:
            refused += 1
            assert str(error).startswith(str(path)) and error.row and len(str(error)) < 1000
    assert 100 < refused < 400


@pytest.mark.parametrize("character", ["\x1b", "\x00", "\x07", "\x85", "\x9b", "\u202e", "\u2066", "\ud83d"])
@pytest.mark.parametrize("key", ["video", "cog_desc", "fig_desc"])
def test_a_hidden_character_is_an_error_of_its_row(tmp_path, character, key):
    path = tmp_path / "test.jsonl"
    path.write_text(json.dumps({**ROW, key: f"a{character}b"}) + "\n", encoding="utf-8")
    report = lint(path, Annotations())
    assert not report["passed"] and f"U+{ord(character):04X}" in report["findings"]["malformed"]["example"]
    with refused("test.jsonl", "row 1", remedy=True):
        read_fig(path)


def test_a_caption_of_megabytes_takes_no_time(tmp_path):
    path = tmp_path / "test.jsonl"
    path.write_text(json.dumps({**ROW, "fig_desc": "a" * 3_000_000}) + "\n", encoding="utf-8")
    assert "more than 5000 characters" in lint(path, Annotations())["findings"]["malformed"]["example"]
