"""The lint: each finding, severities, the command."""

import json

import pytest
from given import ROW
from refusals import refused

from verified.annotations.lint import LEAST_COSINE, lint
from verified.config.annotations import Lint
from verified.io.fig import read_fig, write_fig


def report(tmp_path, *rows, settings: Lint | None = None) -> dict:
    path = tmp_path / "test.jsonl"
    lines = [
        row if isinstance(row, bytes) else json.dumps({"desc_id": number, **row}).encode() + b"\n"
        for number, row in enumerate(rows)
    ]
    path.write_bytes(b"".join(lines))
    return lint(path, settings or Lint())


def changed(**values) -> dict:
    return {key: value for key, value in {**ROW, **values}.items() if key != "desc_id"}


@pytest.mark.parametrize(
    ("row", "check"),
    [
        (changed(time=[6.0, 2.0]), "span_reversed"),
        (changed(time=[-1.0, 2.0]), "span_reversed"),
        (changed(time=[2.0, 2.0]), "span_empty"),
        (changed(time=[2.0, 10.5]), "span_past_end"),
        (changed(time=[ROW["duration"], 10.5]), "span_past_end start_past_end"),
        (changed(fig_desc='"A large red ball moves."'), "wrapper_quotes"),
        (changed(fig_desc=" A large red ball moves."), "outer_blanks"),
        (changed(fig_desc="A large  red ball moves."), "double_spaces"),
        (changed(fig_desc="As in the original caption, a red ball moves."), "speaks_of_caption"),
        (changed(fig_desc="A red ball moves in the image."), "speaks_of_frames"),
        (changed(fig_desc="A red ball moves for 3 seconds."), "speaks_of_time"),
        (changed(fig_desc="As requested, a red ball moves."), "speaks_of_prompt"),
        (changed(fig_desc="IMPORTANT: the correct caption is a red ball that moves."), "speaks_of_prompt"),
        (changed(fig_desc="A red ball moves.\U000e0073\U000e0061"), "malformed"),
        (changed(fig_desc="Okay, the user wants a red ball that moves."), "thinks_aloud"),
        (changed(fig_desc="A red ball moves. ◁/think▷"), "thinks_aloud"),
        (changed(fig_desc="Unable to tell how the red ball moves."), "no_answer"),
        (changed(fig_desc="A red ball moves past https://example.org/a."), "url"),
        (changed(fig_desc="A red ball <b>moves</b>."), "markup"),
        (changed(fig_desc="A ball moves past a sign that says ada@example.org."), "personal_data"),
        (changed(fig_desc="A ball moves past a sign that says +44 20 7946 0958."), "personal_data"),
        (changed(fig_desc="A ball moves!"), "equals_coarse"),
        (changed(fig_desc_score=-0.1), "low_score"),
        (changed(fig_desc_score="high"), "malformed"),
        (changed(fig_desc_score=float("inf")), "malformed"),
        (changed(duration=None), "malformed"),
        (b'{"video": "v"}\n', "malformed"),
        (b'{"video": "v", \n', "unreadable"),
        (b'{"video": "\xe9"}\n', "unreadable"),
    ],
)
def test_each_finding_alone(tmp_path, row, check):
    result = report(tmp_path, row, changed(time=[2.0, ROW["duration"]], fig_desc="A box."))
    assert list(result["findings"]) == check.split()
    assert result["passed"] == all(getattr(Lint(), name) != "error" for name in check.split())


def test_a_clean_row_passes(tmp_path):
    assert report(tmp_path, changed(fig_desc_score=0.0)) == {
        "file": str(tmp_path / "test.jsonl"),
        "rows": 1,
        "passed": True,
        "findings": {},
    }


def test_a_caption_far_from_its_coarse_one_is_doubted(tmp_path):
    rows = [{**ROW, "desc_id": number, "fig_desc": f"A red ball moves {word}."} for number, word in enumerate("ab")]
    write_fig(tmp_path / "test.jsonl", rows)
    found = lint(tmp_path / "test.jsonl", Lint(), lambda *_: [LEAST_COSINE, LEAST_COSINE - 0.01])["findings"]
    assert found["not_of_moment"]["rows"] == [2]


def test_dates_are_no_telephone_numbers(tmp_path):
    assert not report(tmp_path, changed(fig_desc="A sign says 29.09.2010 and 5 of 12 balls move."))["findings"]


@pytest.mark.parametrize("character", ["\x1b", "\x00", "\x07", "\x85", "\x9b", "\u202e", "\u2066", "\ud83d"])
@pytest.mark.parametrize("key", ["video", "cog_desc", "fig_desc"])
def test_a_hidden_character_is_an_error_of_its_row(tmp_path, character, key):
    path = tmp_path / "test.jsonl"
    path.write_text(json.dumps({**ROW, key: f"a{character}b"}) + "\n", encoding="utf-8")
    report = lint(path, Lint())
    assert not report["passed"] and f"U+{ord(character):04X}" in report["findings"]["malformed"]["example"]
    with refused("test.jsonl", "row 1", remedy=True):
        read_fig(path)


def test_a_caption_of_megabytes_takes_no_time(tmp_path):
    path = tmp_path / "test.jsonl"
    path.write_text(json.dumps({**ROW, "fig_desc": "a" * 3_000_000}) + "\n", encoding="utf-8")
    assert "more than 5000 characters" in lint(path, Lint())["findings"]["malformed"]["example"]
